"""Exact match, F1 and ROUGE-L of many answers in any language; each answer's best over the reference answers.

With c the words that an answer of n shares with a reference of m, as multisets, and LCS their longest common
subsequence: `F1 = 2c / (n + m)`, `P = LCS / n`, `R = LCS / m`, `ROUGE-L = 2PR / (P + R)`.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from trivium.formats.question_sets import AskedQuestion
from trivium.language.reading.language import Language

Words = Callable[[str], Sequence[str]]
_CACHED = 1 << 17  # references and answers whose words are remembered


class Scorer:
    """Scores answers to the questions of one set.

    Args:
        questions: each with at least one answer.
        language: of the set.
    """

    def __init__(self, questions: Sequence[AskedQuestion], language: Language) -> None:
        self._questions = questions
        self._words: Words = lru_cache(_CACHED)(lambda text: tuple(language.words(text)))
        self._answer_words: Words = lru_cache(_CACHED)(lambda text: tuple(language.answer_words(text)))

    def exact_match(self, answers: Sequence[str]) -> NDArray[np.float64]:
        """1 where the normalised words are those of a reference; a reference without any matches nothing."""
        return self._best(answers, self._answer_words, lambda answer, reference: float(answer == reference != ()))

    def f1(self, answers: Sequence[str]) -> NDArray[np.float64]:
        """F1 on multisets of normalised words."""
        return self._best(answers, self._answer_words, _f1)

    def rouge_l(self, answers: Sequence[str]) -> NDArray[np.float64]:
        """ROUGE-L F on words."""
        return self._best(answers, self._words, _rouge_l)

    def rouge_l_paper(self, answers: Sequence[str]) -> NDArray[np.float64]:
        """ROUGE-L F as the paper's tokenizer has it, which knows [a-z0-9] only (complexity.md §3)."""
        return self._best(answers, lambda text: tuple(_PAPER.findall(text.lower())), _rouge_l)

    def _best(
        self, answers: Sequence[str], words: Words, score: Callable[[Sequence[str], Sequence[str]], float]
    ) -> NDArray[np.float64]:
        values = np.zeros(len(answers))
        for place, (question, answer) in enumerate(zip(self._questions, answers, strict=True)):
            given = words(answer)
            if given:
                values[place] = max(score(given, words(text)) for text in question.answers)
        return values


_PAPER = re.compile("[a-z0-9]+")


def _f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = len(answer) if answer == reference else (Counter(answer) & Counter(reference)).total()
    return 2 * common / (len(answer) + len(reference))


def _rouge_l(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = LCSseq.similarity(answer, reference)
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)
