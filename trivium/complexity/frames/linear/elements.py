"""The elements of a given frame, chosen among stretches of its sentence.

Two logistic regressions say where elements of the frame begin and end; the likeliest pairs are candidates. A third one
says of each candidate and each element of the frame whether they go together. What is likelier than a threshold is
kept, the likeliest first; an element may lie inside another of a different name, but elements do not cross.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trivium.complexity.frames.linear.features import (
    CLAUSE,
    FINITE,
    PAUSE,
    Features,
    Weights,
    Words,
    class_of,
    fit_logistic,
    hash_names,
    join_key,
    log_odds,
    matrix,
)
from trivium.formats.framed_texts import FrameInstance

CANDIDATES = 20  # stretches a frame
LONGEST = 60  # words of an element
BOUND_PENALTY = 1e-5
PENALTIES = (1e-4, 3e-4)
THRESHOLDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)
PARTS = 3  # of the training frames, so that no model scores what it learned from
_STEPS = (0, 1, 2, 3, 4, 6, 9, 14, 22)

Named = tuple[str, int, int]  # element, first word, the one after the last


class Candidate(NamedTuple):
    """A stretch, the log-probabilities of its bounds, and its rank."""

    first: int
    after: int
    begins: float
    ends: float
    rank: int


@dataclass(frozen=True)
class EvokedFrame:
    """A frame in a sentence: its lexical unit, its trigger (words `first` to before `after`), its known elements."""

    words: Words
    frame: str
    lemma: str
    part_of_speech: str
    first: int
    after: int
    elements: frozenset[Named] = frozenset()

    @classmethod
    def of(cls, words: Words, instance: FrameInstance) -> "EvokedFrame | None":
        """A frame of a text; None when its trigger has no word here. Elements without any word are left out."""
        unit = instance.lexical_unit
        place = words.under(unit.span)
        if place is None:
            return None
        named = ((element.name, words.under(element.span)) for element in instance.elements)
        elements = frozenset((name, *bounds) for name, bounds in named if bounds is not None)
        return cls(words, instance.frame, unit.lemma, unit.part_of_speech, *place, elements)

    @property
    def trigger(self) -> str:
        """Its part of speech, the class of its form and of the word before: infinitive, passive, …"""
        form, before = class_of(self.words.lower[self.after - 1]), self.words.around(self.first - 1)[2]
        return f"{self.part_of_speech} {form} {before}"


@dataclass(frozen=True)
class Elements:
    """Finds the elements of frames: the names of each frame's elements, three models, and a threshold."""

    names: Mapping[str, Sequence[str]]
    begins: Weights
    ends: Weights
    fits: Weights
    threshold: float

    def find(self, frames: Sequence[EvokedFrame]) -> list[list[Named]]:
        """The elements of each frame, in the order of the text."""
        candidates = _candidates(frames, [_bound_rows(frame) for frame in frames], (self.begins, self.ends))
        rows, pairs = _pairs(frames, candidates, self.names)
        if not pairs:
            return [[] for _ in frames]
        return _chosen(len(frames), pairs, expit(log_odds(self.fits, matrix(rows))), self.threshold)


def learn_elements(taught: Sequence[EvokedFrame], names: Mapping[str, Sequence[str]], seed: int) -> Elements:
    """Learn from frames with their elements; penalty and threshold are chosen by F1 on a part of them."""
    rows = [_bound_rows(frame) for frame in taught]
    part = np.random.default_rng(seed).permutation(len(taught)) % PARTS
    candidates: list[list[Candidate]] = [[] for _ in taught]
    for number in range(PARTS):
        inside, outside = np.flatnonzero(part != number).tolist(), np.flatnonzero(part == number).tolist()
        bounds = _fit_bounds([taught[k] for k in inside], [rows[k] for k in inside], seed)
        of_part = _candidates([taught[k] for k in outside], [rows[k] for k in outside], bounds)
        for place, listed in zip(outside, of_part, strict=True):
            candidates[place] = listed
    pair_rows, pairs = _pairs(taught, candidates, names)
    right = np.array([(name, first, after) in taught[number].elements for number, name, first, after in pairs])
    is_held = np.array([part[number] == 0 for number, *_ in pairs])
    features = matrix(pair_rows)
    annotated = sum(len(frame.elements) for frame, of in zip(taught, part, strict=True) if of == 0)
    best = (-1.0, PENALTIES[0], THRESHOLDS[0])
    for penalty in PENALTIES:
        scores = expit(log_odds(fit_logistic(features[~is_held], right[~is_held], penalty, seed), features[is_held]))
        for threshold in THRESHOLDS:
            chosen = _chosen(len(taught), [pairs[k] for k in np.flatnonzero(is_held)], scores, threshold)
            good = sum(len(frame.elements.intersection(row)) for row, frame in zip(chosen, taught, strict=True))
            best = max(best, (2 * good / max(sum(map(len, chosen)) + annotated, 1), penalty, threshold))
    _, penalty, threshold = best
    return Elements(names, *_fit_bounds(taught, rows, seed), fit_logistic(features, right, penalty, seed), threshold)


