"""What annotators work on: a Label Studio project of generated questions, shared out among annotators (kvqae.md §2)."""

from collections.abc import Sequence

import numpy as np

from trivium.kvqae.annotation.generated_questions import GeneratedQuestion


def balanced_sample(
    questions: Sequence[GeneratedQuestion], most: int, largest_share: float, rng: np.random.Generator
) -> list[GeneratedQuestion]:
    """The largest random sample, in random order, of which neither persons nor others exceed `largest_share`.

    With m questions of the smaller kind, n ≤ m / (1 - largest_share). Within what the share allows, both kinds keep
    the proportion that they have among all.
    """
    shuffled = [questions[place] for place in rng.permutation(len(questions))]
    persons = [question for question in shuffled if question.human]
    others = [question for question in shuffled if not question.human]
    fewer, more = sorted((persons, others), key=len)
    number = min(most, len(shuffled))
    if largest_share < 1:
        number = min(number, int(len(fewer) / (1 - largest_share) + 1e-9))
    allowed = min(len(more), int(largest_share * number + 1e-9))
    of_more = min(allowed, round(number * len(more) / len(shuffled)))
    of_more = max(of_more, number - len(fewer))
    chosen = more[:of_more] + fewer[: number - of_more]
    return [chosen[place] for place in rng.permutation(len(chosen))]


def share_out(tasks: int, overlapping: int, each: int, annotators: int) -> list[list[str]]:
    """Codes of the annotators of each task: `each` of them for the first `overlapping` tasks, then one.

    They take turns, so that nobody has two tasks more than anybody else, and nobody has a task twice.
    """
    given, turn = [], 0
    for task in range(tasks):
        number = each if task < overlapping else 1
        given.append([f"A{(turn + place) % annotators + 1:02d}" for place in range(number)])
        turn += number
    return given
