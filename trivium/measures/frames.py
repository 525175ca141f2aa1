"""Scores of frames and syntax: F1 over sets of labelled spans and over placed words, and tests of differences.

Two dependency parses of a text may be tokenised differently, so a score of placed words is `2·right / (found + true)`,
as in the CoNLL 2018 shared task.
"""

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_CHUNK = 1 << 22  # random bits drawn together


@dataclass(frozen=True)
class SetScore:
    """Counts of a comparison of two sets: right, found and true members."""

    right: int
    found: int
    true: int

    @property
    def precision(self) -> float:
        """Share of the found that is right; 0 when nothing was found."""
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Share of the true that was found; 0 when there is nothing to find."""
        return self.right / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 2·right / (found + true); 0 when both sets are empty."""
        return 2 * self.right / (self.found + self.true) if self.found + self.true else 0.0

    def named(self, name: str) -> dict[str, float]:
        """As flat metrics `<name>_{precision,recall,f1}`."""
        return {f"{name}_precision": self.precision, f"{name}_recall": self.recall, f"{name}_f1": self.f1}


def score_sets(predicted: Set[Hashable], true: Set[Hashable]) -> SetScore:
    """Exact match of two sets, whatever their members are (text, span, label, …)."""
    return SetScore(len(predicted & true), len(predicted), len(true))


def entropy_bits(counts: ArrayLike) -> float:
    """Entropy −Σ p log₂ p of the distribution that counts describe, in bits; 0 when nothing was counted."""
    counts = np.asarray(counts, dtype=np.float64)
    p = counts[counts > 0] / max(counts.sum(), 1.0)
    return float(-(p * np.log2(p)).sum()) + 0.0


def mcnemar_exact(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided exact McNemar test of paired decisions, (n,) bool each: right or wrong on the same items.

    With b decisions that only the first got right and c that only the second did, p is that of b successes in b + c
    fair tosses (McNemar 1947); 1 when they never differ.
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    only_first, only_second = int((first & ~second).sum()), int((~first & second).sum())
    if only_first + only_second == 0:
        return 1.0
    from scipy.stats import binomtest  # most users of this module test nothing, and scipy.stats is slow to import

    return float(binomtest(only_first, only_first + only_second).pvalue)


def _counts(scores: Sequence[SetScore]) -> NDArray[np.float64]:
    return np.array([(score.right, score.found, score.true) for score in scores], dtype=np.float64)


def f1_of_counts(counts: NDArray[np.floating]) -> NDArray[np.floating]:
    """F1 of (..., 3) summed counts `right, found, true`; 0 where all are 0."""
    size = counts[..., 1] + counts[..., 2]
    return np.divide(2 * counts[..., 0], size, out=np.zeros(size.shape), where=size > 0)


def f1_randomization(first: Sequence[SetScore], second: Sequence[SetScore], *, permutations: int, seed: int) -> float:
    """Two-sided paired randomization test of a difference in micro F1 (Yeh 2000).

    Under the null hypothesis the two systems' counts on a text, the same for both, could have been swapped.
    p = (count + 1) / (permutations + 1) of the swaps whose difference is at least the observed one.
    """
    one, two = _counts(first), _counts(second)
    sums = one.sum(axis=0), two.sum(axis=0)
    observed = abs(f1_of_counts(sums[0]) - f1_of_counts(sums[1])) - 1e-12
    rng = np.random.default_rng(seed)
    count, size = 0, max(1, _CHUNK // len(one))
    for start in range(0, permutations, size):
        swapped = rng.integers(2, size=(min(size, permutations - start), len(one))).astype(float)
        moved = swapped @ (two - one)
        count += int((np.abs(f1_of_counts(sums[0] + moved) - f1_of_counts(sums[1] - moved)) >= observed).sum())
    return (count + 1) / (permutations + 1)


@dataclass(frozen=True)
class PlacedWord:
    """A word of a parse, with its place and head.

    Attributes:
        place: identifies the word: the same in both parses, and unique in each.
        head: the place of its head; None for a root.
        relation: to the head; a subtype after `:` does not count.
        part_of_speech, lemma: as the parse has them.
    """

    place: Hashable
    head: Hashable | None
    relation: str
    part_of_speech: str
    lemma: str


def attachment_scores(predicted: Sequence[PlacedWord], true: Sequence[PlacedWord]) -> dict[str, float]:
    """`words_f1` (same place), `uas` (and same head), `las` (and same relation), `upos`, `lemmas`; 0 without words.

    `ValueError`: a place that stands twice in one parse.
    """
    by_place = {word.place: word for word in true}
    if len(by_place) < len(true) or len({word.place for word in predicted}) < len(predicted):
        raise ValueError("a place stands twice in one parse")
    pairs = [(word, by_place[word.place]) for word in predicted if word.place in by_place]
    attached = [(mine, gold) for mine, gold in pairs if mine.head == gold.head]
    right = {
        "words_f1": len(pairs),
        "uas": len(attached),
        "las": sum(_universal(mine.relation) == _universal(gold.relation) for mine, gold in attached),
        "upos": sum(mine.part_of_speech == gold.part_of_speech for mine, gold in pairs),
        "lemmas": sum(mine.lemma.lower() == gold.lemma.lower() for mine, gold in pairs),
    }
    size = len(predicted) + len(true)
    return {name: 2 * count / size if size else 0.0 for name, count in right.items()}


def _universal(relation: str) -> str:
    return relation.partition(":")[0]
