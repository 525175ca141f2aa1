"""French answer texts: words, normalisation, exact match and F1 (complexity.md §3), and texts that hold other texts.

Offsets elsewhere count a text as it is stored; only copies are normalised here, so none moves.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from trivium.core.folding import fold

_LETTER = r"[^\W_\u0300-\u036f][\u0300-\u036f]*"  # NFC leaves a combining mark where no composed letter exists
_WORD = re.compile(f"(?:{_LETTER})+(?:'(?:{_LETTER})+)*")
_ELISION = re.compile(r"\b([cdjlmnst]|(?:jus|lors|puis|quoi|quel|pres)?qu)'(?=\w)")
_ARTICLE = re.compile(r"\b(?:l'(?=\w)|(?:les?|la|une?|des|du|aux?)\b(?!'))")


def words(text: str) -> list[str]:
    """The words of a text: runs of Unicode letters and digits, elided forms (l', d', qu', …) apart.

    An apostrophe that elides nothing stays inside its word: `l'armée d'aujourd'hui` is l, armée, d, aujourd'hui.
    """
    return _WORD.findall(_ELISION.sub(r"\1 ", fold(text).lower()))


def normalize_answer(text: str) -> str:
    """The words without articles: le, la, l', les, un, une, des, and the contracted du, au, aux.

    The French counterpart of SQuAD's normalisation, which drops a, an and the. An answer made of nothing else ("une",
    as a number) keeps its words.
    """
    kept = words(_ARTICLE.sub(" ", fold(text).lower()))
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


WORDS = 8  # of a run: two people who write about one thing seldom share so many in a row
SHARE = 0.5  # of a text's runs, from which on it counts as held by others


class KnownTexts:
    """Texts that others may hold, or be made of, by their runs of words; one with fewer words than a run is one run.

    Case, punctuation, Unicode normal form and line breaks do not count.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sizes: list[int] = []
        for number, text in enumerate(dict.fromkeys(texts)):
            runs = _runs(text)
            self._sizes.append(len(runs))
            for run in runs:
                self._holders[run].append(number)

    def overlap(self, text: str) -> bool:
        """Whether half of the text stands in known ones, whichever they are, or half of one of them stands in it."""
        runs = _runs(text)
        holders_of_runs = [holders for run in runs if (holders := self._holders.get(run))]
        if holders_of_runs and len(holders_of_runs) >= SHARE * len(runs):
            return True
        counts = Counter(number for holders in holders_of_runs for number in holders)
        return any(count >= SHARE * self._sizes[number] for number, count in counts.items())


def _runs(text: str) -> set[tuple[str, ...]]:
    sequence = words(text)
    starts = range(max(1, len(sequence) - WORDS + 1)) if sequence else ()
    return {tuple(sequence[first : first + WORDS]) for first in starts}
