"""One language as questions and answers are compared in it: words, content stems, sentences (docs/difficulty.md).

Every comparison folds (`core/folding.py`); offsets count the text as it is stored.
"""

import re
import runpy
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from trivium.formats.framed_texts import Span

_CACHED = 1 << 16  # texts whose stems a language remembers
_ENDS = re.compile(
    r"[。！？｡；](?:[”’」』）)\"']*)(\s*)|[.!?…।؟۔։][\"'»”’)\]]*(\s+)|(\n+)"  # the first need no space behind them
)


class Word(NamedTuple):
    """A word where it stands, and the stems of the content words in it (an elided article leaves none of its own)."""

    span: Span
    stems: frozenset[str]


class Language(ABC):
    """How texts of one language are cut and compared.

    Attributes:
        code: ISO 639-1.
        name: in English.
        note: what its rules lack, or how words are found where that is not by white space; "" for nothing to say.
        boundary: matches ends of sentences; its last group, or the whole match, lies between two sentences.
    """

    boundary = _ENDS

    def __init__(self, code: str, name: str, note: str = "") -> None:
        self.code, self.name, self.note = code, name, note
        self.content_stems = lru_cache(_CACHED)(self._content_stems)

    @abstractmethod
    def words(self, text: str) -> list[str]:
        """The words of a text, as ROUGE-L and lengths count them."""

    def answer_words(self, text: str) -> list[str]:
        """The words by which exact match and F1 compare answers: normalised, without articles and punctuation.

        An answer made of nothing else ("une", as a number) keeps its words.
        """
        return self.words(text)

    @abstractmethod
    def in_place(self, text: str) -> list[Word]:
        """The words of a text where they stand."""

    def sentences(self, text: str) -> list[Span]:
        """The sentences of a text by punctuation, in order, without the white space around them; none is empty."""
        ends = [match for match in self.boundary.finditer(text) if not self.continues(match)]
        return cut(text, [match.span(match.lastindex or 0) for match in ends])

    def continues(self, match: re.Match[str]) -> bool:
        """Whether a boundary ends no sentence after all, but belongs to an abbreviation."""
        return False

    def _content_stems(self, text: str) -> frozenset[str]:
        """Distinct stems of the content words of a text."""
        return frozenset(stem for word in self.in_place(text) for stem in word.stems)


def overlap(question: frozenset[str], stems: frozenset[str]) -> float | None:
    """|question ∩ stems| / |question|: the share of a question's content stems that a text has; None without any."""
    return len(question & stems) / len(question) if question else None


def cut(text: str, gaps: Iterable[tuple[int, int]]) -> list[Span]:
    """What lies between the gaps of a text, without the white space around it; what is empty is left out."""
    cuts = [0, *(place for gap in gaps for place in gap), len(text)]
    spans = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        part = text[start:end]
        if stripped := part.strip():
            first = start + len(part) - len(part.lstrip())
            spans.append(Span(first, first + len(stripped)))
    return spans


def stop_words(code: str) -> frozenset[str]:
    """spaCy's, none where it has no list; of the file itself, since spacy.lang compiles a tokenizer for 5 seconds."""
    spacy = find_spec("spacy")
    assert spacy is not None
    assert spacy.origin is not None
    file = Path(spacy.origin).parent / "lang" / code / "stop_words.py"
    return frozenset(runpy.run_path(str(file))["STOP_WORDS"]) if file.is_file() else frozenset()


@cache
def is_punctuation(character: str) -> bool:
    """Whether Unicode calls a character punctuation, or ASCII does."""
    return unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"


def without_punctuation(text: str) -> str:
    """The text without any character of punctuation."""
    return "".join(character for character in text if not is_punctuation(character))
