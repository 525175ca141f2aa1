"""The languages that are known, and which of them a question set is in.

Those that do not part words by white space stand here: Chinese, whose words jieba finds, and any other language, which
is compared by its characters. Answers of either are compared by characters, as MLQA (Lewis et al. 2020) does for
Chinese: no segmentation moves a score.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from trivium.core.errors import BadInput
from trivium.core.folding import fold, fold_in_place
from trivium.formats.framed_texts import Span
from trivium.language.reading.language import Language, Word, cut, stop_words, without_punctuation
from trivium.language.reading.spaced import SPACED

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHINESE_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")
_ENDS = re.compile(
    r"[。！？｡；](?:[”’」』）)\"']*)(\s*)|[.!?…।؟۔][\"'»”’)\]]*(\s+)|(\n+)"  # the first need no space behind them
)


class Chinese(Language):
    """Chinese: content words are jieba's, everything else counts characters (and words in other scripts)."""

    def __init__(self) -> None:
        super().__init__("zh", "Chinese", "answers are compared by characters, content words are jieba's")
        self.stop_words = stop_words("zh")

    def words(self, text: str) -> list[str]:
        """Each Han character; words of other scripts whole."""
        return _CHINESE_WORD.findall(without_punctuation(_plain(text)))

    def answer_words(self, text: str) -> list[str]:
        """The same: Chinese has no articles."""
        return self.words(text)

    def in_place(self, text: str) -> list[Word]:
        """The words that jieba finds; white space and punctuation are none."""
        import rjieba  # its dictionary takes a second to load

        folded, places = fold_in_place(text)
        return [
            Word(Span(places[start][0], places[end - 1][1]), self._stem(word))
            for word, start, end in rjieba.tokenize(folded)
            if any(map(str.isalnum, word))
        ]

    def sentences(self, text: str) -> list[Span]:
        """Cut at full stops of either width and at line breaks."""
        return _sentences(text)

    def _stem(self, word: str) -> frozenset[str]:
        return frozenset() if word in self.stop_words else frozenset((_plain(word),))


class Characters(Language):
    """A language without rules of its own here: words are characters, content stems are pairs of neighbours."""

    def __init__(self, code: str) -> None:
        note = "no rules for this language: texts are compared by characters, content words by pairs of them"
        super().__init__(code, f"the language {code!r}", note)

    def words(self, text: str) -> list[str]:
        """Each character but white space and punctuation."""
        return [each for each in without_punctuation(_plain(text)) if not each.isspace()]

    def answer_words(self, text: str) -> list[str]:
        """The same: no articles are known."""
        return self.words(text)

    def in_place(self, text: str) -> list[Word]:
        """Each letter or digit, with the pair that it begins."""
        folded, places = fold_in_place(text)
        words = []
        for place, character in enumerate(folded):
            if character.isalnum():
                after = folded[place + 1 : place + 2]
                stems = frozenset((_plain(character + after),)) if after.isalnum() else frozenset[str]()
                words.append(Word(Span(*places[place]), stems))
        return words

    def sentences(self, text: str) -> list[Span]:
        """Cut at full stops of many scripts and at line breaks."""
        return _sentences(text)


def _plain(text: str) -> str:
    """Compatible forms (full width, say) are one, in lower case."""
    return unicodedata.normalize("NFKC", fold(text)).lower()


def _sentences(text: str) -> list[Span]:
    return cut(text, [match.span(match.lastindex or 0) for match in _ENDS.finditer(text)])


LANGUAGES: dict[str, Language] = {each.code: each for each in (*SPACED, Chinese())}
_SINITIC = {"zh": "zh", "wuu": "zh", "yue": "zh"}  # short Chinese texts pass for its relatives
_READ = 200  # texts that a language is told by


def language_of(code: str) -> Language:
    """A language by its code; one without rules of its own is compared by characters.

    Raises:
        BadInput: no code of ISO 639.
    """
    if not (2 <= len(code) <= 3 and code.isascii() and code.isalpha() and code.islower()):
        raise BadInput("no code of a language", field="language", got=code, expected="such as en", choices=LANGUAGES)
    return LANGUAGES.get(code) or Characters(code)


def detect(texts: Sequence[str]) -> tuple[Language, float]:
    """The language of most texts, by py3langid, and the share of the texts that it has.

    Args:
        texts: at least one; at most 200 of them are read, spread evenly.
    """
    import py3langid  # its model takes seconds to load

    step = -(-len(texts) // _READ)
    read = texts[::step]
    found = Counter(_SINITIC.get(code, code) for code in (py3langid.classify(text)[0] for text in read))
    code, count = found.most_common(1)[0]
    return language_of(code), count / len(read)
