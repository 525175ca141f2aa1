"""Ask prompted models every evaluation question, through OpenAI-compatible endpoints (complexity.md §2).

A model without an endpoint is not run, and has no file. Every answer is kept as it comes, in the journal of the main
repository: a run that breaks off goes on where it was, also one in an experiment's folder that vanishes with it; and a
rerun asks nothing. What DVC tracks is a copy of the journal, to share.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from trivium.complexity.prompting.extracts import KINDS, extract
from trivium.complexity.prompting.prompts import Messages
from trivium.formats.framed_texts import Example
from trivium.prompting.answer_cache import AnswerCache, key_of
from trivium.prompting.asking import EndpointModel, ask_all

JOURNAL = Path("data") / "complexity" / "answers"
"""The folder of all answers, below the project's root. No output of a stage: DVC replaces those when it checks out an
experiment, and deletes them with the folder of a temporary one."""


class PromptedModel(EndpointModel):
    """A model behind an endpoint that is shown examples."""

    examples: int = Field(ge=0, le=8, description="Training questions shown with their answers")


def answer(
    model: PromptedModel, examples: Sequence[Example], chats: Mapping[str, Messages], cache: AnswerCache
) -> tuple[dict[str, str], dict[str, int]]:
    """Answers by question, those refused left out; and counts (see `main`)."""
    keys = {identifier: key_of(model.model, messages, model.sampling) for identifier, messages in chats.items()}
    known, requests = ask_all(model, {key: chats[identifier] for identifier, key in keys.items()}, cache)
    replies = {each: known[keys[each.id]] for each in examples if keys[each.id] in known}
    extracts = {each.id: extract(reply.content, each.text.text) for each, reply in replies.items()}
    kinds = Counter(each.kind for each in extracts.values())
    counts = {"questions": len(examples), **requests, "refused": len(examples) - len(replies)}
    counts |= {kind: kinds[kind] for kind in KINDS}
    counts["reasoned"] = sum(reply.reasoning > 0 for reply in replies.values())
    counts["cut"] = sum(reply.finish == "length" for reply in replies.values())
    counts["prompt_tokens"] = sum(reply.prompt_tokens for reply in known.values())
    counts["completion_tokens"] = sum(reply.completion_tokens for reply in known.values())
    return {identifier: each.answer for identifier, each in extracts.items()}, counts
