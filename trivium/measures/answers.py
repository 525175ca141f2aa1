"""Answer texts: normalisation, exact match, F1, and whether a passage contains an answer (kvqae.md §6).

Answers to two public sets about pictures are scored as their authors' code does (own_pictures.md): InfoSeek's ranges of
numbers (`infoseek_eval.py` of edchengg/infoseek_eval), and Encyclopedic-VQA's normalisation and lists
(`encyclopedic_vqa/evaluation_utils.py` of google-research).
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

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
        self._answers = tuple(sorted(_normalize_all(answers), key=len))

    def matches(self, text: str) -> bool:
        """Whether the text contains an answer."""
        return self.matches_normalized(normalize_answer(text))

    def matches_normalized(self, text: str) -> bool:
        """Whether a text that went through `normalize_answer` already contains one."""
        return any(True for answer in self._answers for _ in _occurrences(text, answer))

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
        for answer in self._answers:
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


_NUMBER = re.compile(r"[-+]?\.?\d+(?:,\d{3})*\.?\d*(?:e[-+]?\d+)?", re.IGNORECASE)
_RANGE = re.compile(r"(?<=\d)-")  # a dash after a digit is no sign
_OVERLAP = 0.5
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {name: str(value) for value, name in enumerate(_DIGITS)}
_SAME = _WORDS | {"none": "0", "entailment": "yes", "true": "yes", "contradiction": "no", "false": "no"}
_MARKS = frozenset(string.punctuation + "\u2018\u2019\u00b4")
_FILLERS = re.compile(r"\b(?:the answer is|a|an|the)\b")
_SPAN = "<extra_id_0> "  # before what T5 fills in


def stated_numbers(text: str) -> tuple[float, float]:
    """The range that a text states: its first two numbers where they ascend, else its first number twice.

    A text without a number counts as 0, and a point before a number as the end of a sentence, as InfoSeek's authors
    have it: ".5" states 5.
    """
    written = [number.replace(",", "").strip(".") for number in _NUMBER.findall(_RANGE.sub(" - ", text))[:2]]
    numbers = [float(number if number.count(".") < 2 else number.rpartition(".")[0]) for number in written]
    if not numbers:
        return 0.0, 0.0
    return (numbers[0], numbers[1]) if len(numbers) > 1 and numbers[0] <= numbers[1] else (numbers[0], numbers[0])


def in_range(prediction: str, right: tuple[float, float]) -> bool:
    """Whether a text's number or range lies in a range, lowest and highest, or overlaps it by half (InfoSeek).

    With the ranges [a, b] and [c, d]: `|[a, b] ∩ [c, d]| / |[a, b] ∪ [c, d]| ≥ ½`. A single number must lie inside.
    """
    low, high = stated_numbers(prediction)
    if right[0] <= low and high <= right[1]:
        return True
    if low == high:
        return False
    shared = max(0.0, min(high, right[1]) - max(low, right[0]))
    return shared / ((high - low) + (right[1] - right[0]) - shared) >= _OVERLAP - 1e-12


def normalize_encyclopedic(text: str) -> str:
    """Lower case, no punctuation, no articles, no "the answer is", numbers up to ten and yes or no in one form (E-VQA).

    The contractions that the authors write with an apostrophe stay without: both sides lose it, and nothing else falls
    together.
    """
    text = text.lower().replace("\n", " ").replace("\t", " ").strip()
    text = text.replace(_SPAN, "") if text.startswith(_SPAN) else text
    bare = "".join(character for character in text if character not in _MARKS)
    return " ".join(_SAME.get(word, word) for word in _FILLERS.sub(" ", bare).split())


def matches_encyclopedic(prediction: str, reference: str) -> bool:
    """Whether an answer equals a reference once both are normalised as Encyclopedic-VQA does."""
    right = normalize_encyclopedic(reference)
    return bool(right) and normalize_encyclopedic(prediction) == right


def lists_match(prediction: str, reference: Sequence[str]) -> bool:
    """Whether the parts of an answer, between commas, "&" and "and", overlap those of a reference by half (E-VQA).

    `|A ∩ B| / |A ∪ B| ≥ ½` over normalised parts.
    """
    parts = prediction.replace(" and ", ",").replace(" & ", ",").split(",")
    said = {words for part in parts if (words := normalize_encyclopedic(part))}
    right = {words for part in reference if (words := normalize_encyclopedic(part))}
    return bool(said & right) and len(said & right) / len(said | right) >= _OVERLAP
