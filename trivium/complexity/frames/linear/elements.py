"""The elements of a given frame, chosen among stretches of its sentence.

Two logistic regressions say where elements of the frame begin and end; the likeliest pairs are candidates. A third one
says of each candidate and each element of the frame whether they go together. What is likelier than a threshold is
kept, the likeliest first; elements that share words with one of these are left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from trivium.complexity.frames.linear import features as hashed
from trivium.complexity.frames.linear.features import Features, Stretch, Weights, Words
from trivium.formats.framed_texts import FrameInstance

CANDIDATES = 20  # stretches a frame
LONGEST = 60  # words of an element
BOUND_PENALTY = 1e-5
PENALTY = 1e-4
THRESHOLD = 0.02  # of a probability; about the best of the French FrameNet's folds
PARTS = 3  # of the training frames, so that no model scores what it learned from
_STEPS = (0, 1, 2, 3, 4, 6, 9, 14, 22)
_PAUSE = frozenset(",;:.")
_FINITE = frozenset(("finite", "be", "have", "modal"))
_CLAUSE = frozenset(("that", "relative", "conjunction"))
_LIGHT = frozenset(("determiner", "preposition", "number"))
Named = tuple[str, int, int]  # element, first word, the one after the last
Names = Mapping[str, Iterable[str]]  # of the elements of each frame


class EvokedFrame(NamedTuple):
    """A frame, and its trigger in a sentence."""

    place: Stretch
    instance: FrameInstance

    @classmethod
    def of(cls, words: Words, instance: FrameInstance) -> "EvokedFrame | None":
        """A frame of a text; None when its trigger has no word here."""
        place = words.under(instance.lexical_unit.span)
        return None if place is None else cls(place, instance)

    @property
    def elements(self) -> frozenset[Named]:
        """Its elements; those without any word in the sentence are left out."""
        named = ((element.name, self.place.words.under(element.span)) for element in self.instance.elements)
        return frozenset((name, place.first, place.after) for name, place in named if place is not None)

    @property
    def trigger(self) -> str:
        """Its part of speech, the class of its form and of the word before: infinitive, passive, …"""
        (words, first, after), part_of_speech = self.place, self.instance.lexical_unit.part_of_speech
        return f"{part_of_speech} {hashed.class_of(words.lower[after - 1])} {words.describe({'': first - 1})['c']}"

    def between(self, first: int, after: int, longest: int) -> dict[str, Any]:
        """Describe where a stretch lies from the trigger: side, distance, the classes on the way, joined if few."""
        words, begin, end = self.place
        side, gap = "around" if first <= begin and after >= end else "in", slice(0)
        if after <= begin or first >= end:
            side, gap = ("before", slice(after, begin)) if after <= begin else ("after", slice(end, first))
        classes = words.classes[gap]
        return {
            "side": side,
            "at": f"{side} {_step(len(classes))}",
            "passed": classes,
            "way": f"{side} {' '.join(classes)}" if len(classes) <= longest else "long",
            "words": f"{side} {' '.join(words.lower[gap])}" if len(classes) <= 3 else "long",
        }


class Elements(NamedTuple):
    """Finds the elements of frames by models of what begins an element, ends one, and fits a name."""

    names: Names
    begins: Weights
    ends: Weights
    fits: Weights

    def find(self, frames: Sequence[EvokedFrame]) -> list[list[Named]]:
        """The elements of each frame, in the order of the text."""
        bounds = _bounds(frames)
        odds = np.stack([hashed.log_odds(weights, bounds) for weights in (self.begins, self.ends)], axis=1)
        rows, pairs = _pairs(frames, odds, self.names)
        return _choose(len(frames), pairs, expit(hashed.log_odds(self.fits, hashed.matrix(rows))))


def learn_elements(taught: Sequence[EvokedFrame], names: Names, seed: int) -> Elements:
    """Learn from frames with their elements."""
    from sklearn.model_selection import PredefinedSplit, cross_val_predict  # takes a second to import

    part = np.random.default_rng(seed).permutation(len(taught)) % PARTS
    folds = PredefinedSplit(np.repeat(part, [len(frame.place.words) + 1 for frame in taught]))
    bounds, elements = _bounds(taught), [frame.elements for frame in taught]
    is_begin, is_end = np.array(
        [[any(named[side] == place for named in own) for side in (1, 2)]
         for frame, own in zip(taught, elements, strict=True) for place in range(len(frame.place.words) + 1)]
    ).T  # fmt: skip
    model = hashed.logistic(BOUND_PENALTY, seed)
    odds = [cross_val_predict(model, bounds, side, cv=folds, method="decision_function") for side in (is_begin, is_end)]
    rows, pairs = _pairs(taught, np.stack(odds, axis=1), names)
    right = np.array([(name, first, after) in elements[number] for number, name, first, after in pairs])
    begins, ends = (hashed.fit_logistic(bounds, side, BOUND_PENALTY, seed) for side in (is_begin, is_end))
    return Elements(names, begins, ends, hashed.fit_logistic(hashed.matrix(rows), right, PENALTY, seed))


def _bounds(frames: Sequence[EvokedFrame]) -> csr_matrix:
    """Features of every place between words of every frame's sentence, from before the first to after the last."""
    rows = []
    for frame in frames:
        words, unit = frame.place.words, frame.instance.lexical_unit
        keys = (f"frame {frame.instance.frame}", f"trigger {frame.trigger}", f"unit {unit.lemma}")
        for place in range(len(words) + 1):
            near = words.describe({str(step): place + step for step in (-2, -1, 0, 1)})
            lies = frame.between(place, place, 6)
            features = hashed.fill_in("bound", near | lies | {"passed": _count(lies["passed"], 2)})
            rows.append(np.concatenate([features, hashed.join_keys(features, keys)]))
    return hashed.matrix(rows)


