"""The extractive reader: where the answer starts and ends in the context (Devlin et al. 2019; complexity.md §2).

Where an answer may start or end is a distribution over the tokens of the context and the window's first token, which
stands for "not in this window". Windows of a fixed length slide over long contexts. loss = −(log p(start) + log p(end))
/ 2; the answer is the span of at most `answer_tokens` tokens with the highest p(start)·p(end) over all windows.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, model_validator
from torch import Tensor
from transformers import AutoModelForQuestionAnswering, PreTrainedTokenizerFast

from trivium.complexity.readers.interface import Answer, Features, Reader, ReaderSettings, Reading
from trivium.core.errors import BadInput
from trivium.formats.squad import SquadQuestion
from trivium.nets.device import autocast, halving_batches, pick_device
from trivium.nets.pretrained import load_pretrained, most_tokens
from trivium.nets.tokens import first_tokens, pad

_WIDE = 256
_CHUNK = 250  # questions tokenised at once


@dataclass(frozen=True)
class Window:
    """A question with one window of its context, and where the answer starts and ends in it: 0, 0 if it is not here."""

    owner: int  # number of the question
    ids: NDArray[np.int32]  # tokens; from the first context token on they are of the second segment
    first: int  # context token
    last: int  # the token after the last of the context; equal to `first` when the window holds none
    offsets: NDArray[np.int32]  # (last - first, 2), where the context's tokens start and end in it, in characters
    start: int = 0
    end: int = 0  # inclusive, as `start` a token

    @property
    def tokens(self) -> int:
        """Length of the window."""
        return len(self.ids)

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """First and last token of the characters `start` to `end` (exclusive); None when they are not all here."""
        inside = np.flatnonzero((self.offsets[:, 1] > start) & (self.offsets[:, 0] < end))
        if not len(inside):
            return None
        low, high = int(inside[0]), int(inside[-1])
        if self.offsets[low, 0] > start or self.offsets[high, 1] < end:
            return None
        return self.first + low, self.first + high

    def characters(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the tokens `start` to `end` (inclusive)."""
        return int(self.offsets[start - self.first, 0]), int(self.offsets[end - self.first, 1])


def question_limit(max_tokens: int) -> int:
    """Most tokens of a question: it leaves at least half of the window to the context."""
    return (max_tokens - 4) // 2


