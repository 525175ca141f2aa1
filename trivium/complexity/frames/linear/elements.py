"""The elements of a given frame, chosen among stretches of its sentence.

Two logistic regressions say where elements of the frame begin and end; the likeliest pairs are candidates. A third one
says of each candidate and each element of the frame whether they go together. What is likelier than a threshold is
kept, the likeliest first; an element may lie inside another of a different name, but elements do not cross.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from trivium.complexity.frames.linear import features as hashed
from trivium.complexity.frames.linear.features import Features, Weights, Words
from trivium.formats.framed_texts import FrameInstance

CANDIDATES = 20  # stretches a frame
LONGEST = 60  # words of an element
BOUND_PENALTY = 1e-5
PENALTIES = (1e-4, 3e-4)
THRESHOLDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3)
PARTS = 3  # of the training frames, so that no model scores what it learned from
_STEPS = (0, 1, 2, 3, 4, 6, 9, 14, 22)
_PAUSE = frozenset(",;:.")
_FINITE = frozenset(("finite", "be", "have", "modal"))
_CLAUSE = frozenset(("that", "relative", "conjunction"))
_LIGHT = frozenset(("determiner", "preposition", "number"))
Named = tuple[str, int, int]  # element, first word, the one after the last


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
        classes = self.words.describe({"-1": self.first - 1})
        return f"{self.part_of_speech} {hashed.class_of(self.words.lower[self.after - 1])} {classes['c-1']}"

    def between(self, first: int, after: int, longest: int) -> dict[str, Any]:
        """Describe where a stretch lies from the trigger: side, distance, the classes on the way, joined if few."""
        side, gap = "around" if first <= self.first and after >= self.after else "in", slice(0)
        if after <= self.first or first >= self.after:
            side = "before" if after <= self.first else "after"
            gap = slice(after, self.first) if side == "before" else slice(self.after, first)
        far, classes, words = gap.stop - (gap.start or 0), self.words.classes[gap], self.words.lower[gap]
        return {
            "side": side,
            "at": f"{side} {_step(far)}",
            "passed": classes,
            "way": f"{side} {' '.join(classes)}" if far <= longest else "long",
            "words": f"{side} {' '.join(words)}" if far <= 3 else "long",
        }


@dataclass(frozen=True)
class Elements:
    """Finds the elements of frames: the names of each frame's elements, three models, and a threshold."""

    names: Mapping[str, Iterable[str]]
    begins: Weights
    ends: Weights
    fits: Weights
    threshold: float

    def find(self, frames: Sequence[EvokedFrame]) -> list[list[Named]]:
        """The elements of each frame, in the order of the text."""
        bounds = _bounds(frames)
        odds = np.stack([hashed.log_odds(weights, bounds) for weights in (self.begins, self.ends)], axis=1)
        rows, pairs = _pairs(frames, odds, self.names)
        return _chosen(len(frames), pairs, expit(hashed.log_odds(self.fits, hashed.matrix(rows))), self.threshold)


def learn_elements(taught: Sequence[EvokedFrame], names: Mapping[str, Iterable[str]], seed: int) -> Elements:
    """Learn from frames with their elements; penalty and threshold are chosen by F1 on a part of them."""
    part = np.random.default_rng(seed).permutation(len(taught)) % PARTS
    of_place = np.repeat(part, [len(frame.words) + 1 for frame in taught])
    bounds = _bounds(taught)
    is_bound = np.array(
        [[any(named[side] == place for named in frame.elements) for side in (1, 2)]
         for frame in taught for place in range(len(frame.words) + 1)]
    )  # fmt: skip

    def fit_bounds(places: NDArray[np.bool_]) -> list[Weights]:
        return [hashed.fit_logistic(bounds[places], is_bound[places, side], BOUND_PENALTY, seed) for side in (0, 1)]

    odds = np.empty(is_bound.shape, dtype=bounds.dtype)
    for number in range(PARTS):
        held = of_place == number
        odds[held] = np.stack([hashed.log_odds(weights, bounds[held]) for weights in fit_bounds(~held)], axis=1)
    rows, pairs = _pairs(taught, odds, names)
    features = hashed.matrix(rows)
    right = np.array([(name, first, after) in taught[number].elements for number, name, first, after in pairs])
    is_held = np.array([part[number] == 0 for number, *_ in pairs])
    annotated = sum(len(frame.elements) for frame, of in zip(taught, part, strict=True) if of == 0)
    best = (-1.0, PENALTIES[0], THRESHOLDS[0])
    for penalty in PENALTIES:
        weights = hashed.fit_logistic(features[~is_held], right[~is_held], penalty, seed)
        scores = expit(hashed.log_odds(weights, features[is_held]))
        for threshold in THRESHOLDS:
            chosen = _chosen(len(taught), [pairs[k] for k in np.flatnonzero(is_held)], scores, threshold)
            good = sum(len(frame.elements.intersection(row)) for row, frame in zip(chosen, taught, strict=True))
            best = max(best, (2 * good / max(sum(map(len, chosen)) + annotated, 1), penalty, threshold))
    _, penalty, threshold = best
    begins, ends = fit_bounds(np.ones(len(of_place), dtype=bool))
    return Elements(names, begins, ends, hashed.fit_logistic(features, right, penalty, seed), threshold)


