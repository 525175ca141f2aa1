"""Rules of languages by which questions and answers are compared: words, content stems, sentences (docs/difficulty.md).

Texts are folded (`core/folding.py`) before they are compared; offsets count characters of the text as it is stored.

Most languages separate words by white space. Their answers are normalised as the usual evaluation of each language does
it: English as SQuAD (Rajpurkar et al. 2016), French as `measures/french.py`, the others as MLQA (Lewis et al. 2020),
which knows the articles of six languages. Stems are Snowball's where it has the language, stop words are spaCy's, which
include interrogatives.

Chinese words are jieba's; texts in Japanese, Thai, Lao, Khmer, Burmese and Tibetan are compared by characters. Answers
in all of these are compared by characters, as in MLQA for Chinese, so that no segmentation changes a score.
"""

import re
import runpy
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import snowballstemmer

from trivium.core.errors import BadInput
from trivium.core.folding import fold, fold_in_place
from trivium.core.parameters import read_beside
from trivium.formats.framed_texts import Span
from trivium.measures import answers, french

_CACHED = 1 << 16  # texts whose stems a language caches
_ENDS = re.compile(
    r"[。！？｡；](?:[”’」』）)\"']*)(\s*)|[.!?…।؟۔։][\"'»”’)\]]*(\s+)|(\n+)"  # no space is needed after the first group
)


class Word(NamedTuple):
    """The span of a word, and the stems of the content words in it (an elided article has none)."""

    span: Span
    stems: frozenset[str]


class Language(ABC):
    """Rules by which texts of one language are split and compared; `code` is that of ISO 639-1.

    `note` says what its rules lack, or how its words are found if not by white space; "" for nothing.
    """

    boundary = _ENDS  # of sentences; its last group, or the whole match, lies between two of them

    def __init__(self, code: str, name: str, note: str = "") -> None:
        self.code, self.name, self.note = code, name, note
        self.content_stems = lru_cache(_CACHED)(self._content_stems)

    @abstractmethod
    def words(self, text: str) -> list[str]:
        """Split a text into the words that ROUGE-L and lengths count."""

    def answer_words(self, text: str) -> list[str]:
        """Split an answer into the words that exact match and F1 compare: normalised, no articles, no punctuation.

        An answer made of nothing else ("une", as a number) keeps its words.
        """
        return self.words(text)

    @abstractmethod
    def in_place(self, text: str) -> list[Word]:
        """Split a text into words with their spans."""

    def sentences(self, text: str) -> list[Span]:
        """Split a text into sentences by punctuation, without the white space around them; none is empty."""
        return cut(text, [match.span(match.lastindex or 0) for match in self.ends(text)])

    def ends(self, text: str) -> Iterable[re.Match[str]]:
        """Find the ends of sentences."""
        return self.boundary.finditer(text)

    def _content_stems(self, text: str) -> frozenset[str]:
        """Collect the distinct stems of the content words of a text."""
        return frozenset(stem for word in self.in_place(text) for stem in word.stems)


def overlap(question: frozenset[str], stems: frozenset[str]) -> float | None:
    """Compute |question ∩ stems| / |question|, the share of a question's stems that a text has; None without any."""
    return len(question & stems) / len(question) if question else None


def cut(text: str, gaps: Iterable[tuple[int, int]]) -> list[Span]:
    """Return the spans between the gaps of a text, without white space around them; empty ones are left out."""
    cuts = [0, *(place for gap in gaps for place in gap), len(text)]
    spans = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=True):
        part = text[start:end]
        if stripped := part.strip():
            first = start + len(part) - len(part.lstrip())
            spans.append(Span(first, first + len(stripped)))
    return spans


def stop_words(code: str) -> frozenset[str]:
    """Read spaCy's stop words from its file (importing spacy.lang takes 5 s); empty where it has no list."""
    spacy = find_spec("spacy")
    assert spacy is not None
    assert spacy.origin is not None
    file = Path(spacy.origin).parent / "lang" / code / "stop_words.py"
    return frozenset(runpy.run_path(str(file))["STOP_WORDS"]) if file.is_file() else frozenset()


@cache
def is_punctuation(character: str) -> bool:
    """Whether a character is punctuation by Unicode or by ASCII."""
    return unicodedata.category(character)[0] == "P" or character in "$+<=>^`|~"


def without_punctuation(text: str) -> str:
    """Remove all punctuation characters from a text."""
    return "".join(character for character in text if not is_punctuation(character))


_SPACED = re.compile(r"\S+")
_ABBREVIATION = 8  # characters of the longest, with its full stop
_NEVER = r"(?!)"
_RULES: dict[str, dict[str, str]] = read_beside(__file__, "spaced.yaml")
STEMMERS = _RULES["stemmers"]
"""Language code → the name of its stemmer in Snowball."""


class _Letters(dict[int, int | str]):
    """Table for `str.translate` that keeps letters, digits and their marks, and maps all else to spaces."""

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        self[code] = code if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        return self[code]


_LETTERS = _Letters()


def _letters(text: str) -> list[str]:
    """Split a text into runs of letters and digits, in lower case; vowel signs and accents belong to their letter."""
    words = fold(text).lower().translate(_LETTERS).split()
    return [word for word in words if word.isascii() or any(map(str.isalnum, word))]