def _pairs(
    frames: Sequence[EvokedFrame], odds: NDArray[np.float64], names: Names
) -> tuple[list[Features], list[tuple[int, str, int, int]]]:
    """Features of every candidate with every element of its frame; (frame's number, element, first, after).

    `odds` are those of beginning and end of every place that `_bounds` has.
    """
    rows, pairs, start = [], [], 0
    for number, frame in enumerate(frames):
        evoked, unit, trigger = frame.instance.frame, frame.instance.lexical_unit, frame.trigger
        log_p = -np.logaddexp(0, -odds[start : start + len(frame.place.words) + 1])
        start += len(log_p)
        for rank, (first, after) in enumerate(_candidates(log_p)):
            features = _stretch_features(frame, first, after, float(log_p[first, 0]), float(log_p[after, 1]), rank)
            of_trigger = hashed.join_keys(features, [f"trigger {trigger}"])
            for name in names.get(evoked, ()):
                keys = (name, f"{name} {evoked}", f"{name} {trigger}",
                        f"{name} {unit.part_of_speech} {evoked}", f"{name} unit {unit.lemma}")  # fmt: skip
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


def _choose(count: int, pairs: Sequence[tuple[int, str, int, int]], scores: NDArray[np.float64]) -> list[list[Named]]:
    """The likeliest pairs of each frame that share no word."""
    kept: list[list[Named]] = [[] for _ in range(count)]
    for place in np.argsort(-scores, kind="stable").tolist():
        if scores[place] <= THRESHOLD:
            break
        number, name, first, after = pairs[place]
        if all(after <= other[1] or other[2] <= first for other in kept[number]):
            kept[number].append((name, first, after))
    return [sorted(listed, key=lambda named: named[1:]) for listed in kept]


def _step(number: int) -> int:
    """Round a number up to one of few steps, which are the coarser the larger it is."""
    return next((step for step in _STEPS if number <= step), 99)


def _count(classes: Sequence[str], most: int) -> str:
    """Count pauses, finite verbs and beginnings of clauses, each up to `most`."""
    return " ".join(str(min(most, sum(name in kind for name in classes))) for kind in (_PAUSE, _FINITE, _CLAUSE))


def _stretch_features(frame: EvokedFrame, first: int, after: int, begins: float, ends: float, rank: int) -> Features:
    words = frame.place.words
    classes, forms = words.classes[first:after], words.lower[first:after]
    head = next((form for form, name in zip(forms, classes, strict=True) if name not in _LIGHT), "#")
    open_marks = (classes.count("(") != classes.count(")")) + (classes.count("«") != classes.count("»"))
    lies = frame.between(first, after, 4)
    values = lies | words.describe({"-1": first - 1, "0": first, "e": after - 1, "n": after}) | {
        "size": _step(after - first), "rank": _step(rank), "head": head, "head_end": head[-3:],
        "unbalanced": open_marks + classes.count('"') % 2, "passed": _count(lies["passed"], 3),
        "inside": _count(classes, 2), "infinitive": "infinitive" in classes,
        "is_first": first == 0, "is_last": after >= len(words) - 1,
        "begins": max(-8, int(1.5 * begins)), "ends": max(-8, int(1.5 * ends)),
        "both": max(-12, int(1.5 * (begins + ends))),
        "classes": " ".join(classes) if len(classes) <= 3 else "long",
        "stretch": " ".join(forms) if len(forms) <= 2 else "long",
    }  # fmt: skip
    return hashed.fill_in("stretch", values)
