"""Question and context in one text for generative readers; what is too long loses the end of its context.

The paper gives no format. T5's own for SQuAD is "question: … context: …"; the template is a parameter of each model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.core.errors import BadInput

_CHUNK = 1000  # texts tokenised at once


@dataclass(frozen=True)
class Prompt:
    """What a generative reader reads.

    Attributes:
        text: the template, filled.
        ids: its tokens, special ones included.
        context: the part of the context that is in it.
        question_cut: whether the question had to be cut too.
    """

    text: str
    ids: list[int]
    context: str
    question_cut: bool


def prompts_of(
    tokenizer: Any, template: str, questions: Sequence[str], contexts: Sequence[str], max_tokens: int
) -> Iterator[Prompt]:
    """A prompt a question, in order, of at most `max_tokens` tokens.

    Args:
        tokenizer: a fast one.
        template: with {question} and {context}.
        questions, contexts: pairs.
        max_tokens: of a prompt, special tokens included; a question may take half of them.

    Raises:
        BadInput: no room is left for the template itself.
    """
    for start in range(0, len(questions), _CHUNK):
        pairs = list(zip(questions[start : start + _CHUNK], contexts[start : start + _CHUNK], strict=True))
        texts = [template.format(question=question, context=context) for question, context in pairs]
        encoded = tokenizer(texts)["input_ids"]
        for (question, context), text, ids in zip(pairs, texts, encoded, strict=True):
            if len(ids) <= max_tokens:
                yield Prompt(text, ids, context, question_cut=False)
            else:
                yield _cut(tokenizer, template, question, context, max_tokens)


def _cut(tokenizer: Any, template: str, question: str, context: str, max_tokens: int) -> Prompt:
    shortened = _first_tokens(tokenizer, question, max_tokens // 2)
    while True:
        text = template.format(question=shortened, context=context)
        ids = tokenizer(text)["input_ids"]
        excess = len(ids) - max_tokens
        if excess <= 0:
            return Prompt(text, ids, context, question_cut=shortened != question)
        if not context:
            raise BadInput("no room for template and question", field="max_tokens", got=max_tokens,
                           expected=f"at least {len(ids)}")  # fmt: skip
        # Counted in the context alone, whose tokens may differ at its edges from those in the prompt: hence the loop.
        tokens = len(tokenizer(context, add_special_tokens=False)["input_ids"])
        shorter = _first_tokens(tokenizer, context, max(0, tokens - excess))
        context = shorter if shorter != context else context[:-1]


def _first_tokens(tokenizer: Any, text: str, count: int) -> str:
    """The text up to the end of its token number `count`."""
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    if len(offsets) <= count:
        return text
    return text[: offsets[count - 1][1]] if count else ""
