"""Exact match, F1 and ROUGE-L of many answers in any language, and answers that need no reading.

Each answer has its best score over the reference answers. With c the words that an answer of n shares with a reference
of m, as multisets, and LCS their longest common subsequence: `F1 = 2c / (n + m)`, `P = LCS / n`, `R = LCS / m`,
`ROUGE-L = 2PR / (P + R)`.

A factor may change a score without any reading: a random span matches a long answer more often. Its effect on the
sentence that shares most words with the question is the effect of matching words.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.factors.free_factors import ReadText
from trivium.complexity.systems import random_span
from trivium.formats.question_sets import AskedQuestion
from trivium.language.languages import FRENCH, Language

Words = Callable[[str], Sequence[str]]
Score = Callable[[Sequence[str], Sequence[str]], float]  # of the words of an answer, some, and of a reference
_CACHED = 1 << 17  # references and answers whose words are remembered
_PAPER = re.compile("[a-z0-9]+")


def measures_of(
    questions: Sequence[AskedQuestion], language: Language
) -> dict[str, Callable[[Sequence[str]], NDArray[np.float64]]]:
    """The measures of answers to these questions, by name; an answer without any word scores 0.

    `exact_match` and `f1` compare normalised words (a reference without any matches nothing), `rouge_l` all words;
    `rouge_l_paper`, for French only, those of the paper's tokenizer, which knows [a-z0-9] only (complexity.md §3).
    """
    kept = lru_cache(_CACHED)
    words, answer_words = (
        kept(lambda text, cut=cut: tuple(cut(text))) for cut in (language.words, language.answer_words)
    )
    measures: dict[str, tuple[Words, Score]] = {
        "exact_match": (answer_words, lambda answer, reference: float(answer == reference)),
        "f1": (answer_words, _f1),
        "rouge_l": (words, _rouge_l),
    }
    if language is FRENCH:
        measures["rouge_l_paper"] = kept(lambda text: tuple(_PAPER.findall(text.lower()))), _rouge_l

    def score_best(answers: Sequence[str], *, words: Words, score: Score) -> NDArray[np.float64]:
        values = np.zeros(len(answers))
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True)):
            if answer_words := words(answer):
                values[place] = max(score(answer_words, words(text)) for text in question.answers)
        return values

    return {name: partial(score_best, words=words, score=score) for name, (words, score) in measures.items()}


def _f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = len(answer) if answer == reference else (Counter(answer) & Counter(reference)).total()
    return 2 * common / (len(answer) + len(reference))


def _rouge_l(answer: Sequence[str], reference: Sequence[str]) -> float:
    common = LCSseq.similarity(answer, reference)
    if not common:
        return 0.0
    precision, recall = common / len(answer), common / len(reference)
    return 2 * precision * recall / (precision + recall)


BASELINES = {"random_span": "random spans", "best_overlap": "the sentence with most of the question’s words"}


def best_overlap_answers(
    questions: Sequence[AskedQuestion], texts: Mapping[str, ReadText], language: Language
) -> list[str]:
    """The sentence of each question's context with most of its content stems; the first at equality."""
    answers = []
    for question in questions:
        text, question_stems = texts[question.context], language.content_stems(question.question)
        shared = [len(question_stems & stems) for stems in text.stems]
        answers.append(text.sentences[int(np.argmax(shared))].of(question.context) if shared else "")
    return answers


def random_spans(
    questions: Sequence[AskedQuestion], texts: Mapping[str, ReadText], language: Language, rng: np.random.Generator
) -> list[str]:
    """A random span of each question's context, as long as the answer to a random question of the set."""
    lengths = rng.permutation([max(1, len(language.in_place(question.answers[0]))) for question in questions])
    return [
        random_span(question.context, texts[question.context].words, length, rng)
        for question, length in zip(questions, lengths.tolist(), strict=True)
    ]


def score_models(
    questions: Sequence[AskedQuestion], texts: Mapping[str, Sequence[str]], language: Language
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """(questions,) scores by measure and model."""
    measures = measures_of(questions, language)
    return {name: {model: score(answers) for model, answers in texts.items()} for name, score in measures.items()}


def score_baselines(
    questions: Sequence[AskedQuestion], texts: Mapping[str, ReadText], language: Language, settings: DifficultySettings
) -> dict[str, NDArray[np.float64]]:
    """(questions,) scores by name of BASELINES, by the measure that is analysed."""
    score = measures_of(questions, language)[settings.judge]
    rng = np.random.default_rng(settings.seed)
    draws = [score(random_spans(questions, texts, language, rng)) for _ in range(settings.draws)]
    sentences = score(best_overlap_answers(questions, texts, language))
    return {"random_span": np.mean(draws, axis=0), "best_overlap": sentences}
