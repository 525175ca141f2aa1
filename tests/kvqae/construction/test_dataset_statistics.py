"""ViQuAE's figures, by hand on six questions."""

import pytest

from trivium.formats.questions import Question
from trivium.kvqae.construction.rebuilding import dataset_statistics


def question(number, text, answer, image, entity):
    return Question(f"q{number}", text, (answer,), answer, image, entity)


def test_by_hand():
    splits = {
        "train": [question(0, "Who is this man?", "Rome", "a", "Q1"), question(1, "Who is this?", "Turin", "b", "Q2")],
        "validation": [question(2, "Where is “this” man's ship?", "Rome", "a", "Q1")],
        "test": [
            question(3, "Who is he?", "Rome", "c", "Q1"),
            question(4, "Who is - he?", "rome", "d", "Q3"),
            question(5, "Who?", "Bari", "d", "Q4"),
        ],
    }
    assert dataset_statistics(splits, {"Q1", "Q3", "Q9"}) == {
        "questions": 6,
        "questions_train": 2,
        "questions_validation": 1,
        "questions_test": 3,
        "images": 4,
        "entities": 4,
        "words_mean": pytest.approx((4 + 3 + 5 + 3 + 3 + 1) / 6),
        "vocabulary": 8,  # who is this man where man's ship he
        "most_frequent_answer_share": 3 / 6,
        "persons_share": 4 / 6,
        "test_answers_in_train": pytest.approx(1 / 3),
        "test_entities_in_train": pytest.approx(1 / 3),
    }
