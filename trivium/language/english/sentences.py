"""A caption as words with their places: what matching, chunking and removal read."""

import re
from dataclasses import dataclass

_WORD = re.compile(r"['’]s\b|[^\W_]+(?:n['’]t\b)?|[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One caption, cut into words and marks.

    Attributes:
        text: as it was written.
        words: lower case; `'s` is a word of its own, a hyphen inside a compound is none.
        spans: (start, end) of each word in the text, characters.
        hyphened: places of words that a hyphen ties to the one before.
    """

    text: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    hyphened: frozenset[int] = frozenset()

    def joined(self, place: int) -> bool:
        """Whether a hyphen ties this word to the one before it."""
        return place in self.hyphened

    def characters(self, first: int, end: int) -> tuple[int, int]:
        """The characters of words `first` to `end` (exclusive)."""
        return self.spans[first][0], self.spans[end - 1][1]

    def words_in(self, start: int, end: int) -> tuple[int, int]:
        """The words that overlap characters `start` to `end`, as (first, end); equal when there is none."""
        inside = [place for place, span in enumerate(self.spans) if span[0] < end and span[1] > start]
        return (inside[0], inside[-1] + 1) if inside else (0, 0)


def read_sentence(text: str) -> Sentence:
    """Cut a caption; white space of any length parts words."""
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    hyphened: list[int] = []
    for found in _WORD.finditer(text):
        start, end = found.span()
        if found[0] == "-" and start and text[start - 1].isalnum() and text[end : end + 1].isalnum():
            hyphened.append(len(words))
            continue
        words.append(found[0].lower().replace("’", "'"))
        spans.append((start, end))
    return Sentence(text, tuple(words), tuple(spans), frozenset(hyphened))
