"""The frame parser on disk and in memory: network, tokenizer and labels in one folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import AutoModel, PreTrainedTokenizerBase

from trivium.complexity.frames.labels import FrameLabels
from trivium.complexity.frames.windows import Window
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.nets.cards import write_card
from trivium.nets.frame_parser import AFTER, BEFORE, NOT_ASKED, TRIGGER, FrameTagger
from trivium.nets.pretrained import load_pretrained

LABELS = "labels.json"
HEADS = "heads.safetensors"
ENCODER = "encoder"
ROBERTA = ("camembert", "roberta", "xlm-roberta")


@dataclass(frozen=True)
class Asked:
    """One reading of a window: its triggers, or the elements of one frame there.

    Attributes:
        frame: 1 + the frame whose elements are asked for; 0 when triggers are.
        trigger: first and last word of that frame's trigger.
    """

    window: Window
    frame: int = 0
    trigger: tuple[int, int] = (0, 0)


@dataclass
class FrameParser:
    """A network with what it needs to read texts; `allowed` (frames, element tags) is the labels', as a tensor."""

    network: FrameTagger
    tokenizer: PreTrainedTokenizerBase
    labels: FrameLabels
    max_tokens: int

    def __post_init__(self) -> None:
        self.to(self.device)

    def to(self, device: torch.device) -> None:
        """Move the network, and what it is masked with, to a device."""
        self.network.to(device)
        self.allowed = torch.from_numpy(self.labels.allowed_elements()).to(device)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.network.frame.weight.device

    def logits(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Tag logits of what `collate` made of readings that all ask for triggers, or all for elements.

        Returns:
            (batch, words, tags), −∞ for elements that the frame does not have.
        """
        on_device = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
        states = self.network(**on_device)
        if not batch["frame"][0]:
            return self.network.triggers(states)
        allowed = self.allowed[on_device["frame"] - 1]
        return self.network.elements(states).masked_fill(~allowed[:, None], -torch.inf)


def collate(asked: Sequence[Asked], padding: int | None) -> dict[str, Tensor]:
    """The network's inputs, padded on the right."""
    tokens = max(len(each.window.input_ids) for each in asked)
    words = max(len(each.window.words) for each in asked)
    batch = {
        "input_ids": np.full((len(asked), tokens), padding or 0),
        "attention_mask": np.zeros((len(asked), tokens), dtype=np.int64),
        "frame": np.array([each.frame for each in asked]),
        "side": np.zeros((len(asked), tokens), dtype=np.int64),
        "words": np.zeros((len(asked), words), dtype=np.int64),
    }
    for row, each in enumerate(asked):
        window = each.window
        batch["input_ids"][row, : len(window.input_ids)] = window.input_ids
        batch["attention_mask"][row, : len(window.input_ids)] = 1
        batch["side"][row, : len(window.input_ids)] = sides(each)
        batch["words"][row, : len(window.words)] = window.first_tokens
    return {name: torch.from_numpy(value) for name, value in batch.items()}


def sides(asked: Asked) -> NDArray[np.int64]:
    """(tokens,) where each token stands: before the trigger, in it, after it; `NOT_ASKED` when triggers are asked."""
    result = np.full(len(asked.window.input_ids), NOT_ASKED, dtype=np.int64)
    if asked.frame:
        first, last = asked.window.first_tokens[asked.trigger[0]], asked.window.last_tokens[asked.trigger[1]]
        result[:first], result[first : last + 1], result[last + 1 :] = BEFORE, TRIGGER, AFTER
    return result


def start_parser(base: Path, labels: FrameLabels, max_tokens: int) -> FrameParser:
    """A parser with new heads on a public encoder.

    Raises:
        BadInput: not a Hugging Face folder of an encoder, no fast tokenizer, or too few positions for `max_tokens`.
    """
    encoder, tokenizer = _load_encoder(base)
    network = FrameTagger(encoder, frames=len(labels.frames), elements=len(labels.names))
    # RoBERTa's positions start after that of padding.
    reserved = encoder.config.pad_token_id + 1 if encoder.config.model_type in ROBERTA else 0
    positions = encoder.config.max_position_embeddings - reserved
    if max_tokens > positions:
        raise BadInput(
            "more tokens than positions", file=base, field="max_tokens", got=max_tokens, expected=f"≤ {positions}"
        )
    return FrameParser(network, tokenizer, labels, max_tokens)


def _load_encoder(folder: Path) -> tuple[Any, PreTrainedTokenizerBase]:
    encoder, tokenizer = load_pretrained(AutoModel, folder, "an encoder", new=("pooler.",))
    if not tokenizer.is_fast:
        raise BadInput("the tokenizer gives no offsets", file=folder, expected="a fast one (tokenizer.json)")
    return encoder, tokenizer


def save_parser(folder: Path, parser: FrameParser, *, base: Path, data: str, licence: str) -> None:
    """Write what `load_parser` reads, with a card that tells no score yet; the folder is complete or absent."""
    heads = {
        name: value.contiguous()
        for name, value in parser.network.state_dict().items()
        if not name.startswith("encoder.")
    }
    with write_atomically(folder) as beside:
        parser.network.encoder.save_pretrained(beside / ENCODER)
        parser.tokenizer.save_pretrained(beside / ENCODER)
        save_file(heads, str(beside / HEADS))
        write_json(beside / LABELS, {**parser.labels.to_json(), "max_tokens": parser.max_tokens})
        describe_parser(beside, base=base, data=data, licence=licence, metrics={})


def describe_parser(folder: Path, *, base: Path, data: str, licence: str, metrics: Mapping[str, float]) -> None:
    """Write the card of a saved parser."""
    write_card(
        folder,
        title="French frame parser",
        description=(
            "Finds triggers, the frames they evoke and the frames' elements, by tagging words: a sentence is read "
            "once for its triggers and once more for the elements of each (`trivium/nets/frame_parser.py`)."
        ),
        base=str(base),
        data=data,
        metrics=metrics,
        licence=licence,
    )


def load_parser(folder: Path) -> FrameParser:
    """What `save_parser` wrote, ready to read texts.

    Raises:
        BadInput: not such a folder, or weights that do not fit the labels.
    """
    if not (folder / LABELS).is_file():
        raise BadInput("no labels of a frame parser", file=folder / LABELS, expected="the output of frame_parser")
    tree = read_json(folder / LABELS)
    labels = FrameLabels.from_json(tree)
    encoder, tokenizer = _load_encoder(folder / ENCODER)
    network = FrameTagger(encoder, frames=len(labels.frames), elements=len(labels.names))
    try:
        network.load_state_dict(
            {**{f"encoder.{name}": value for name, value in encoder.state_dict().items()}, **load_file(folder / HEADS)}
        )
    except (OSError, RuntimeError, SafetensorError) as error:
        raise BadInput(f"weights do not fit: {error}", file=folder / HEADS) from None
    network.eval()
    return FrameParser(network, tokenizer, labels, tree["max_tokens"])
