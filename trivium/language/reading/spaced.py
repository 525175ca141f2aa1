"""Languages that part words by white space: all but those of `languages.py` that do not.

Answers are normalised as each language's own evaluation does it: English as SQuAD (Rajpurkar et al. 2016), French as
`measures/french.py`, every other one as MLQA (Lewis et al. 2020), which knows articles of six languages. Stems are
Snowball's where it has the language, stop words are spaCy's (the interrogatives are among them).
"""

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import snowballstemmer
import yaml

from trivium.core.folding import fold
from trivium.formats.framed_texts import Span
from trivium.language.reading.language import Language, Word, stop_words, without_punctuation
from trivium.measures import answers, french

_SPACED = re.compile(r"\S+")
_ABBREVIATION = 8  # characters of the longest, with its full stop
_RULES: dict[str, dict[str, str]] = yaml.safe_load(Path(__file__).with_name("spaced.yaml").read_text(encoding="utf-8"))
STEMMERS = _RULES["stemmers"]
"""Snowball's name of each language that it knows, by code."""


class _Letters(dict[int, int | str]):
    """A table for `str.translate` that keeps letters, digits and the marks on them, and makes spaces of the rest."""

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        self[code] = code if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        return self[code]


_LETTERS = _Letters()


def _letters(text: str) -> list[str]:
    """Runs of letters and digits in lower case; vowel signs and accents belong to their letter."""
    words = fold(text).lower().translate(_LETTERS).split()
    return [word for word in words if word.isascii() or any(map(str.isalnum, word))]


class Spaced(Language):
    """A language whose words stand between white space.

    Args:
        answer_words: of an answer, normalised; None: as MLQA. None left: its words.
        closing: quotation marks and brackets that may follow a full stop, for a language whose sentences begin with
            capitals of Latin; None: any other.
    """

    def __init__(
        self,
        code: str,
        *,
        words: Callable[[str], list[str]] = _letters,
        answer_words: Callable[[str], list[str]] | None = None,
        closing: str | None = None,
    ) -> None:
        stemmer = STEMMERS.get(code) if STEMMERS.get(code) in snowballstemmer.algorithms() else None
        self.stop_words = stop_words("nb" if code == "no" else code)
        lacks = [] if stemmer else ["no stemmer: a word has one form only"]
        lacks += [] if self.stop_words else ["no stop words: every word has content"]
        super().__init__(code, stemmer.capitalize() if stemmer else f"the language {code!r}", ", ".join(lacks))
        if closing is not None:
            # A full stop ends a sentence where a capital (no initial), a digit or a quotation follows: "av. J.-C. dans"
            # goes on.
            self.boundary = re.compile(
                rf"[.!?…](?:\s?[{closing}])*(\s+)(?![A-Z]\.)(?=[«\"'(\[¿¡„“]?\s*[A-ZÀ-ÖØ-ÞŒ0-9])|(\n+)"
            )
        articles, abbreviations = _RULES["articles"].get(code), _RULES["abbreviations"].get(code)
        self._articles = re.compile(articles) if articles else None
        self._words, self._answer_words = words, answer_words or self._as_mlqa
        self._stem: Callable[[str], str] = snowballstemmer.stemmer(stemmer).stemWord if stemmer else str
        self._nothing = self.stop_words.union(_RULES["empty_words"].get(code, "").split())
        self._goes_on = re.compile(rf"(?<![^\s(\"'])(?:{abbreviations})\.$") if abbreviations else None
        self._forms: dict[str, frozenset[str]] = {}
        self._stems: dict[str, str] = {}

    def words(self, text: str) -> list[str]:
        """Runs of letters and digits in lower case."""
        return self._words(text)

    def answer_words(self, text: str) -> list[str]:
        """The words without articles."""
        return self._answer_words(text) or self._words(text)

    def in_place(self, text: str) -> list[Word]:
        """What stands between white space."""
        return [Word(Span(*match.span()), self._of_form(match[0])) for match in _SPACED.finditer(text)]

    def continues(self, match: re.Match[str]) -> bool:
        """Whether a full stop belongs to an abbreviation."""
        if self._goes_on is None or match[0][0] != ".":
            return False
        end = match.start() + 1
        return self._goes_on.search(match.string, max(0, end - _ABBREVIATION), end) is not None

    def _as_mlqa(self, text: str) -> list[str]:
        """Lower case, without punctuation of any script, without the language's articles."""
        bare = without_punctuation(fold(text).lower())
        return (bare if self._articles is None else self._articles.sub(" ", bare)).split()

    def _of_form(self, form: str) -> frozenset[str]:
        """The stems in what stands between two spaces; a text has few different forms, and fewer different words."""
        stems = self._forms.get(form)
        if stems is None:
            kept = [word for word in self._words(form) if word not in self._nothing]
            for word in kept:
                if word not in self._stems:
                    self._stems[word] = self._stem(word)
            stems = self._forms[form] = frozenset(self._stems[word] for word in kept)
        return stems


_CLOSING = "»\"')\\]"  # what may stand behind a full stop, in a class of characters
_MORE_CLOSING = _CLOSING + "”’“"
FRENCH = Spaced(
    "fr", words=french.words, answer_words=lambda text: french.normalize_answer(text).split(), closing=_CLOSING
)
SPACED = (
    FRENCH,
    Spaced("en", answer_words=lambda text: answers.normalize_answer(fold(text)).split(), closing=_MORE_CLOSING),
    Spaced("de", closing=_MORE_CLOSING),
    Spaced("es", closing=_MORE_CLOSING),
)
