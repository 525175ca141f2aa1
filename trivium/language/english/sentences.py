"""A caption as words with their places: what matching, chunking and removal read; and whether it is English.

The test is plain, enough to notice a file of another language, not to judge a sentence. A caption is not English when
one letter in five or more is outside a-z, when words that belong to other languages' grammar outnumber English ones, or
when six or more words hold no word of English grammar. Short captions without any ("Dogs running") pass.
"""

import re
from dataclasses import dataclass

from trivium.core.folding import NO_WIDTH, fold
from trivium.language.english.word_lists import LISTS

LEAST_PLAIN = 0.8  # share of the letters
LONG = 6  # words
WORD = re.compile(r"[^\W\d_]+")
ENGLISH, OTHER = LISTS["english_grammar"], LISTS["foreign_grammar"]


def looks_english(text: str) -> bool:
    """Whether a caption passes for English."""
    letters = [character for character in text if character.isalpha()]
    plain = sum(character.isascii() for character in letters)
    if not letters or plain < LEAST_PLAIN * len(letters):
        return False
    words = [word.lower() for word in WORD.findall(text)]
    english, other = (sum(word in vocabulary for word in words) for vocabulary in (ENGLISH, OTHER))
    return english >= other and not (len(words) >= LONG and english == 0)


_HYPHENS = "-\u2010\u2011"
_LETTER = f"[^\\W_][\u0300-\u036f{NO_WIDTH}]*"
_WORD = re.compile(rf"['’]s\b|(?:{_LETTER})+(?:n['’]t\b)?|[^\w\s{NO_WIDTH}]|_")


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

    def word(self, place: int) -> str:
        """The word at a place; "." behind the last one."""
        return self.words[place] if place < len(self.words) else "."

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
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match[0] in _HYPHENS and start and text[start - 1].isalnum() and text[end : end + 1].isalnum():
            hyphened.append(len(words))
            continue
        words.append(fold(match[0]).lower())
        spans.append((start, end))
    return Sentence(text, tuple(words), tuple(spans), frozenset(hyphened))
