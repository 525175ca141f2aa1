"""Scores of frames and syntax: F1 over sets of labelled spans and over placed words, and tests of differences; tags.

Two dependency parses of a text may be tokenised differently, so a score of placed words is `2·right / (found + true)`,
as in the CoNLL 2018 shared task. BIO tags write spans of n kinds as one tag a word: 0 is O (outside), 1 + 2k is B-k
(the first word of a span of kind k), 2 + 2k is I-k (a further word).
"""

from collections.abc import Hashable, Iterable, Sequence, Set
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


def f1_of_counts(counts: NDArray[np.floating]) -> NDArray[np.floating]:
    """F1 of (..., 3) summed counts `right, found, true`; 0 where all are 0."""
    size = counts[..., 1] + counts[..., 2]
    return np.divide(2 * counts[..., 0], size, out=np.zeros(size.shape), where=size > 0)


def f1_randomization(first: Sequence[SetScore], second: Sequence[SetScore], *, permutations: int, seed: int) -> float:
    """Two-sided paired randomization test of a difference in micro F1 (Yeh 2000).

    Under the null hypothesis the two systems' counts on a text, the same for both, could have been swapped.
    p = (count + 1) / (permutations + 1) of the swaps whose difference is at least the observed one.
    """
    one, two = (np.array([(s.right, s.found, s.true) for s in scores], np.float64) for scores in (first, second))
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
        "las": sum(mine.relation.split(":")[0] == gold.relation.split(":")[0] for mine, gold in attached),
        "upos": sum(mine.part_of_speech == gold.part_of_speech for mine, gold in pairs),
        "lemmas": sum(mine.lemma.lower() == gold.lemma.lower() for mine, gold in pairs),
    }
    size = len(predicted) + len(true)
    return {name: 2 * count / size if size else 0.0 for name, count in right.items()}


KindSpan = tuple[int, int, int]  # kind, first word, last word (inclusive)


def bio_tags(spans: Iterable[KindSpan], words: int) -> NDArray[np.int64]:
    """(words,) tags of spans that do not overlap; a span that overlaps an earlier one raises `ValueError`."""
    tags = np.zeros(words, dtype=np.int64)
    for kind, first, last in spans:
        if tags[first : last + 1].any():
            raise ValueError(f"span {(kind, first, last)} overlaps another")
        tags[first] = 1 + 2 * kind
        tags[first + 1 : last + 1] = 2 + 2 * kind
    return tags


def bio_spans(tags: Sequence[int] | NDArray[np.int64]) -> list[KindSpan]:
    """The spans of a valid sequence of tags, in order."""
    spans: list[KindSpan] = []
    for word, tag in enumerate(map(int, tags)):
        if tag % 2 == 1:
            spans.append(((tag - 1) // 2, word, word))
        elif tag:
            kind, first, _ = spans[-1]
            spans[-1] = (kind, first, word)
    return spans


def best_bio_tags(scores: NDArray[np.floating], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """(batch, words) tags of the highest sum of scores: I-k stands only after B-k or I-k (Viterbi).

    The tags' scores are independent, so the constraint is the only link between neighbours. Ties go to the lower tag
    of the earlier word. Beyond a sequence's length, (batch,), tags are 0. Scores are (batch, words, 1 + 2n), such as
    log-probabilities; −∞ forbids a tag, O is never forbidden.
    """
    batch, words, tags = scores.shape
    if words == 0:
        return np.zeros((batch, 0), dtype=np.int64)
    beyond = np.where(np.arange(tags) == 0, 0.0, -np.inf)
    scores = np.where((np.arange(words) < lengths[:, None])[..., None], scores, beyond)
    rows = np.arange(batch)
    total = scores[:, 0].copy()
    total[:, 2::2] = -np.inf
    best = np.zeros((words, batch), dtype=np.int64)  # tags of the word before
    on = np.zeros((words, batch, tags), dtype=bool)  # whether I-k there is better than B-k, for I-k
    for word in range(1, words):
        begun, inside = total[:, 1::2], total[:, 2::2]
        best[word], on[word, :, 2::2] = total.argmax(axis=1), inside > begun
        total, longer = scores[:, word] + total[rows, best[word], None], np.maximum(begun, inside)
        total[:, 2::2] = scores[:, word, 2::2] + longer
    result = np.zeros((batch, words), dtype=np.int64)
    result[:, -1] = total.argmax(axis=1)
    for word in range(words - 1, 0, -1):
        tag = result[:, word]
        is_inside = (tag > 0) & (tag % 2 == 0)
        result[:, word - 1] = np.where(is_inside, tag - 1 + on[word, rows, tag], best[word])
    return result
