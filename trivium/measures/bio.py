"""BIO tags: spans of a sequence written as one tag a word, and the best valid sequence of tags.

Of n kinds of span, tag 0 is O (outside), 1 + 2k is B-k (the first word of a span of kind k), 2 + 2k is I-k (a further
word).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

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
    """The valid sequence with the highest sum of scores: I-k stands only after B-k or I-k (Viterbi).

    The tags' scores are independent, so the constraint is the only link between neighbours. Ties go to the lower tag
    of the earlier word.

    Args:
        scores: (batch, words, 1 + 2n), such as log-probabilities; −∞ forbids a tag, O is never forbidden.
        lengths: (batch,) words of each sequence.

    Returns:
        (batch, words) tags, 0 beyond a sequence's length.
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
