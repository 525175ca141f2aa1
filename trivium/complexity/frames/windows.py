"""Texts cut into windows that the frame parser reads: a sentence each, or a piece of one that is too long.

A frame's elements nearly always stand in the sentence of its trigger, and short inputs are cheap: a sentence is read
once for each trigger. Words are the units that are tagged: offsets give them back exactly as the text has them.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from transformers import PreTrainedTokenizerBase

from trivium.formats.framed_texts import FrameInstance, Span
from trivium.language.languages import cut

Match = TypeVar("Match")
Instances = Sequence[Sequence[FrameInstance]]  # of each text

# An elided word ends with its apostrophe: l' armée. Combining marks (NFD) belong to their letter.
_WORD = re.compile(r"(?:\w[\u0300-\u036f]*)+['’]?|[^\w\s]")
# The end of a sentence, unless it is that of an initial or an abbreviation.
_END = re.compile(
    r"(?<![\s.(-][A-ZÀ-Ý])(?<!\bav)(?<!\bapr)(?<!\bMM)(?<!\bcf)(?<!\bp)(?<!\bvol)"
    r"[.!?…]+(?:\s?[»”\")\]])*\s+(?=[«“\"(\[]?\s?[A-ZÀ-Ý0-9])|\n+"
)


@dataclass(frozen=True)
class Window:
    """A stretch of text that the parser reads at once."""

    text: int  # which of the texts it is from
    words: tuple[Span, ...]  # where they are, in characters of the text
    input_ids: tuple[int, ...]  # of its tokens, special ones included
    first_tokens: tuple[int, ...]  # the tokens with each word's first and last character
    last_tokens: tuple[int, ...]


def words_of(text: str, start: int = 0) -> list[Span]:
    """Words and punctuation marks; `start` is added to the offsets."""
    return [Span(start + match.start(), start + match.end()) for match in _WORD.finditer(text)]


def sentences_of(text: str) -> list[Span]:
    """Sentences without the white space around them; empty ones are left out."""
    return cut(text, [(match.end(), match.end()) for match in _END.finditer(text)])


def longest_matches(words: int, longest: int, match: Callable[[int, int], Match | None]) -> Iterator[Match]:
    """Matches of stretches of words (first, the one after the last), the longest at each place, none inside another.

    A stretch has at most `longest` words; `match` is None of one that is no match.
    """
    first = 0
    while first < words:
        after = first + 1
        for end in range(min(first + longest, words), first, -1):
            if (matched := match(first, end)) is not None:
                yield matched
                after = end
                break
        first = after


def windows_of(texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> tuple[list[Window], int]:
    """The windows of texts, in order, and how many sentences had to be cut into pieces.

    Args:
        max_tokens: of a window, special tokens included. A single word with more loses its end.
    """
    windows: list[Window] = []
    sentences_cut = 0
    for place, text in enumerate(texts):
        for span in sentences_of(text):
            if words := words_of(span.of(text), span.start):
                pieces = _windows(place, text, words, tokenizer, max_tokens)
                sentences_cut += len(pieces) > 1
                windows += pieces
    return windows, sentences_cut


def _windows(
    place: int, text: str, words: list[Span], tokenizer: PreTrainedTokenizerBase, max_tokens: int
) -> list[Window]:
    """One window of these words, or those of either half where they have too many tokens."""
    start = words[0].start
    encoded = tokenizer(
        text[start : words[-1].end], truncation=True, max_length=max_tokens, return_offsets_mapping=True, verbose=False
    )
    real = [(token, start + end) for token, (begin, end) in enumerate(encoded["offset_mapping"]) if end > begin]
    ends = [end for _, end in real]
    is_cut = len(encoded["input_ids"]) == max_tokens and (not ends or ends[-1] < words[-1].end)
    if is_cut and len(words) > 1:
        halves = (words[: len(words) // 2], words[len(words) // 2 :])
        return [window for half in halves for window in _windows(place, text, half, tokenizer, max_tokens)]
    firsts, lasts = [], []
    for word in words:
        # The token with the word's first character; a character that the tokenizer dropped goes to the one after it.
        first = min(bisect_right(ends, word.start), len(real) - 1)
        last = max(first, min(bisect_right(ends, word.end - 1), len(real) - 1))
        firsts.append(real[first][0] if real else 0)
        lasts.append(real[last][0] if real else 0)
    return [Window(place, tuple(words), tuple(encoded["input_ids"]), tuple(firsts), tuple(lasts))]


@dataclass(frozen=True)
class PlacedFrame:
    """A frame in the window that holds its trigger: first and last word of the trigger."""

    instance: FrameInstance
    window: Window
    first: int
    last: int


def place_frames(instances: Instances, windows: Sequence[Window]) -> tuple[list[PlacedFrame], int]:
    """Every frame of each text whose trigger is inside one window, in order, and how many triggers are not."""
    by_text: dict[int, list[Window]] = {}
    for window in windows:
        by_text.setdefault(window.text, []).append(window)
    placed, lost = [], 0
    for place, frames in enumerate(instances):
        for instance in frames:
            for window in by_text.get(place, ()):
                words = words_under(window, instance.lexical_unit.span)
                if words is not None:
                    placed.append(PlacedFrame(instance, window, *words))
                    break
            else:
                lost += 1
    return placed, lost


def words_under(window: Window, span: Span) -> tuple[int, int] | None:
    """First and last word that share a character with the span; None when it is not whole in the window."""
    if span.start < window.words[0].start or span.end > window.words[-1].end:
        return None
    touched = [place for place, word in enumerate(window.words) if word.overlaps(span)]
    return (touched[0], touched[-1]) if touched else None


def span_of(window: Window, first: int, last: int) -> Span:
    """Characters from the first to the last of these words."""
    return Span(window.words[first].start, window.words[last].end)
