"""Prompted models: their prompts, what of a reply is scored, and asking every question (complexity.md §2).

The prompt says to *extract*, gives the format of input and output, and shows one or two examples. A chat
has user and assistant only: Mixtral's template knows no system role, so the instruction opens the first turn. Only
wrapping that the prompt's own format suggests is taken off a reply; talk is scored as it is, as in the paper.

A model without an endpoint is not run, and has no file. Every answer is kept as it comes, in the journal of the main
repository: an interrupted run goes on where it stopped, even one in an experiment's temporary folder, and a rerun
sends no request. DVC tracks a copy of the journal, to share it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.folding import fold
from trivium.formats.framed_texts import Example, end_of
from trivium.formats.squad import SquadQuestion
from trivium.measures.french import KnownTexts
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import ask_all
from trivium.prompting.endpoint import EndpointModel

ANSWER = "Réponse :"
INPUT = "Document : {context}\nQuestion : {question}\n" + ANSWER
Messages = list[dict[str, str]]


def draw_examples(
    training: Sequence[SquadQuestion], count: int, seed: int, evaluated: Collection[str]
) -> list[SquadQuestion]:
    """Draw training questions about different contexts.

    With one seed, a smaller `count` gives the first of those that a larger one gives.

    Args:
        evaluated: texts that questions will be asked about; no context that overlaps one of them is drawn.

    Raises:
        BadInput: not so many contexts that are not evaluated.
    """
    drawn: list[SquadQuestion] = []
    contexts: set[str] = set()
    evaluated_texts = KnownTexts(evaluated)
    for place in np.random.default_rng(seed).permutation(len(training)):
        if len(drawn) == count:
            break
        question = training[place]
        if question.context not in contexts and not evaluated_texts.overlap(question.context):
            contexts.add(question.context)
            drawn.append(question)
    if len(drawn) < count:
        raise BadInput("too few training contexts for the examples", field="examples", got=len(drawn),
                       expected=f"{count} that are not evaluated")  # fmt: skip
    return drawn


def messages_of(instruction: str, examples: Sequence[SquadQuestion], question: str, context: str) -> Messages:
    """The chat that asks one question: a turn of user and assistant an example, then the question."""
    messages: Messages = []
    for example in examples:
        turn = INPUT.format(question=example.question, context=example.context)
        messages.append({"role": "user", "content": turn})
        messages.append({"role": "assistant", "content": example.answers[0][0]})
    messages.append({"role": "user", "content": INPUT.format(question=question, context=context)})
    messages[0]["content"] = f"{instruction.strip()}\n\n{messages[0]['content']}"
    return messages


KINDS = ("verbatim", "unwrapped", "talked", "empty")
_LABEL = ANSWER.rstrip(" :")
_QUOTES = (("«", "»"), ("“", "”"), ("‘", "’"), ('"', '"'), ("'", "'"), ("`", "`"))


def extract(reply: str, document: str) -> tuple[str, str]:
    """The part of a reply that is scored, and its kind, one of `KINDS`.

    `verbatim`: it stands in the document, up to case, Unicode normal form, kinds of space, and a final full stop;
    `unwrapped`: it does so after the label "Réponse :" or quotation marks around it were taken off; `talked`: it does
    not, and is kept as it is; `empty`.
    """
    reply = reply.strip()
    if not reply:
        return "", "empty"
    if _stands_in(reply, document):
        return reply, "verbatim"
    bare = _unwrap(reply)
    return (bare, "unwrapped") if bare and _stands_in(bare, document) else (reply, "talked")


def _stands_in(answer: str, document: str) -> bool:
    words = fold(answer).casefold().removesuffix(".").rstrip()
    return bool(words) and words in fold(document).casefold()


def _unwrap(reply: str) -> str:
    label = end_of(reply, 0, _LABEL)
    if label is not None and reply[label:].lstrip().startswith(":"):
        reply = reply[label:].lstrip()[1:].strip()
    bare = reply.removesuffix(".").rstrip()
    for left, right in _QUOTES:
        if len(bare) > 1 and bare.startswith(left) and bare.endswith(right):
            return bare[1:-1].strip()
    return reply


JOURNAL = Path("data") / "complexity" / "answers"
"""The folder of all answers, below the project's root. No output of a stage: DVC replaces those when it checks out an
experiment, and deletes them with the folder of a temporary one."""


class PromptedModel(EndpointModel):
    """A model behind an endpoint that is shown examples."""

    examples: int = Field(ge=0, le=8, description="Training questions shown with their answers")


def answer(
    model: PromptedModel, examples: Sequence[Example], chats: Mapping[str, Messages], cache: AnswerCache
) -> tuple[dict[str, str], dict[str, int]]:
    """Answers by question, those refused left out; and counts (see stages/complexity/prompt.py)."""
    keys = {identifier: key_of(model.model, messages, model.sampling) for identifier, messages in chats.items()}
    replied, requests = ask_all(model, {key: chats[identifier] for identifier, key in keys.items()}, cache)
    replies = {row: replied[keys[row.id]] for row in examples if keys[row.id] in replied}
    extracts = {row.id: extract(reply.content, row.text.text) for row, reply in replies.items()}
    kinds = Counter(kind for _, kind in extracts.values())
    counts = {"questions": len(examples), **requests, "refused": len(examples) - len(replies)}
    counts |= {kind: kinds[kind] for kind in KINDS}
    counts["reasoned"] = sum(reply.reasoning > 0 for reply in replies.values())
    counts["cut"] = sum(reply.finish == "length" for reply in replies.values())
    counts["prompt_tokens"] = sum(reply.prompt_tokens for reply in replied.values())
    counts["completion_tokens"] = sum(reply.completion_tokens for reply in replied.values())
    return {identifier: words for identifier, (words, _) in extracts.items()}, counts
