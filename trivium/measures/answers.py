"""Answer texts: normalisation, exact match, F1, and whether a passage contains an answer (kvqae.md §6)."""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable

_PUNCTUATION = frozenset(string.punctuation)
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(r"\S+")


def normalize_answer(text: str) -> str:
    """Lower case, ASCII punctuation and the articles a, an, the removed, white space collapsed.

    The normalisation of SQuAD's and KILT's evaluation (Rajpurkar et al. 2016), in their order.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def is_matchable(answer: str) -> bool:
    """Whether anything but punctuation is left of an answer once normalised; "The" and "—" would match everywhere."""
    return any(unicodedata.category(character)[0] != "P" for character in normalize_answer(answer).replace(" ", ""))


def _normalize_all(answers: Iterable[str]) -> list[str]:
    """Distinct normalised answers; those that can match nothing are left out."""
    return list(dict.fromkeys(normalize_answer(answer) for answer in answers if is_matchable(answer)))


def exact_match(prediction: str, answers: Iterable[str]) -> bool:
    """Whether the prediction equals one of the answers once both are normalised."""
    return normalize_answer(prediction) in _normalize_all(answers)


def f1(prediction: str, answers: Iterable[str]) -> float:
    """Best F1 over the answers, on multisets of normalised words, in [0, 1].

    With c common words, `P = c / |prediction|`, `R = c / |answer|`, `F1 = 2PR / (P + R) = 2c / (|prediction| +
    |answer|)`; 0 when nothing is common or there is no answer.
    """
    predicted = Counter(normalize_answer(prediction).split())
    best = 0.0
    for answer in _normalize_all(answers):
        expected = Counter(answer.split())
        common = (predicted & expected).total()
        best = max(best, 2 * common / (predicted.total() + expected.total()))
    return best


class AnswerMatcher:
    """Finds any of a question's answers in texts, both normalised, at word boundaries.

    An answer that is not `is_matchable` never matches. Normalise a text once when several questions look at it, and
    use `matches_normalized`.
    """

    def __init__(self, answers: Iterable[str]) -> None:
        self._all = tuple(sorted(_normalize_all(answers), key=len))
        # A text that contains an alias contains every alias inside it: only those without another inside decide.
        shortest: list[str] = []
        for answer in self._all:
            if not any(_contains(answer, shorter) for shorter in shortest):
                shortest.append(answer)
        self._shortest = tuple(shortest)

    def matches(self, text: str) -> bool:
        """Whether the text contains an answer."""
        return self.matches_normalized(normalize_answer(text))

    def matches_normalized(self, text: str) -> bool:
        """The same for a text that went through `normalize_answer` already."""
        return any(_contains(text, answer) for answer in self._shortest)

    def positions(self, text: str) -> list[tuple[int, int]]:
        """Every occurrence of an answer as (start, end) characters of the text as given, sorted, end exclusive."""
        lowered = text.lower()
        origin = [index for index, character in enumerate(text) for _ in character.lower()]  # "İ" lowers to two
        kept = [index for index, character in enumerate(lowered) if character not in _PUNCTUATION]
        bare = _ARTICLES.sub(lambda article: " " * len(article[0]), "".join(lowered[index] for index in kept))
        words = list(_WORD.finditer(bare))
        normalized = " ".join(word[0] for word in words)
        # Position in `bare` of each character of `normalized`; a joining space stands for the end of its word.
        source = [index for word in words for index in range(word.start(), word.end() + 1)]
        spans = set()
        for answer in self._all:
            for start in _occurrences(normalized, answer):
                first, last = source[start], source[start + len(answer) - 1]
                spans.add((origin[kept[first]], origin[kept[last]] + 1))
        return sorted(spans)


def _occurrences(text: str, answer: str) -> Iterable[int]:
    """Starts of `answer` in `text` where neither neighbour is a letter or digit."""
    start = text.find(answer)
    while start != -1:
        end = start + len(answer)
        if not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            yield start
        start = text.find(answer, start + 1)


def _contains(text: str, answer: str) -> bool:
    return answer in text and any(True for _ in _occurrences(text, answer))
