"""The elements of a given frame, chosen among stretches of its sentence.

Two logistic regressions say where elements of the frame begin and end; the likeliest pairs are candidates. A third one
says of each candidate and each element of the frame whether they go together. What is likelier than a threshold is
kept, the likeliest first; elements may lie one in the other, but not cross, and one of a name meets none of its name.

Features are words, endings and classes at the bounds, and what lies between stretch and trigger; each counts alone and
joined with element, frame, lexical unit and the trigger's form, so that rare elements lean on frequent ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trivium.complexity.frames.linear.features import (
    CLAUSE,
    FINITE,
    PAUSE,
    Features,
    Words,
    class_of,
    fit_logistic,
    hashed,
    joined,
    matrix,
)
from trivium.formats.framed_texts import FrameInstance

CANDIDATES = 20
"""Stretches asked about, a frame."""
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
class Asked:
    """A frame in a sentence: where its trigger is, and its elements where they are known."""

    words: Words
    frame: str
    unit: str
    part_of_speech: str
    first: int
    after: int
    elements: frozenset[Named] = frozenset()

    @classmethod
    def of(cls, words: Words, instance: FrameInstance) -> "Asked | None":
        """A frame of a text; None when its trigger holds no word. Elements without any word are left out."""
        unit = instance.lexical_unit
        place = words.under(unit.span)
        if place is None:
            return None
        named = ((each.name, words.under(each.span)) for each in instance.elements)
        elements = frozenset((name, *where) for name, where in named if where is not None)
        return cls(words, instance.frame, unit.lemma, unit.part_of_speech, *place, elements)

    @property
    def trigger(self) -> str:
        """Its part of speech, the class of its form and of the word before: infinitive, passive, …"""
        return (
            f"{self.part_of_speech} {class_of(self.words.lower[self.after - 1])} {self.words.around(self.first - 1)[2]}"
        )


class Elements:
    """Learns from frames with their elements; finds the elements of a frame."""

    def __init__(self, taught: Sequence[Asked], seed: int) -> None:
        self._names: dict[str, list[str]] = {}
        for frame in {each.frame for each in taught}:
            self._names[frame] = sorted(
                {name for each in taught if each.frame == frame for name, _, _ in each.elements}
            )
        rows = [_bound_rows(each) for each in taught]
        part = np.random.default_rng(seed).permutation(len(taught)) % PARTS
        candidates: dict[int, list[Candidate]] = {}
        for number in range(PARTS):
            inside, outside = np.flatnonzero(part != number).tolist(), np.flatnonzero(part == number).tolist()
            bounds = _fit_bounds([taught[k] for k in inside], [rows[k] for k in inside], seed)
            found = _candidates([taught[k] for k in outside], [rows[k] for k in outside], bounds)
            candidates |= dict(zip(outside, found, strict=True))
        self._bounds = _fit_bounds(taught, rows, seed)
        self._fit(taught, [candidates[k] for k in range(len(taught))], part == 0, seed)

    def find(self, asked: Sequence[Asked]) -> list[list[Named]]:
        """The elements of each frame, in the order of the text."""
        candidates = _candidates(asked, [_bound_rows(each) for each in asked], self._bounds)
        rows, pairs = self._pairs(asked, candidates)
        if not pairs:
            return [[] for _ in asked]
        return _chosen(len(asked), pairs, expit(self._model.decision_function(matrix(rows))), self._threshold)

    def _fit(
        self, taught: Sequence[Asked], candidates: Sequence[list[Candidate]], held: NDArray[np.bool_], seed: int
    ) -> None:
        """Choose penalty and threshold by F1 on the frames held back, then learn from all."""
        rows, pairs = self._pairs(taught, candidates)
        right = np.array([pair[1:] in taught[pair[0]].elements for pair in pairs])
        of_held = held[[pair[0] for pair in pairs]]
        everything = matrix(rows)
        best = (-1.0, PENALTIES[0], THRESHOLDS[0])
        for penalty in PENALTIES:
            model = fit_logistic(everything[~of_held], right[~of_held], penalty, seed)
            odds = model.decision_function(everything[of_held])
            asked = [pair for pair, out in zip(pairs, of_held, strict=True) if out]
            for threshold in THRESHOLDS:
                found = _chosen(len(taught), asked, expit(odds), threshold)
                good = sum(len(set(row) & each.elements) for row, each in zip(found, taught, strict=True))
                size = sum(map(len, found)) + sum(
                    len(each.elements) for each, out in zip(taught, held, strict=True) if out
                )
                best = max(best, (2 * good / max(size, 1), penalty, threshold))
        _, penalty, self._threshold = best
        self._model = fit_logistic(everything, right, penalty, seed)

    def _pairs(
        self, asked: Sequence[Asked], candidates: Sequence[list[Candidate]]
    ) -> tuple[list[Features], list[tuple[int, str, int, int]]]:
        """Features of every candidate with every element of its frame; (frame's number, element, first, after)."""
        rows, pairs = [], []
        for number, (each, listed) in enumerate(zip(asked, candidates, strict=True)):
            trigger, frame = each.trigger, each.frame
            for found in listed:
                features = hashed(_stretch_features(each, found))
                of_trigger = joined(features, f"trigger {trigger}")
                for name in self._names.get(frame, ()):
                    keys = (name, f"{name} {frame}", f"{name} {trigger}", f"{name} {each.part_of_speech} {frame}")
                    own = [joined(features, key) for key in (*keys, f"{name} unit {each.unit}")]
                    rows.append(np.concatenate([features, of_trigger, *own]))
                    pairs.append((number, name, found.first, found.after))
        return rows, pairs


def _bound_rows(each: Asked) -> list[Features]:
    """Features of every place between words, from before the first to after the last."""
    keys = (f"frame {each.frame}", f"trigger {each.trigger}", f"unit {each.unit}")
    rows = []
    for place in range(len(each.words) + 1):
        features = hashed(_bound_features(each, place))
        rows.append(np.concatenate([features, *(joined(features, key) for key in keys)]))
    return rows


def _fit_bounds(taught: Sequence[Asked], rows: Sequence[list[Features]], seed: int) -> tuple[Any, Any]:
    """Models of where elements begin and where they end."""
    all_rows = matrix([row for listed in rows for row in listed])
    sides = []
    for side in (1, 2):
        true = [{named[side] for named in each.elements} for each in taught]
        is_bound = [place in known for known, listed in zip(true, rows, strict=True) for place in range(len(listed))]
        sides.append(fit_logistic(all_rows, np.array(is_bound), BOUND_PENALTY, seed))
    return sides[0], sides[1]


def _candidates(
    asked: Sequence[Asked], rows: Sequence[list[Features]], bounds: tuple[Any, Any]
) -> list[list[Candidate]]:
    """The likeliest stretches of each sentence."""
    if not asked:
        return []
    all_rows = matrix([row for listed in rows for row in listed])
    begins, ends = (-np.logaddexp(0, -model.decision_function(all_rows)) for model in bounds)
    found, offset = [], 0
    for each, listed in zip(asked, rows, strict=True):
        size = len(each.words)
        begin, end = begins[offset : offset + size + 1], ends[offset : offset + size + 1]
        offset += len(listed)
        scores = begin[:, None] + end[None]
        lengths = np.arange(size + 1)[None] - np.arange(size + 1)[:, None]
        scores[(lengths < 1) | (lengths > LONGEST)] = -np.inf
        order = np.argsort(-scores, axis=None, kind="stable")[:CANDIDATES]
        places = [divmod(int(place), size + 1) for place in order if np.isfinite(scores.flat[place])]
        found.append([Candidate(a, b, float(begin[a]), float(end[b]), rank) for rank, (a, b) in enumerate(places)])
    return found


def _chosen(
    count: int, pairs: Sequence[tuple[int, str, int, int]], scores: NDArray[np.float64], threshold: float
) -> list[list[Named]]:
    """The likeliest pairs of each frame that go together."""
    kept: list[list[Named]] = [[] for _ in range(count)]
    for place in np.argsort(-scores, kind="stable").tolist():
        if scores[place] <= threshold:
            break
        number, name, first, after = pairs[place]
        if all(_fit_together((name, first, after), other) for other in kept[number]):
            kept[number].append((name, first, after))
    return [sorted(listed, key=lambda named: named[1:]) for listed in kept]


def _fit_together(one: Named, other: Named) -> bool:
    """Apart from each other; or one inside the other, of another name."""
    (name, first, after), (known, begin, end) = one, other
    if after <= begin or end <= first:
        return True
    inside = (first >= begin and after <= end) or (first <= begin and after >= end)
    return inside and name != known and (first, after) != (begin, end)


def _step(number: int) -> int:
    """A number, the larger the coarser."""
    return next((step for step in _STEPS if number <= step), 99)


def _between(each: Asked, first: int, after: int) -> tuple[str, int, tuple[str, ...], tuple[str, ...]]:
    """Side of the trigger, how far from it, and the classes and words in between."""
    if after <= each.first:
        return (
            "before",
            each.first - after,
            each.words.classes[after : each.first],
            each.words.lower[after : each.first],
        )
    if first >= each.after:
        return "after", first - each.after, each.words.classes[each.after : first], each.words.lower[each.after : first]
    return ("around" if first <= each.first and after >= each.after else "in"), 0, (), ()


def _counted(classes: Sequence[str], most: int) -> str:
    """Pauses, finite verbs and beginnings of clauses, up to so many."""
    kinds = (PAUSE, FINITE, CLAUSE)
    return " ".join(str(min(most, sum(each in kind for each in classes))) for kind in kinds)


def _bound_features(each: Asked, place: int) -> list[str]:
    (w0, s0, c0), (w1, _, c1) = each.words.around(place), each.words.around(place + 1)
    (v1, t1, d1), (v2, _, d2) = each.words.around(place - 1), each.words.around(place - 2)
    side, far, between, _ = _between(each, place, place)
    where = f"{side} {_step(far)}"
    return [
        *("all", f"w0 {w0}", f"w1 {w1}", f"w-1 {v1}", f"w-2 {v2}", f"c0 {c0}", f"c-1 {d1}", f"c {d1} {c0}"),
        *(f"c- {d2} {d1} {c0}", f"c+ {d1} {c0} {c1}", f"e0 {w0[-3:]}", f"e-1 {v1[-3:]}", f"e {v1[-3:]} {w0[-3:]}"),
        *(
            f"s {t1} {s0}",
            f"w {v1} {w0}",
            f"at {where}",
            f"at {where} {d1} {c0}",
            f"side {side} {v1}",
            f"side- {side} {w0}",
        ),
        *(f"count {side} {_counted(between, 2)}", f"count {side} {_counted(between, 2)} {d1} {c0}"),
        f"way {side} {' '.join(between)}" if far <= 6 else "way long",
    ]


def _stretch_features(each: Asked, found: Candidate) -> list[str]:
    words, first, after = each.words, found.first, found.after
    (w0, _, c0), (wb, _, cb) = words.around(first), words.around(first - 1)
    (we, _, ce), (wn, _, cn) = words.around(after - 1), words.around(after)
    side, far, between, way = _between(each, first, after)
    where, inside, size = f"{side} {_step(far)}", words.classes[first:after], _step(after - first)
    light = ("determiner", "preposition", "number")
    head = next((words.lower[k] for k in range(first, after) if words.classes[k] not in light), "#")
    begins, ends = (max(-8, int(1.5 * score)) for score in (found.begins, found.ends))
    both, rank = max(-12, int(1.5 * (found.begins + found.ends))), _step(found.rank)
    unbalanced = (
        (inside.count("(") != inside.count(")")) + inside.count('"') % 2 + (inside.count("«") != inside.count("»"))
    )
    return [
        *(
            "all",
            f"side {side}",
            f"at {where}",
            f"size {size}",
            f"size {side} {size}",
            f"rank {rank}",
            f"rank {side} {rank}",
        ),
        *(f"w0 {w0}", f"w-1 {wb}", f"we {we}", f"wn {wn}", f"c0 {c0}", f"c-1 {cb}", f"ce {ce}", f"cn {cn}"),
        *(f"w0 {side} {w0}", f"w-1 {side} {wb}", f"c0 {side} {c0}", f"c-1 {side} {cb}", f"cn {side} {cn}"),
        *(f"head {head}", f"head- {head[-3:]}", f"e0 {w0[-3:]}", f"left {cb} {c0}", f"right {ce} {cn}"),
        *(f"four {side} {cb} {c0} {ce} {cn}", f"at {where} {c0}", f"at {where} {c0} {cn}", f"unbalanced {unbalanced}"),
        *(f"count {side} {_counted(between, 3)}", f"inside {_counted(inside, 2)} {'infinitive' in inside}"),
        *(f"inside {side} {size} {_counted(inside, 2)}", f"ends {side} {first == 0} {after >= len(words) - 1}"),
        *(f"begins {begins}", f"ends {ends}", f"both {both}"),
        f"way {side} {' '.join(between)}" if far <= 4 else "way long",
        f"words {side} {' '.join(way)}" if far <= 3 else "words long",
        f"classes {' '.join(inside)}" if after - first <= 3 else "classes long",
        f"stretch {' '.join(words.lower[first:after])}" if after - first <= 2 else "stretch long",
    ]
