"""Captions as words with their places, whether they are English, and which classes they name (decorrelation.md §2).

The test of language is coarse, meant to notice a file in another language. A caption is not English if less than 80 %
of its letters are a-z, if function words of other languages outnumber English ones, or if it has six or more words and
no English function word. Short captions without any ("Dogs running") pass.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trivium.core.folding import NO_WIDTH, fold
from trivium.language.english.word_lists import LISTS, UNDONE_AFTER, UNDONE_BEFORE, Entry, Mode, word_lists

LEAST_PLAIN = 0.8  # share of letters that are a-z
LONG = 6  # words; a caption of that many must have an English function word
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
    """One caption, split into words and punctuation marks."""

    text: str  # as written
    words: tuple[str, ...]  # in lower case; `'s` is a word of its own, a hyphen inside a compound is none
    spans: tuple[tuple[int, int], ...]  # (start, end) of each word in the text, characters
    hyphenated: frozenset[int] = frozenset()  # places of words that a hyphen joins to the one before

    def word(self, place: int) -> str:
        """Return the word at a place; "." after the last one."""
        return self.words[place] if place < len(self.words) else "."

    def characters(self, first: int, end: int) -> tuple[int, int]:
        """Return the character span of words `first` to `end` (exclusive)."""
        return self.spans[first][0], self.spans[end - 1][1]

    def words_in(self, start: int, end: int) -> tuple[int, int]:
        """Return the words that overlap characters `start` to `end` as (first, end); equal when there is none."""
        inside = [place for place, span in enumerate(self.spans) if span[0] < end and span[1] > start]
        return (inside[0], inside[-1] + 1) if inside else (0, 0)


def read_sentence(text: str) -> Sentence:
    """Split a caption into words and marks, at white space of any length."""
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    hyphenated: list[int] = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if match[0] in _HYPHENS and start and text[start - 1].isalnum() and text[end : end + 1].isalnum():
            hyphenated.append(len(words))
            continue
        words.append(fold(match[0]).lower())
        spans.append((start, end))
    return Sentence(text, tuple(words), tuple(spans), frozenset(hyphenated))


Range = tuple[int, int]  # words of a phrase: first, end (exclusive)
_END = ""  # key of the expression that ends at a node of the tree; no word is empty


class Matcher:
    """Find the classes that noun phrases name; word lists are compiled once to a tree of words.

    Mode `strict`: within a phrase the longest expressions are taken first, and no word is read twice. An expression
    without class, a word that cancels it ("dog food", "a toy car") or a place where it does not count ("an orange cat")
    leaves the phrase without that class. Mode `paper`: a phrase names every class of which it contains a word of
    Table 4.

    Raises:
        BadInput: a class has no words.
    """

    def __init__(self, classes: Sequence[str], mode: Mode = "strict") -> None:
        self._strict = mode == "strict"
        self._tree: dict[str, Any] = {}
        for words, entry in word_lists(classes, mode).items():
            node = self._tree
            for word in words:
                node = node.setdefault(word, {})
            node[_END] = entry

    def match(self, sentence: Sentence, phrases: Sequence[Range]) -> list[tuple[str, ...]]:
        """Return the sorted classes of each phrase; phrases are in order, without overlap."""
        read: set[int] = set()  # words already taken by an expression that leads out of its phrase
        words, named = sentence.words, []
        for first, end in phrases:
            expressions = self._expressions_in(words, first, end)
            if expressions and self._strict:
                expressions = self._select(words, first, end, expressions, read)
            named.append(
                tuple(sorted({name for _, listed in expressions for name in listed.classes})) if expressions else ()
            )
        return named

    def _expressions_in(self, words: tuple[str, ...], first: int, end: int) -> list[tuple[int, Entry]]:
        """Find all expressions that begin in a phrase as (place of the first word, expression), shorter ones first."""
        expressions, tree = [], self._tree
        for place in range(first, end):
            node, last = tree.get(words[place]), place + 1
            while node is not None:
                listed = node.get(_END)
                if listed and (last <= end or listed.leads_out):
                    expressions.append((place, listed))
                node, last = node.get(words[last]) if last < len(words) else None, last + 1
        return expressions

    def _select(
        self,
        words: tuple[str, ...],
        first: int,
        end: int,
        expressions: list[tuple[int, Entry]],
        read: set[int],
    ) -> list[tuple[int, Entry]]:
        """Select the expressions that count in mode `strict`; the places of their words are added to `read`."""
        if len(expressions) > 1:
            longest = dict(expressions)  # shorter ones at a place are part of it
            expressions = sorted(
                longest.items(),
                key=lambda placed: (
                    -placed[1].length,
                    placed[1].last_only and placed[0] + placed[1].length < end,
                    placed[0],
                ),
            )
        counted = []
        for place, listed in expressions:
            last = place + listed.length
            places = range(place, last)
            if not read.isdisjoint(places):
                continue
            read.update(places)
            undone = last < end and (listed.last_only or (listed.undoable and words[last] in UNDONE_BEFORE))
            if not undone and UNDONE_AFTER.isdisjoint(words[first:place]):
                counted.append((place, listed))
        return counted
