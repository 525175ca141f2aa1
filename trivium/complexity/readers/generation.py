"""Readers that write their answers: prompts, targets, loss, greedy decoding (complexity.md §2).

Question and context stand in one text; what is too long loses the end of its context. The paper gives no format. T5's
own for SQuAD is "question: … context: …"; the template is a parameter of each model.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from transformers import GenerationConfig

from trivium.complexity.readers.interface import Answer, Features, GenerativeSettings, Reader, Reading
from trivium.core.errors import BadInput
from trivium.core.tables import in_groups
from trivium.formats.squad import SquadQuestion
from trivium.nets.device import halving_batches
from trivium.nets.pretrained import load_pretrained
from trivium.nets.tokens import first_tokens, pad

_CHUNK = 1000  # texts tokenised at once


@dataclass(frozen=True)
class Prompt:
    """The input of a generative reader."""

    ids: list[int]  # tokens of the filled template, special ones included
    context: str  # the part of the context that is in it
    question_cut: bool  # whether the question had to be cut, too


def prompts_of(
    tokenizer: Any, settings: GenerativeSettings, pairs: Sequence[SquadQuestion | Reading]
) -> Iterator[Prompt]:
    """A prompt for each question and context, in order, of at most `max_tokens` tokens, special ones included.

    A question may take half of them.

    Raises:
        BadInput: no room is left for the template itself.
    """
    for part in in_groups(pairs, _CHUNK):
        texts = [settings.template.format(question=pair.question, context=pair.context) for pair in part]
        for pair, ids in zip(part, tokenizer(texts)["input_ids"], strict=True):
            is_short = len(ids) <= settings.max_tokens
            yield Prompt(ids, pair.context, question_cut=False) if is_short else _cut(tokenizer, settings, pair)


def _cut(tokenizer: Any, settings: GenerativeSettings, pair: SquadQuestion | Reading) -> Prompt:
    max_tokens, question, context = settings.max_tokens, pair.question, pair.context
    shortened = first_tokens(tokenizer, question, max_tokens // 2)
    while True:
        ids = tokenizer(settings.template.format(question=shortened, context=context))["input_ids"]
        excess = len(ids) - max_tokens
        if excess <= 0:
            return Prompt(ids, context, question_cut=shortened != question)
        if not context:
            raise BadInput("no room for template and question", field="max_tokens", got=max_tokens,
                           expected=f"at least {len(ids)}")  # fmt: skip
        # Counted in the context alone, whose tokens may differ at its edges from those in the prompt: hence the loop.
        tokens = len(tokenizer(context, add_special_tokens=False)["input_ids"])
        shorter = first_tokens(tokenizer, context, max(0, tokens - excess))
        context = shorter if shorter != context else context[:-1]


IGNORED = -100  # label of what is not to be predicted


@dataclass(frozen=True)
class Pair:
    """A prompt and the answer to write after it, as tokens."""

    prompt: NDArray[np.int32]
    target: NDArray[np.int32]

    @property
    def tokens(self) -> int:
        """Length of both."""
        return len(self.prompt) + len(self.target)


def decode(tokenizer: Any, ids: Sequence[int]) -> str:
    """Decode tokens; French puts spaces before its marks, so none is removed."""
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False).strip()


def answer_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean over the rows of −1/|y| Σ_t log p(y_t | y_<t, prompt), where y_t are the labels that are not `IGNORED`.

    Args:
        logits: (n, tokens, vocabulary), of the labels' places.
        labels: (n, tokens).
    """
    losses = torch.nn.functional.cross_entropy(
        logits.float().transpose(1, 2), labels, ignore_index=IGNORED, reduction="none"
    )
    return (losses.sum(1) / (labels != IGNORED).sum(1)).mean()


