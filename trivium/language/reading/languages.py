"""Languages that do not part words by white space; and which language a question set is in.

Chinese words are jieba's; texts in Japanese, Thai, Lao, Khmer, Burmese and Tibetan are compared by their characters.
Answers of all of them are compared by characters, as MLQA (Lewis et al. 2020) does for Chinese: no segmentation moves
a score.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from trivium.core.errors import BadInput
from trivium.core.folding import fold, fold_in_place
from trivium.formats.framed_texts import Span
from trivium.language.reading.language import Language, Word, stop_words, without_punctuation
from trivium.language.reading.spaced import SPACED, STEMMERS, Spaced

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHINESE_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")


class Chinese(Language):
    """Chinese: content words are jieba's, everything else counts characters (and words in other scripts)."""

    def __init__(self) -> None:
        super().__init__("zh", "Chinese", "answers are compared by characters, content words are jieba's")
        self.stop_words = stop_words("zh")

    def words(self, text: str) -> list[str]:
        """Each Han character; words of other scripts whole."""
        return _CHINESE_WORD.findall(without_punctuation(_plain(text)))

    def in_place(self, text: str) -> list[Word]:
        """The words that jieba finds; white space and punctuation are none."""
        import rjieba  # its dictionary takes a second to load

        folded, places = fold_in_place(text)
        return [
            Word(Span(places[start][0], places[end - 1][1]), self._stem(word))
            for word, start, end in rjieba.tokenize(folded)
            if any(map(str.isalnum, word))
        ]

    def _stem(self, word: str) -> frozenset[str]:
        return frozenset() if word in self.stop_words else frozenset((_plain(word),))


class Characters(Language):
    """A language that parts no words: words are characters, content stems are pairs of neighbours."""

    def __init__(self, code: str) -> None:
        note = "its words are not parted: texts are compared by characters, content words by pairs of them"
        super().__init__(code, f"the language {code!r}", note)

    def words(self, text: str) -> list[str]:
        """Each character but white space and punctuation."""
        return [character for character in without_punctuation(_plain(text)) if not character.isspace()]

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


def _plain(text: str) -> str:
    """Compatible forms (full width, say) are one, in lower case."""
    return unicodedata.normalize("NFKC", fold(text)).lower()


LANGUAGES: dict[str, Language] = {language.code: language for language in (*SPACED, Chinese())}
"""Those with rules of their own; `STEMMERS` names more that have a stemmer."""
_SINITIC = {"wuu": "zh", "yue": "zh"}  # short Chinese texts pass for its relatives
_UNPARTED = {"bo", "dz", "ja", "km", "lo", "my", "th"}
_READ = 200  # texts that a language is told by


@cache
def language_of(code: str) -> Language:
    """A language by its code; one without rules of its own is compared by words, or by characters if it parts none."""
    if not (2 <= len(code) <= 3 and code.isascii() and code.isalpha() and code.islower()):
        choices = sorted({*LANGUAGES, *STEMMERS})
        raise BadInput("no code of a language", field="language", got=code, expected="such as en", choices=choices)
    code = _SINITIC.get(code, code)
    return LANGUAGES.get(code) or (Characters(code) if code in _UNPARTED else Spaced(code))


def detect(texts: Sequence[str]) -> tuple[Language, float]:
    """The language of most of (at most 200) texts, by py3langid, and the share of the texts that it has."""
    import py3langid  # its model takes seconds to load

    step = -(-len(texts) // _READ)
    read = texts[::step]
    counts = Counter(_SINITIC.get(code, code) for code in (py3langid.classify(text)[0] for text in read))
    code, count = counts.most_common(1)[0]
    return language_of(code), count / len(read)