def _bounds(frames: Sequence[EvokedFrame]) -> csr_matrix:
    """Features of every place between words of every frame's sentence, from before the first to after the last."""
    rows = []
    for frame in frames:
        keys = (f"frame {frame.frame}", f"trigger {frame.trigger}", f"unit {frame.lemma}")
        for place in range(len(frame.words) + 1):
            values: dict[str, Any] = {**frame.words.describe({str(step): place + step for step in (-2, -1, 0, 1)})}
            values |= frame.between(place, place, 6)
            features = hashed.fill_in("bound", values | {"passed": _counted(values["passed"], 2)})
            rows.append(np.concatenate([features, hashed.join_keys(features, keys)]))
    return hashed.matrix(rows)


def _pairs(
    frames: Sequence[EvokedFrame], odds: NDArray[np.float64], names: Mapping[str, Iterable[str]]
) -> tuple[list[Features], list[tuple[int, str, int, int]]]:
    """Features of every candidate with every element of its frame; (frame's number, element, first, after).

    `odds` are those of beginning and end of every place that `_bounds` has.
    """
    rows, pairs, start = [], [], 0
    for number, frame in enumerate(frames):
        size, trigger = len(frame.words) + 1, frame.trigger
        log_p = -np.logaddexp(0, -odds[start : start + size])
        start += size
        for rank, (first, after) in enumerate(_candidates(log_p)):
            features = _stretch_features(frame, first, after, float(log_p[first, 0]), float(log_p[after, 1]), rank)
            of_trigger = hashed.join_keys(features, [f"trigger {trigger}"])
            for name in names.get(frame.frame, ()):
                keys = (name, f"{name} {frame.frame}", f"{name} {trigger}",
                        f"{name} {frame.part_of_speech} {frame.frame}", f"{name} unit {frame.lemma}")  # fmt: skip
                rows.append(np.concatenate([features, of_trigger, hashed.join_keys(features, keys)]))
                pairs.append((number, name, first, after))
    return rows, pairs


def _candidates(log_p: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The likeliest stretches of a sentence, best first, by log-probabilities (places, 2) of beginnings and ends."""
    begins, ends = log_p.T
    scores = begins[:, None] + ends[None]
    lengths = np.arange(len(log_p))[None] - np.arange(len(log_p))[:, None]
    scores[(lengths < 1) | (lengths > LONGEST)] = -np.inf
    order = np.argsort(-scores, axis=None, kind="stable")[:CANDIDATES]
    return [divmod(int(place), len(log_p)) for place in order if np.isfinite(scores.flat[place])]


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
    """Whether two elements are apart, or one lies inside the other and has another name."""
    (name, first, after), (other_name, begin, end) = one, other
    apart = after <= begin or end <= first
    inside = (begin <= first and after <= end) or (first <= begin and end <= after)
    return apart or (inside and name != other_name and (first, after) != (begin, end))


def _step(number: int) -> int:
    """Round a number up to one of few steps, which are the coarser the larger it is."""
    return next((step for step in _STEPS if number <= step), 99)


def _counted(classes: Sequence[str], most: int) -> str:
    """Count pauses, finite verbs and beginnings of clauses, each up to `most`."""
    return " ".join(str(min(most, sum(name in kind for name in classes))) for kind in (_PAUSE, _FINITE, _CLAUSE))


def _stretch_features(frame: EvokedFrame, first: int, after: int, begins: float, ends: float, rank: int) -> Features:
    words = frame.words
    classes, forms = words.classes[first:after], words.lower[first:after]
    head = next((form for form, name in zip(forms, classes, strict=True) if name not in _LIGHT), "#")
    open_marks = (classes.count("(") != classes.count(")")) + (classes.count("«") != classes.count("»"))
    lies = frame.between(first, after, 4)
    values = lies | words.describe({"-1": first - 1, "0": first, "e": after - 1, "n": after}) | {
        "size": _step(after - first), "rank": _step(rank), "head": head, "head_end": head[-3:],
        "unbalanced": open_marks + classes.count('"') % 2, "passed": _counted(lies["passed"], 3),
        "inside": _counted(classes, 2), "infinitive": "infinitive" in classes,
        "is_first": first == 0, "is_last": after >= len(words) - 1,
        "begins": max(-8, int(1.5 * begins)), "ends": max(-8, int(1.5 * ends)),
        "both": max(-12, int(1.5 * (begins + ends))),
        "classes": " ".join(classes) if len(classes) <= 3 else "long",
        "stretch": " ".join(forms) if len(forms) <= 2 else "long",
    }  # fmt: skip
    return hashed.fill_in("stretch", values)
