"""Answers that need no reading: what a model has to beat before its score says anything (issue of trivial solutions).

A model that only knows what *kind* of span an element takes is shown by `same_group_donors`: its own answers, moved to
other questions with the same answer element.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.factors.overlap import content_stems, sentences

_TOKEN = re.compile(r"\S+")
ALONE = -1


def best_overlap_sentence(question: str, text: str) -> str:
    """The sentence with the most distinct content words of the question; the first one at equality, "" without any."""
    asked = content_stems(question)
    candidates = [span.of(text) for span in sentences(text)]
    return max(candidates, key=lambda sentence: len(asked & content_stems(sentence)), default="")


def random_span(text: str, length: int, rng: np.random.Generator) -> str:
    """`length` consecutive words (between white space) from anywhere in the text; the whole text if it is shorter."""
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return ""
    length = min(length, len(tokens))
    first = int(rng.integers(len(tokens) - length + 1))
    return text[tokens[first].start() : tokens[first + length - 1].end()]


def same_group_donors(groups: Sequence[str], rng: np.random.Generator) -> NDArray[np.int64]:
    """For every question another one of its group, at random; `ALONE` where the group has no other.

    Each group is put in random order and turned by one, so that every answer is used once and none meets its own
    question.
    """
    donors = np.full(len(groups), ALONE, dtype=np.int64)
    labels = np.asarray(groups)
    for group in dict.fromkeys(groups):
        members = rng.permutation(np.flatnonzero(labels == group))
        if len(members) > 1:
            donors[members] = np.roll(members, 1)
    return donors