def _pairs(
    frames: Sequence[EvokedFrame], candidates: Sequence[list[Candidate]], names: Mapping[str, Sequence[str]]
) -> tuple[list[Features], list[tuple[int, str, int, int]]]:
    """Features of every candidate with every element of its frame; (frame's number, element, first, after)."""
    rows, pairs = [], []
    for number, (frame, listed) in enumerate(zip(frames, candidates, strict=True)):
        trigger = frame.trigger
        for candidate in listed:
            features = hash_names(_stretch_features(frame, candidate))
            of_trigger = join_key(features, f"trigger {trigger}")
            for name in names.get(frame.frame, ()):
                keys = (name, f"{name} {frame.frame}", f"{name} {trigger}",
                        f"{name} {frame.part_of_speech} {frame.frame}", f"{name} unit {frame.lemma}")  # fmt: skip
                rows.append(np.concatenate([features, of_trigger, *(join_key(features, key) for key in keys)]))
                pairs.append((number, name, candidate.first, candidate.after))
    return rows, pairs


def _bound_rows(frame: EvokedFrame) -> list[Features]:
    """Features of every place between words, from before the first to after the last."""
    keys = (f"frame {frame.frame}", f"trigger {frame.trigger}", f"unit {frame.lemma}")
    rows = []
    for place in range(len(frame.words) + 1):
        features = hash_names(_bound_features(frame, place))
        rows.append(np.concatenate([features, *(join_key(features, key) for key in keys)]))
    return rows


def _fit_bounds(taught: Sequence[EvokedFrame], rows: Sequence[list[Features]], seed: int) -> tuple[Weights, Weights]:
    """Models of where elements begin and where they end."""
    features = matrix([row for listed in rows for row in listed])
    sides = []
    for side in (1, 2):
        bounds = [{named[side] for named in frame.elements} for frame in taught]
        true = [place in own for own, listed in zip(bounds, rows, strict=True) for place in range(len(listed))]
        sides.append(fit_logistic(features, np.array(true), BOUND_PENALTY, seed))
    return sides[0], sides[1]


def _candidates(
    frames: Sequence[EvokedFrame], rows: Sequence[list[Features]], bounds: tuple[Weights, Weights]
) -> list[list[Candidate]]:
    """The likeliest stretches of each sentence."""
    features = matrix([row for listed in rows for row in listed])
    begins, ends = (-np.logaddexp(0, -log_odds(weights, features)) for weights in bounds)
    stretches, offset = [], 0
    for frame in frames:
        size = len(frame.words) + 1
        begin, end = begins[offset : offset + size], ends[offset : offset + size]
        offset += size
        scores = begin[:, None] + end[None]
        lengths = np.arange(size)[None] - np.arange(size)[:, None]
        scores[(lengths < 1) | (lengths > LONGEST)] = -np.inf
        order = np.argsort(-scores, axis=None, kind="stable")[:CANDIDATES]
        places = [divmod(int(place), size) for place in order if np.isfinite(scores.flat[place])]
        stretches.append([Candidate(a, b, float(begin[a]), float(end[b]), rank) for rank, (a, b) in enumerate(places)])
    return stretches


def _chosen(
    count: int, pairs: Sequence[tuple[int, str, int, int]], scores: NDArray[np.float64], threshold: float
) -> list[list[Named]]:
    """The likeliest pairs of each frame that go together."""
    kept: list[list[Named]] = [[] for _ in range(count)]
    for place in np.argsort(-scores, kind="stable").tolist():
        if scores[place] <= threshold:
            break
        number, *named = pairs[place]
        if all(_fit_together(tuple(named), other) for other in kept[number]):
            kept[number].append(tuple(named))
    return [sorted(listed, key=lambda named: named[1:]) for listed in kept]


def _fit_together(one: Named, other: Named) -> bool:
    """Apart from each other; or one inside the other, of another name."""
    (name, first, after), (other_name, begin, end) = one, other
    if after <= begin or end <= first:
        return True
    inside = (first >= begin and after <= end) or (first <= begin and after >= end)
    return inside and name != other_name and (first, after) != (begin, end)


def _step(number: int) -> int:
    """A number, the larger the coarser."""
    return next((step for step in _STEPS if number <= step), 99)


