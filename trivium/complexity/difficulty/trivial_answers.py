"""Answers that need no reading, to any question set: what a factor does to them comes from the measure or from words.

A factor may move a score although nobody reads: a random span hits a long answer more often. What a factor does to the
sentence that shares most words with the question is what finding words does.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from trivium.complexity.factors.free_factors import ReadText
from trivium.formats.question_sets import AskedQuestion
from trivium.language.reading.language import Language

BASELINES = {"random_span": "random spans", "best_overlap": "the sentence with most of the question’s words"}


def best_overlap_answers(
    questions: Sequence[AskedQuestion], texts: Mapping[str, ReadText], language: Language
) -> list[str]:
    """Of each question's context the sentence with most of its content stems; the first at equality."""
    answers = []
    for question in questions:
        text, asked = texts[question.context], language.content_stems(question.question)
        shared = [len(asked & stems) for stems in text.stems]
        answers.append(text.sentences[int(np.argmax(shared))].of(question.context) if shared else "")
    return answers


def random_spans(
    questions: Sequence[AskedQuestion],
    texts: Mapping[str, ReadText],
    language: Language,
    rng: np.random.Generator,
) -> list[str]:
    """Of each question's context a random span, as long as the answer to a random question of the set."""
    lengths = rng.permutation([max(1, len(language.in_place(question.answers[0]))) for question in questions])
    answers = []
    for question, length in zip(questions, lengths.tolist(), strict=True):
        words = texts[question.context].words
        length = min(length, len(words))
        first = int(rng.integers(len(words) - length + 1))
        span = words[first : first + length]
        answers.append(question.context[span[0].span.start : span[-1].span.end] if span else "")
    return answers