def windows_of(
    tokenizer: PreTrainedTokenizerFast, pairs: Sequence[SquadQuestion | Reading], *, max_tokens: int, stride: int
) -> tuple[list[Window], int]:
    """Every window of every question with its context, in order, and how many questions were cut to `question_limit`.

    Neighbouring windows share `stride` tokens; special tokens count among those of a window.
    """
    shortened = [first_tokens(tokenizer, pair.question, question_limit(max_tokens)) for pair in pairs]
    cut = sum(short != pair.question for short, pair in zip(shortened, pairs, strict=True))
    windows: list[Window] = []
    for start in range(0, len(pairs), _CHUNK):
        encoded = tokenizer(
            shortened[start : start + _CHUNK],
            [pair.context for pair in pairs[start : start + _CHUNK]],
            truncation="only_second",
            max_length=max_tokens,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        for row, owner in enumerate(encoded["overflow_to_sample_mapping"]):
            ids = np.asarray(encoded["input_ids"][row], np.int32)
            places = [place for place, text in enumerate(encoded.sequence_ids(row)) if text == 1]
            first, last = (places[0], places[-1] + 1) if places else (len(ids), len(ids))
            offsets = np.asarray(encoded["offset_mapping"][row][first:last], np.int32).reshape(-1, 2)
            windows.append(Window(start + owner, ids, first, last, offsets))
    return windows, cut


class ExtractiveSettings(ReaderSettings):
    """A start and an end in the context."""

    kind: Literal["extractive"] = Field(description="How the reader answers")
    stride: int = Field(ge=0, description="Tokens that neighbouring windows of a long context share")
    layers: int | None = Field(default=None, ge=1, description="Lowest layers of the base that are kept, null: all")
    frozen_layers: int = Field(default=0, ge=0, description="Lowest layers that stay as they are")
    frozen_embeddings: bool = Field(default=False, description="Leave the embeddings as they are")

    @model_validator(mode="after")
    def _windows_move(self) -> "ExtractiveSettings":
        # Half of a window may be the question.
        if self.stride >= self.max_tokens // 2 - 4:
            raise ValueError(f"stride: got {self.stride}, expected less than max_tokens / 2 - 4")
        return self


class ExtractiveReader(Reader):
    """CamemBERT, BERT and their like, with a head for start and end."""

    name: ClassVar[str] = "extractive"
    settings_model: ClassVar[type[ReaderSettings]] = ExtractiveSettings

    @staticmethod
    def read_folder(folder: Path) -> tuple[Any, Any]:
        """Both are folders of an encoder; a base model's head is new."""
        network, new = AutoModelForQuestionAnswering, ("qa_outputs.",)
        return load_pretrained(network, folder, "an extractive reader", new=new, needs_offsets=True)

    @classmethod
    def start(cls, base: Path, settings: ExtractiveSettings) -> Self:
        """A new head on an encoder from a Hugging Face folder; layers are cut off and frozen as the settings say.

        Raises:
            BadInput: not such a folder, weights that are missing or do not fit, windows longer than its positions.
        """
        module, tokenizer = cls.read_folder(base)
        layers = module.base_model.encoder.layer
        if settings.layers is not None:
            if settings.layers > len(layers):
                raise BadInput("more layers than the model has", file=base, field="layers", got=settings.layers,
                               expected=f"at most {len(layers)}")  # fmt: skip
            module.base_model.encoder.layer = layers = layers[: settings.layers]
            module.config.num_hidden_layers = settings.layers
        if settings.max_tokens > (room := most_tokens(module)):
            raise BadInput("windows longer than the model's positions", file=base, field="max_tokens",
                           got=settings.max_tokens, expected=f"at most {room}")  # fmt: skip
        module.base_model.embeddings.requires_grad_(not settings.frozen_embeddings)
        layers[: settings.frozen_layers].requires_grad_(False)
        return cls(settings, module.to(pick_device()), tokenizer)

    def features(self, questions: Sequence[SquadQuestion]) -> Features:
        """A feature a window, with the first answer as target.

        Counted: `questions_cut` to half a window, `windows`, `windows_without_answer` (their target says so),
        `answers_lost` (in no window whole: the question is left out), `answers_off_tokens` (they start or end inside
        a token: a little more than the answer is the target).
        """
        windows, cut = self._windows(questions)
        targets: list[Window] = []
        answered, off = set(), set()
        for window in windows:
            question = questions[window.owner]
            text, begin = question.answers[0]
            place = window.place(begin, begin + len(text))
            start, end = place or (0, 0)
            targets.append(replace(window, start=start, end=end))
            if place:
                answered.add(window.owner)
                left, right = window.characters(*place)
                if question.context[left:right].strip() != text.strip():
                    off.add(window.owner)
        kept = [target for target in targets if target.owner in answered]
        counts = {
            "questions_cut": cut,
            "windows": len(kept),
            "windows_without_answer": sum(target.end == 0 for target in kept),
            "answers_lost": len(questions) - len(answered),
            "answers_off_tokens": len(off),
        }
        return Features(kept, counts)

    def loss(self, features: Sequence[Window]) -> Tensor:
        """Mean over the features of the mean of start's and end's cross-entropy; a scalar."""
        starts, ends = self._log_probabilities(features)
        places = torch.tensor([[target.start, target.end] for target in features], device=starts.device)
        rows = torch.arange(len(features), device=starts.device)
        return -(starts[rows, places[:, 0]] + ends[rows, places[:, 1]]).mean() / 2

    @torch.inference_mode()
    def answer(self, readings: Sequence[Reading], batch_size: int) -> list[Answer]:
        """The best span of each context, as it is written there; empty when the context is. Windows cover it all."""
        self.module.eval()
        windows, _ = self._windows(readings)
        windows = sorted((one for one in windows if one.last > one.first), key=lambda window: -window.tokens)
        best: dict[int, tuple[float, int, int, str]] = {}
        for window, score, start, end in chain.from_iterable(halving_batches(windows, batch_size, self._spans)):
            left, right = window.characters(start, end)
            answer = readings[window.owner].context[left:right].strip()
            # Equal scores: the earlier span, whatever the order of the windows.
            span = (-score, left, right, answer)
            best[window.owner] = min(span, best.get(window.owner, span))
        spans = (best[owner][-1] if owner in best else "" for owner in range(len(readings)))
        return [Answer(span, len(reading.context)) for span, reading in zip(spans, readings, strict=True)]

    def _windows(self, pairs: Sequence[SquadQuestion | Reading]) -> tuple[list[Window], int]:
        return windows_of(self.tokenizer, pairs, max_tokens=self.settings.max_tokens, stride=self.settings.stride)

    def _spans(self, windows: Sequence[Window]) -> list[tuple[Window, float, int, int]]:
        """The best span of each window: its log-probability, first and last token."""
        starts, ends = self._log_probabilities(windows)
        starts[:, 0], ends[:, 0] = -torch.inf, -torch.inf
        spans = best_spans(starts, ends, self.settings.answer_tokens)
        return list(zip(windows, *(values.tolist() for values in spans), strict=True))

    def _log_probabilities(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        """(windows, tokens) of start and of end, in float32; −∞ outside context and first token."""
        device = self.module.device
        ids = pad([one.ids for one in windows], self.tokenizer.pad_token_id)
        first, last, length = torch.tensor([[one.first, one.last, one.tokens] for one in windows]).T[:, :, None]
        places = torch.arange(ids.shape[1])
        inputs = {"input_ids": ids, "attention_mask": (places < length).long()}
        if getattr(self.module.config, "type_vocab_size", 1) > 1:
            inputs["token_type_ids"] = ((places >= first) & (places < length)).long()
        allowed = (((places >= first) & (places < last)) | (places == 0)).to(device, non_blocking=True)
        # On a CPU, conversions to bf16 cost a narrow network more than its products gain (128 wide: 1.6 times as long).
        narrow = device.type == "cpu" and self.module.config.hidden_size < _WIDE
        with nullcontext() if narrow else autocast(device):
            output = self.module(**{name: tensor.to(device, non_blocking=True) for name, tensor in inputs.items()})
        starts, ends = (
            logits.float().masked_fill(~allowed, -torch.inf).log_softmax(-1)
            for logits in (output.start_logits, output.end_logits)
        )
        return starts, ends


def best_spans(starts: Tensor, ends: Tensor, longest: int) -> tuple[Tensor, Tensor, Tensor]:
    """The span of each row with the highest starts[i] + ends[j], 0 ≤ j − i < longest; of equal ones the first.

    Args:
        starts, ends: (n, tokens).

    Returns:
        Scores, first and last tokens, each (n,).
    """
    length = min(longest, ends.shape[1])
    right_padded = torch.nn.functional.pad(ends, (0, length - 1), value=-torch.inf)
    scores = starts.unsqueeze(2) + right_padded.unfold(1, length, 1)
    best, place = scores.flatten(1).max(1)
    first = place // length
    return best, first, first + place % length
