"""Answers without reading, in several languages."""

import numpy as np

from tests.complexity.difficulty.asked import english_set, question
from trivium.complexity.difficulty.scores import best_overlap_answers, random_spans
from trivium.complexity.factors.free_factors import read_text
from trivium.complexity.systems import best_overlap_sentence
from trivium.language.languages import LANGUAGES


def read(questions, language):
    return {each.context: read_text(each.context, language) for each in questions}


def test_the_french_sentence_is_that_of_the_papers_baseline():
    text = "Le roi fuit. L'armée attaqua la ville en 1915 ! « Où est le fort ? » Les armées quittèrent les villes."
    asked = [
        question(str(n), text, each, "fort") for n, each in enumerate(("Quelle armée attaqua ?", "Qui ?", "Le fort ?"))
    ]
    found = best_overlap_answers(asked, read(asked, LANGUAGES["fr"]), LANGUAGES["fr"])
    assert found == [best_overlap_sentence(each.question, each.context) for each in asked]


def test_the_chinese_sentence_with_most_words():
    asked = [question("q", "商人离开了港口。国王住在北京。", "国王住在哪里？", "北京")]
    assert best_overlap_answers(asked, read(asked, LANGUAGES["zh"]), LANGUAGES["zh"]) == ["国王住在北京。"]


def test_random_spans_are_stretches_as_long_as_the_sets_answers():
    questions, english = english_set().questions, LANGUAGES["en"]
    texts = read(questions, english)
    drawn = [random_spans(questions, texts, english, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(span in each.context for span, each in zip(drawn[0], questions, strict=True))
    assert sorted(len(span.split()) for span in drawn[0]) == sorted(len(each.answers[0].split()) for each in questions)
    places = {each.context.index(span) > len(each.context) / 2 for span, each in zip(drawn[0], questions, strict=True)}
    assert places == {True, False}


def test_a_text_without_words_has_an_empty_answer():
    asked = [question("q", " ", "Who?", "x")]
    english = LANGUAGES["en"]
    assert best_overlap_answers(asked, read(asked, english), english) == [""]
    assert random_spans(asked, read(asked, english), english, np.random.default_rng(0)) == [""]