class GenerativeReader(Reader):
    """A reader that writes its answers after a prompt, greedily."""

    @abstractmethod
    def generate(self, prompts: list[list[int]]) -> Tensor:
        """Tokens that follow each prompt, (prompts, tokens), the end-of-text token included."""

    def pad_inputs(self, rows: Sequence[ArrayLike], *, left: bool = False) -> dict[str, Tensor]:
        """Pad the network's inputs on the right or on the left, on its device."""
        ids = pad(rows, filler_of(self.tokenizer), left=left)
        mask = pad([np.ones(np.shape(row)) for row in rows], left=left)
        return {"input_ids": ids.to(self.module.device), "attention_mask": mask.to(self.module.device)}

    def features(self, questions: Sequence[SquadQuestion]) -> Features:
        """A `Pair` a question: its first answer, as after a space, with the end-of-text token.

        Counted: `contexts_cut` to `max_tokens`, `questions_cut`, `answers_lost` (behind the cut: nothing says so in the
        prompt, so the question is left out), `answers_cut` to `answer_tokens` (then without the end), `answers_respelt`
        (the tokenizer does not give back the characters of the answer).
        """
        tokenizer, longest = self.tokenizer, self.settings.answer_tokens
        counts = dict.fromkeys(("contexts_cut", "questions_cut", "answers_lost", "answers_cut", "answers_respelt"), 0)
        pairs = []
        for question, prompt in zip(questions, prompts_of(tokenizer, self.settings, questions), strict=True):
            text, start = question.answers[0]
            counts["contexts_cut"] += prompt.context != question.context
            counts["questions_cut"] += prompt.question_cut
            if start + len(text) > len(prompt.context):
                counts["answers_lost"] += 1
                continue
            ids = tokenizer(f" {text.strip()}", add_special_tokens=False)["input_ids"]
            target = [*ids, tokenizer.eos_token_id]
            counts["answers_respelt"] += decode(tokenizer, target) != text.strip()
            counts["answers_cut"] += len(target) > longest
            pairs.append(Pair(np.asarray(prompt.ids, np.int32), np.asarray(target[:longest], np.int32)))
        return Features(pairs, counts)

    @torch.inference_mode()
    def answer(self, readings: Sequence[Reading], batch_size: int) -> list[Answer]:
        """Answers by greedy decoding, in batches of prompts of similar length; empty when the context is.

        In bf16, batches may differ by a near-tie.
        """
        self.module.eval()
        tokenizer, prompts = self.tokenizer, list(prompts_of(self.tokenizer, self.settings, readings))
        pending = [(row, prompt) for row, prompt in enumerate(prompts) if readings[row].context.strip()]
        pending.sort(key=lambda pair: -len(pair[1].ids))
        answers = [Answer("", len(prompt.context)) for prompt in prompts]

        def write(batch: Sequence[tuple[int, Prompt]]) -> Iterator[tuple[int, Answer]]:
            texts = self.generate([prompt.ids for _, prompt in batch]).tolist()
            for (row, prompt), ids in zip(batch, texts, strict=True):
                yield row, Answer(decode(tokenizer, ids), len(prompt.context), tokenizer.eos_token_id in ids)

        for batch in halving_batches(pending, batch_size, write):
            for row, answer in batch:
                answers[row] = answer
        return answers


def greedy_config(tokenizer: Any, longest: int, **ids: int) -> GenerationConfig:
    """The likeliest token every time, whatever the model's own folder recommends."""
    return GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=longest,
        pad_token_id=filler_of(tokenizer),
        eos_token_id=tokenizer.eos_token_id,
        **ids,
    )


def filler_of(tokenizer: Any) -> int:
    """The padding token, or the end of text where there is none (Llama 2); masked, so it does not matter which."""
    return int(tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id)


def load_generator(automatic: Any, folder: Path, what: str, dtype: torch.dtype) -> tuple[Any, Any]:
    """Network and tokenizer from a Hugging Face folder, by transformers' class for a kind that messages call `what`.

    Raises:
        BadInput: not such a folder, weights that are missing or do not fit, a tokenizer that is not fast or has no
            end-of-text token.
    """
    module, tokenizer = load_pretrained(automatic, folder, what, dtype=dtype, needs_offsets=True)
    if tokenizer.eos_token_id is None:
        raise BadInput("the tokenizer has no end-of-text token", file=folder, field="eos_token")
    return module, tokenizer
