"""Languages that part words by white space: French, English, German and Spanish.

Answers are normalised as each language's own evaluation does it: English as SQuAD (Rajpurkar et al. 2016), German and
Spanish as MLQA (Lewis et al. 2020), French as `measures/french.py`. Stems are Snowball's, stop words are spaCy's (the
interrogatives are among them).
"""

import re
from collections.abc import Callable

import snowballstemmer

from trivium.core.folding import fold
from trivium.formats.framed_texts import Span
from trivium.language.reading.language import Language, Word, cut, stop_words, without_punctuation
from trivium.measures import answers, french

_SPACED = re.compile(r"\S+")
_LETTER = r"[^\W_][\u0300-\u036f]*"  # NFC leaves a combining mark where no composed letter exists
_WORD = re.compile(f"(?:{_LETTER})+")
_CLOSING = "»\"')\\]"  # what may stand behind a full stop, in a class of characters
_MORE_CLOSING = _CLOSING + "”’“"
_ELIDED = frozenset(
    ["c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "quelqu", "presqu"]
)
_CONTRACTED = frozenset(
    ["s", "t", "d", "m", "ll", "re", "ve", "don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven",
     "hadn", "won", "wouldn", "couldn", "shouldn", "mustn"]
)  # fmt: skip
_ABBREVIATION = 8  # characters of the longest, with its full stop
_GERMAN = re.compile(r"\b(?:ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b")
_SPANISH = re.compile(r"\b(?:un|una|unos|unas|el|la|los|las)\b")


class Spaced(Language):
    """A language whose words stand between white space.

    Args:
        code, name: of the language.
        words: of a text.
        answer_words: of an answer, normalised; none left: its words.
        stemmer: Snowball's name of the language.
        nothing: words without content beside spaCy's stop words.
        goes_on: what stands before a full stop that ends no sentence, as a regular expression; "" for none.
        closing: quotation marks and brackets that may follow a full stop.
    """

    def __init__(
        self,
        code: str,
        name: str,
        *,
        words: Callable[[str], list[str]],
        answer_words: Callable[[str], list[str]],
        stemmer: str,
        nothing: frozenset[str] = frozenset(),
        goes_on: str = "",
        closing: str = _MORE_CLOSING,
    ) -> None:
        super().__init__(code, name)
        # A full stop ends a sentence where a capital (no initial), a digit or a quotation follows: "av. J.-C. dans"
        # goes on.
        self._boundary = re.compile(
            rf"[.!?…](?:\s?[{closing}])*(\s+)(?![A-Z]\.)(?=[«\"'(\[¿¡„“]?\s*[A-ZÀ-ÖØ-ÞŒ0-9])|(\n+)"
        )
        self._words, self._answer_words = words, answer_words
        self._stemmer = snowballstemmer.stemmer(stemmer)
        self.stop_words = stop_words(code)
        self._nothing = self.stop_words | nothing
        self._goes_on = re.compile(rf"(?<![^\s(\"'])(?:{goes_on})\.$") if goes_on else None
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

    def sentences(self, text: str) -> list[Span]:
        """Cut at full stops and line breaks."""
        gaps = [
            match.span(match.lastindex or 0) for match in self._boundary.finditer(text) if not self._continues(match)
        ]
        return cut(text, gaps)

    def _continues(self, match: re.Match[str]) -> bool:
        """Whether a full stop belongs to an abbreviation."""
        if self._goes_on is None or match[0][0] != ".":
            return False
        end = match.start() + 1
        return self._goes_on.search(match.string, max(0, end - _ABBREVIATION), end) is not None

    def _of_form(self, form: str) -> frozenset[str]:
        """The stems in what stands between two spaces; a text has few different forms, and fewer different words."""
        stems = self._forms.get(form)
        if stems is None:
            kept = [word for word in self._words(form) if word not in self._nothing]
            for word in kept:
                if word not in self._stems:
                    self._stems[word] = self._stemmer.stemWord(word)
            stems = self._forms[form] = frozenset(self._stems[word] for word in kept)
        return stems


def _letters(text: str) -> list[str]:
    return _WORD.findall(fold(text).lower())


def _as_mlqa(articles: re.Pattern[str]) -> Callable[[str], list[str]]:
    """Lower case, without punctuation of any script, without these articles."""

    def answer_words(text: str) -> list[str]:
        bare = without_punctuation(fold(text).lower())
        return articles.sub(" ", bare).split()

    return answer_words


_INITIAL = r"[A-Z]"
FRENCH = Spaced(
    "fr",
    "French",
    words=french.words,
    answer_words=lambda text: french.normalize_answer(text).split(),
    stemmer="french",
    nothing=_ELIDED,
    closing=_CLOSING,
)
SPACED = (
    FRENCH,
    Spaced(
        "en",
        "English",
        words=_letters,
        answer_words=lambda text: answers.normalize_answer(fold(text)).split(),
        stemmer="english",
        nothing=_CONTRACTED,
        goes_on=rf"{_INITIAL}|Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Col|Capt|Lt|Sgt|St|Mt|Jr|Sr|No|Nos|vs|ca|c|Vol|Fig|U\.S|U\.K",
    ),
    Spaced(
        "de",
        "German",
        words=_letters,
        answer_words=_as_mlqa(_GERMAN),
        stemmer="german",
        goes_on=rf"[0-9]{{1,2}}|[IVXL]+|{_INITIAL}|Dr|Prof|St|Nr|Hl|bzw|ca|vgl|Abb|Bd|z\.\s?B|d\.\s?h|u\.\s?a",
    ),
    Spaced(
        "es",
        "Spanish",
        words=_letters,
        answer_words=_as_mlqa(_SPANISH),
        stemmer="spanish",
        goes_on=rf"{_INITIAL}|Sr|Sra|Srta|Dr|Dra|D|Dña|Prof|Sto|Sta|Ud|Uds|No|núm|pág|EE",
    ),
)