def _between(frame: EvokedFrame, first: int, after: int) -> tuple[str, int, tuple[str, ...], tuple[str, ...]]:
    """Side of the trigger, how far from it, and the classes and words in between."""
    if after <= frame.first or first >= frame.after:
        side = "before" if after <= frame.first else "after"
        gap = slice(after, frame.first) if side == "before" else slice(frame.after, first)
        return side, gap.stop - gap.start, frame.words.classes[gap], frame.words.lower[gap]
    return ("around" if first <= frame.first and after >= frame.after else "in"), 0, (), ()


def _counted(classes: Sequence[str], most: int) -> str:
    """Pauses, finite verbs and beginnings of clauses, up to so many."""
    return " ".join(str(min(most, sum(name in kind for name in classes))) for kind in (PAUSE, FINITE, CLAUSE))


def _bound_features(frame: EvokedFrame, place: int) -> list[str]:
    (w0, s0, c0), (w1, _, c1) = frame.words.around(place), frame.words.around(place + 1)
    (v1, t1, d1), (v2, _, d2) = frame.words.around(place - 1), frame.words.around(place - 2)
    side, far, between, _ = _between(frame, place, place)
    distance, passed = f"{side} {_step(far)}", f"{side} {_counted(between, 2)}"
    return [
        *("all", f"w0 {w0}", f"w1 {w1}", f"w-1 {v1}", f"w-2 {v2}", f"c0 {c0}", f"c-1 {d1}", f"c {d1} {c0}"),
        *(f"c- {d2} {d1} {c0}", f"c+ {d1} {c0} {c1}", f"e0 {w0[-3:]}", f"e-1 {v1[-3:]}", f"e {v1[-3:]} {w0[-3:]}"),
        *(f"s {t1} {s0}", f"w {v1} {w0}", f"at {distance}", f"at {distance} {d1} {c0}", f"side {side} {v1}"),
        *(f"side- {side} {w0}", f"count {passed}", f"count {passed} {d1} {c0}"),
        f"way {side} {' '.join(between)}" if far <= 6 else "way long",
    ]


def _stretch_features(frame: EvokedFrame, candidate: Candidate) -> list[str]:
    words, first, after = frame.words, candidate.first, candidate.after
    (w0, _, c0), (wb, _, cb) = words.around(first), words.around(first - 1)
    (we, _, ce), (wn, _, cn) = words.around(after - 1), words.around(after)
    side, far, between, way = _between(frame, first, after)
    distance, inside, size = f"{side} {_step(far)}", words.classes[first:after], _step(after - first)
    light = ("determiner", "preposition", "number")
    head = next((words.lower[k] for k in range(first, after) if words.classes[k] not in light), "#")
    begins, ends = (max(-8, int(1.5 * score)) for score in (candidate.begins, candidate.ends))
    both, rank = max(-12, int(1.5 * (candidate.begins + candidate.ends))), _step(candidate.rank)
    open_marks = (inside.count("(") != inside.count(")")) + (inside.count("«") != inside.count("»"))
    unbalanced = open_marks + inside.count('"') % 2
    return [
        *("all", f"side {side}", f"at {distance}", f"size {size}", f"size {side} {size}", f"rank {rank}"),
        *(f"rank {side} {rank}", f"w0 {w0}", f"w-1 {wb}", f"we {we}", f"wn {wn}"),
        *(f"c0 {c0}", f"c-1 {cb}", f"ce {ce}", f"cn {cn}"),
        *(f"w0 {side} {w0}", f"w-1 {side} {wb}", f"c0 {side} {c0}", f"c-1 {side} {cb}", f"cn {side} {cn}"),
        *(f"head {head}", f"head- {head[-3:]}", f"e0 {w0[-3:]}", f"left {cb} {c0}", f"right {ce} {cn}"),
        *(f"four {side} {cb} {c0} {ce} {cn}", f"at {distance} {c0}", f"at {distance} {c0} {cn}"),
        f"unbalanced {unbalanced}",
        *(f"count {side} {_counted(between, 3)}", f"inside {_counted(inside, 2)} {'infinitive' in inside}"),
        *(f"inside {side} {size} {_counted(inside, 2)}", f"ends {side} {first == 0} {after >= len(words) - 1}"),
        *(f"begins {begins}", f"ends {ends}", f"both {both}"),
        f"way {side} {' '.join(between)}" if far <= 4 else "way long",
        f"words {side} {' '.join(way)}" if far <= 3 else "words long",
        f"classes {' '.join(inside)}" if after - first <= 3 else "classes long",
        f"stretch {' '.join(words.lower[first:after])}" if after - first <= 2 else "stretch long",
    ]
