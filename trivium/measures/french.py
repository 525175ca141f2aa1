"""French answer texts: words, normalisation, exact match and F1 (complexity.md §3).

Offsets elsewhere count a text as it is stored; only copies are normalised here, so none moves.
"""

import re
import unicodedata
from collections import Counter

_UNIFIED = str.maketrans(
    {
        **dict.fromkeys("\u2019\u2018\u02bc\u2032\uff07\u00b4`", "'"),  # typographic apostrophes and their stand-ins
        **dict.fromkeys("\u00a0\u202f\u2007\u2009", " "),  # non-breaking and thin spaces
        **dict.fromkeys("\u00ad\u200b\u2060\ufeff"),  # soft hyphens and characters of no width
    }
)
_LETTER = r"[^\W_\u0300-\u036f][\u0300-\u036f]*"  # NFC leaves a combining mark where no composed letter exists
_WORD = re.compile(f"(?:{_LETTER})+(?:'(?:{_LETTER})+)*")
_ELISION = re.compile(r"\b([cdjlmnst]|(?:jus|lors|puis|quoi|quel|pres)?qu)'(?=\w)")
_ARTICLE = re.compile(r"\b(?:l'(?=\w)|(?:les?|la|une?|des|du|aux?)\b(?!'))")


def unify(text: str) -> str:
    """NFC, lower case, one apostrophe, one space; soft hyphens and characters of no width are gone."""
    return unicodedata.normalize("NFC", text.translate(_UNIFIED)).lower()


def words(text: str) -> list[str]:
    """The words of a text: runs of Unicode letters and digits, elided forms (l', d', qu', …) apart.

    An apostrophe that elides nothing stays inside its word: `l'armée d'aujourd'hui` is l, armée, d, aujourd'hui.
    """
    return _WORD.findall(_ELISION.sub(r"\1 ", unify(text)))


def normalize_answer(text: str) -> str:
    """The words without articles: le, la, l', les, un, une, des, and the contracted du, au, aux.

    The French counterpart of SQuAD's normalisation, which drops a, an and the. An answer made of nothing else ("une",
    as a number) keeps its words.
    """
    kept = words(_ARTICLE.sub(" ", unify(text)))
    return " ".join(kept or words(text))


def exact_match(prediction: str, answer: str) -> bool:
    """Whether both are the same once normalised; an answer without any word matches nothing."""
    expected = normalize_answer(answer)
    return bool(expected) and normalize_answer(prediction) == expected


def f1(prediction: str, answer: str) -> float:
    """`2c / (|prediction| + |answer|)` with c common normalised words, counted as multisets; in [0, 1]."""
    predicted, expected = (Counter(normalize_answer(text).split()) for text in (prediction, answer))
    total = predicted.total() + expected.total()
    return 2 * (predicted & expected).total() / total if total else 0.0
