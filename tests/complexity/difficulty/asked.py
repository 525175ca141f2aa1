"""A small English set whose answers are long or short, early or late, and models that fail where they are told to."""

from collections.abc import Callable

import numpy as np

from trivium.formats.framed_texts import Span
from trivium.formats.question_sets import AskedQuestion, QuestionSet

NAMES = ("Alder", "Bourne", "Castor", "Dorset", "Elgin", "Falmer", "Garrow", "Holt")


def question(identifier: str, context: str, asked: str, answer: str, *more: str, title: str = "") -> AskedQuestion:
    start = context.find(answer)
    place = None if start < 0 else Span(start, start + len(answer))
    return AskedQuestion(identifier, title, context, asked, (answer, *more), place)


def english_set(texts: int = 60, titled: bool = True) -> QuestionSet:
    """Two questions a text: one with a short answer early in it, one with a long one late."""
    questions = []
    for number in range(texts):
        name, other = NAMES[number % 8], NAMES[(3 * number + 1) % 8]
        context = (
            f"Baron {name} built tower number {number} in the town. It rained for {number % 3} days."
            f" Then the merchants of {other} left the harbour with their {number} ships and never came back."
        )
        title = f"Article {number // 4}" if titled else ""
        questions.append(question(f"s{number}", context, "Who built the tower?", f"Baron {name}", title=title))
        long = f"with their {number} ships and never came back"
        questions.append(question(f"l{number}", context, "How did the merchants leave the harbour?", long, title=title))
    return QuestionSet("invented", tuple(questions), (), {}, {"searched": 0, "moved": 0, "nowhere": 0})


def answers(found: QuestionSet, right: Callable[[AskedQuestion, float], bool], seed: int = 0) -> dict[str, str]:
    """The reference where `right` says so, given a number from [0, 1); else words from the text's middle."""
    luck = np.random.default_rng(seed).random(len(found.questions))
    return {
        each.id: each.answers[0] if right(each, value) else "the days"
        for each, value in zip(found.questions, luck.tolist(), strict=True)
    }
