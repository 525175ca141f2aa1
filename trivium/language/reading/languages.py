"""The languages that are known, and which of them a question set is in."""

from collections import Counter
from collections.abc import Sequence

from trivium.core.errors import BadInput
from trivium.language.reading.language import Language
from trivium.language.reading.spaced import SPACED
from trivium.language.reading.unspaced import Characters, Chinese

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
