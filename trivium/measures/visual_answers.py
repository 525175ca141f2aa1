"""Answers to public sets of questions about pictures, as the authors' own code scores them (own_pictures.md).

InfoSeek: numbers in a range (`infoseek_eval.py` of edchengg/infoseek_eval). Encyclopedic-VQA: its own normalisation,
and lists (`encyclopedic_vqa/evaluation_utils.py` of google-research).
"""

import re
import string
from collections.abc import Sequence

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
    """Whether a text's number or range lies in a range, or overlaps it by half of what both cover (InfoSeek).

    With the ranges [a, b] and [c, d]: `|[a, b] ∩ [c, d]| / |[a, b] ∪ [c, d]| ≥ ½`. A single number must lie inside.

    Args:
        right: lowest and highest number that are right.
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