class Spaced(Language):
    """A language whose words are separated by white space.

    Answers are split by `answer_words`, else as by MLQA; where no word is left, `words` are used. `closing` are the
    quotation marks and brackets that may follow a full stop, for languages whose sentences begin with Latin capitals.
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
            # A full stop ends a sentence where a capital (no initial), a digit or a quotation follows, so that
            # "av. J.-C. dans" is not split.
            self.boundary = re.compile(
                rf"[.!?…](?:\s?[{closing}])*(\s+)(?![A-Z]\.)(?=[«\"'(\[¿¡„“]?\s*[A-ZÀ-ÖØ-ÞŒ0-9])|(\n+)"
            )
        articles, abbreviations = (_RULES[name].get(code, _NEVER) for name in ("articles", "abbreviations"))
        self._articles = re.compile(articles)
        self._words, self._answer_words = words, answer_words or self._mlqa_words
        self._stem: Callable[[str], str] = cache(snowballstemmer.stemmer(stemmer).stemWord) if stemmer else str
        self._stems_of = cache(self._stems_of_form)  # texts repeat few forms, and these fewer words
        self._content_free = self.stop_words.union(_RULES["empty_words"].get(code, "").split())
        self._abbreviation = re.compile(rf"(?<![^\s(\"'])(?:{abbreviations})\.$")

    def words(self, text: str) -> list[str]:
        """Split a text into runs of letters and digits, in lower case."""
        return self._words(text)

    def answer_words(self, text: str) -> list[str]:
        """Split an answer into words without articles."""
        return self._answer_words(text) or self._words(text)

    def in_place(self, text: str) -> list[Word]:
        """Split a text at white space."""
        return [Word(Span(*match.span()), self._stems_of(match[0])) for match in _SPACED.finditer(text)]

    def ends(self, text: str) -> Iterable[re.Match[str]]:
        """Find the ends of sentences; the full stop of an abbreviation is none."""
        for match in self.boundary.finditer(text):
            end = match.start() + 1
            if match[0][0] != "." or not self._abbreviation.search(text, max(0, end - _ABBREVIATION), end):
                yield match

    def _mlqa_words(self, text: str) -> list[str]:
        """Split as MLQA: lower case, no punctuation of any script, none of the language's articles."""
        return self._articles.sub(" ", without_punctuation(fold(text).lower())).split()

    def _stems_of_form(self, form: str) -> frozenset[str]:
        """Stem the content words of one token."""
        return frozenset(self._stem(word) for word in self._words(form) if word not in self._content_free)


_CLOSING = "»\"')\\]"  # what may follow a full stop; part of a character class
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


_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHINESE_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")


class Chinese(Language):
    """Chinese: content words are jieba's; all else counts characters, and words of other scripts."""

    def __init__(self) -> None:
        super().__init__("zh", "Chinese", "answers are compared by characters, content words are jieba's")
        self.stop_words = stop_words("zh")

    def words(self, text: str) -> list[str]:
        """Split a text into Han characters and words of other scripts."""
        return _CHINESE_WORD.findall(without_punctuation(_normalize(text)))

    def in_place(self, text: str) -> list[Word]:
        """Split a text by jieba; white space and punctuation are left out."""
        import rjieba  # its dictionary takes a second to load

        folded, places = fold_in_place(text)
        return [
            Word(Span(places[start][0], places[end - 1][1]), self._stem(word))
            for word, start, end in rjieba.tokenize(folded)
            if any(map(str.isalnum, word))
        ]

    def _stem(self, word: str) -> frozenset[str]:
        return frozenset() if word in self.stop_words else frozenset((_normalize(word),))


class Characters(Language):
    """A language written without spaces: words are characters, content stems are pairs of adjacent characters."""

    def __init__(self, code: str) -> None:
        note = "its words are not separated: texts are compared by characters, content words by pairs of them"
        super().__init__(code, f"the language {code!r}", note)

    def words(self, text: str) -> list[str]:
        """Split a text into characters, without white space and punctuation."""
        return [character for character in without_punctuation(_normalize(text)) if not character.isspace()]

    def in_place(self, text: str) -> list[Word]:
        """Split a text into letters and digits, each with the pair that it begins."""
        folded, places = fold_in_place(text)
        words = []
        for place, character in enumerate(folded):
            if character.isalnum():
                after = folded[place + 1 : place + 2]
                stems = frozenset((_normalize(character + after),)) if after.isalnum() else frozenset[str]()
                words.append(Word(Span(*places[place]), stems))
        return words


def _normalize(text: str) -> str:
    """Normalise a text to NFKC (full width becomes normal width) and lower case."""
    return unicodedata.normalize("NFKC", fold(text)).lower()


LANGUAGES: dict[str, Language] = {language.code: language for language in (*SPACED, Chinese())}
"""Languages with rules of their own, by code; `STEMMERS` has more that only have a stemmer."""
_SINITIC = {"wuu": "zh", "yue": "zh"}  # short Chinese texts are often classified as these
_UNSEPARATED = {"bo", "dz", "ja", "km", "lo", "my", "th"}
_READ = 200  # texts that are classified to detect a language


@cache
def language_of(code: str) -> Language:
    """Return a language by its code; `BadInput` for no code. Without rules of its own, words or characters count."""
    if not (2 <= len(code) <= 3 and code.isascii() and code.isalpha() and code.islower()):
        choices = sorted({*LANGUAGES, *STEMMERS})
        raise BadInput("not a language's code", field="language", got=code, expected="such as en", choices=choices)
    code = _SINITIC.get(code, code)
    return LANGUAGES.get(code) or (Characters(code) if code in _UNSEPARATED else Spaced(code))


def detect(texts: Sequence[str]) -> tuple[Language, float]:
    """Detect the most frequent language of (at most 200) texts by py3langid; returns also its share of them."""
    import py3langid  # its model takes seconds to load

    step = -(-len(texts) // _READ)
    read = texts[::step]
    counts = Counter(_SINITIC.get(code, code) for code in (py3langid.classify(text)[0] for text in read))
    code, count = counts.most_common(1)[0]
    return language_of(code), count / len(read)
