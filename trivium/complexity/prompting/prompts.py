"""What a prompted model is told: to *extract*, the format of input and output, one or two examples (complexity.md §2).

A chat of user and assistant only: Mixtral's template knows no system role. The instruction opens the first turn.
"""

from collections.abc import Collection, Sequence

import numpy as np

from trivium.core.errors import BadInput
from trivium.formats.squad import SquadQuestion
from trivium.measures.french import KnownTexts

ANSWER = "Réponse :"
INPUT = "Document : {context}\nQuestion : {question}\n" + ANSWER
Messages = list[dict[str, str]]


def draw_examples(
    training: Sequence[SquadQuestion], count: int, seed: int, evaluated: Collection[str]
) -> list[SquadQuestion]:
    """So many training questions about different contexts; fewer asked for are the first of more.

    Args:
        training: questions to draw from.
        count: of examples.
        seed: of the draw.
        evaluated: texts that questions will be asked about; no context that overlaps one of them is drawn.

    Raises:
        BadInput: not so many contexts that are not evaluated.
    """
    drawn: list[SquadQuestion] = []
    seen: set[str] = set()
    asked_about = KnownTexts(evaluated)
    for place in np.random.default_rng(seed).permutation(len(training)):
        if len(drawn) == count:
            break
        question = training[place]
        if question.context not in seen and not asked_about.overlap(question.context):
            seen.add(question.context)
            drawn.append(question)
    if len(drawn) < count:
        raise BadInput("too few training contexts for the examples", field="examples", got=len(drawn),
                       expected=f"{count} that are not evaluated")  # fmt: skip
    return drawn


def messages_of(instruction: str, examples: Sequence[SquadQuestion], question: str, context: str) -> Messages:
    """The chat that asks one question: a turn of user and assistant an example, then the question."""
    messages: Messages = []
    for example in examples:
        messages.append({"role": "user", "content": _input(example.question, example.context)})
        messages.append({"role": "assistant", "content": example.answers[0][0]})
    messages.append({"role": "user", "content": _input(question, context)})
    messages[0]["content"] = f"{instruction.strip()}\n\n{messages[0]['content']}"
    return messages


def _input(question: str, context: str) -> str:
    return INPUT.format(question=question, context=context)
