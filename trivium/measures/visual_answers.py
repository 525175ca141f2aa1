"""How answers about pictures are scored by the sets that ask for them: numbers in a range, lists, ten annotators."""

import re
from collections.abc import Sequence

from trivium.measures.answers import normalize_answer

_NUMBER = re.compile(r"[-+]?\.?\d+(?:,\d{3})*(?:\.\d*)?(?:e[-+]?\d+)?", re.IGNORECASE)
_RANGE = re.compile(r"(?<=\d)-")  # a dash after a digit is no sign
_OVERLAP = 0.5
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {name: str(value) for value, name in enumerate(_DIGITS)}


def stated_numbers(text: str) -> tuple[float, float]:
    """The range that a text states: its first two numbers where they ascend, else its first number twice.

    A text without a number counts as 0, as InfoSeek's authors have it.
    """
    found = [float(each.replace(",", "")) for each in _NUMBER.findall(_RANGE.sub(" - ", text))[:2]]
    if not found:
        return 0.0, 0.0
    return (found[0], found[1]) if len(found) > 1 and found[0] <= found[1] else (found[0], found[0])


def in_range(prediction: str, right: tuple[float, float]) -> bool:
    """Whether a text's number or range lies in a range, or overlaps it by half of what both cover (InfoSeek).

    With the ranges [a, b] and [c, d]: `|[a, b] ∩ [c, d]| / |[a, b] ∪ [c, d]| ≥ ½`. A single number must lie inside.

    Args:
        prediction: what was answered.
        right: lowest and highest number that are right.
    """
    low, high = stated_numbers(prediction)
    if right[0] <= low and high <= right[1]:
        return True
    if low == high:
        return False
    shared = max(0.0, min(high, right[1]) - max(low, right[0]))
    return shared / ((high - low) + (right[1] - right[0]) - shared) >= _OVERLAP - 1e-12


def lists_match(prediction: str, reference: Sequence[str]) -> bool:
    """Whether the parts of an answer, between commas, "&" and "and", overlap those of a reference by half (E-VQA).

    `|A ∩ B| / |A ∪ B| ≥ ½` over normalised parts.
    """
    said = {words for part in re.split(r",| and | & ", prediction) if (words := normalize_answer(part))}
    right = {words for part in reference if (words := normalize_answer(part))}
    return bool(said & right) and len(said & right) / len(said | right) >= _OVERLAP


def annotators_agree(prediction: str, answers: Sequence[str]) -> float:
    """VQA's accuracy: the mean over annotators of `min(1, others who answered so / 3)` (Antol et al. 2015).

    With a of n annotators answering so: `(a · min(1, (a − 1)/3) + (n − a) · min(1, a/3)) / n`. Both are normalised as
    answers are, and numbers up to ten written with digits.
    """
    said, given = _in_digits(prediction), [_in_digits(answer) for answer in answers]
    agreeing = sum(answer == said for answer in given) if said else 0
    left_out = len(given) - agreeing
    return (agreeing * min(1.0, (agreeing - 1) / 3) + left_out * min(1.0, agreeing / 3)) / len(given)


def _in_digits(text: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in normalize_answer(text).split())
