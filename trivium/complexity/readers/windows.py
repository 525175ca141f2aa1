"""Question and context as an extractive reader sees them: windows of a fixed length that slide over long contexts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerFast

from trivium.complexity.padding import pad

_CHUNK = 250  # questions tokenised at once


@dataclass(frozen=True)
class Window:
    """A question with one window of its context.

    Attributes:
        owner: number of the question.
        ids, types: tokens, and the segment each belongs to.
        first, last: context tokens (last exclusive); equal when the window holds none.
        offsets: (last - first, 2), where the context's tokens start and end in it, in characters.
    """

    owner: int
    ids: NDArray[np.int32]
    types: NDArray[np.int8]
    first: int
    last: int
    offsets: NDArray[np.int32]

    @property
    def tokens(self) -> int:
        """Length of the window."""
        return len(self.ids)

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """First and last token of the characters `start` to `end` (exclusive); None when they are not all here."""
        inside = np.flatnonzero((self.offsets[:, 1] > start) & (self.offsets[:, 0] < end))
        if not len(inside):
            return None
        low, high = int(inside[0]), int(inside[-1])
        if self.offsets[low, 0] > start or self.offsets[high, 1] < end:
            return None
        return self.first + low, self.first + high

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the tokens `start` to `end` (inclusive)."""
        return int(self.offsets[start - self.first, 0]), int(self.offsets[end - self.first, 1])


class Inputs(NamedTuple):
    """Windows as the network reads them, each (windows, tokens), padded behind.

    Attributes:
        ids, mask, types: int64.
        allowed: bool, the context and the first token.
    """

    ids: Tensor
    mask: Tensor
    types: Tensor
    allowed: Tensor


def question_limit(max_tokens: int) -> int:
    """Most tokens of a question: it leaves at least half of the window to the context."""
    return (max_tokens - 4) // 2


def windows_of(
    tokenizer: PreTrainedTokenizerFast,
    questions: Sequence[str],
    contexts: Sequence[str],
    *,
    max_tokens: int,
    stride: int,
) -> tuple[list[Window], int]:
    """Every window of every pair, in order.

    Args:
        tokenizer: a fast one, which knows where its tokens come from.
        max_tokens: of a window, special tokens included.
        stride: tokens that neighbouring windows share.

    Returns:
        The windows, and how many questions were cut to `question_limit`.
    """
    shortened = [first_tokens(tokenizer, question, question_limit(max_tokens)) for question in questions]
    cut = sum(short != question for short, question in zip(shortened, questions, strict=True))
    windows: list[Window] = []
    for start in range(0, len(questions), _CHUNK):
        encoded = tokenizer(
            shortened[start : start + _CHUNK],
            list(contexts[start : start + _CHUNK]),
            truncation="only_second",
            max_length=max_tokens,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        for row, owner in enumerate(encoded["overflow_to_sample_mapping"]):
            ids = np.asarray(encoded["input_ids"][row], np.int32)
            places = [place for place, text in enumerate(encoded.sequence_ids(row)) if text == 1]
            first, last = (places[0], places[-1] + 1) if places else (len(ids), len(ids))
            types = np.zeros(len(ids), np.int8)
            types[first:] = 1
            offsets = np.asarray(encoded["offset_mapping"][row][first:last], np.int32).reshape(-1, 2)
            windows.append(Window(start + owner, ids, types, first, last, offsets))
    return windows, cut


def pad_windows(windows: Sequence[Window], filler: int) -> Inputs:
    """Windows of a batch in tensors, the shorter ones filled up with the token `filler`."""
    allowed = pad([(np.arange(one.tokens) >= one.first) & (np.arange(one.tokens) < one.last) for one in windows]).bool()
    allowed[:, 0] = True
    mask = pad([np.ones(window.tokens) for window in windows])
    return Inputs(pad([one.ids for one in windows], filler), mask, pad([one.types for one in windows]), allowed)


def first_tokens(tokenizer: Any, text: str, count: int) -> str:
    """The text up to the end of its token number `count`."""
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    if len(offsets) <= count:
        return text
    return text[: offsets[count - 1][1]] if count else ""
