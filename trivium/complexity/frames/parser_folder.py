"""Saving and loading a frame parser of either kind: labels, and an encoder with heads or linear models; its card."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from safetensors.torch import load_file, save_file
from transformers import AutoModel, PreTrainedTokenizerBase

from trivium.complexity.frames.labels import FrameLabels
from trivium.complexity.frames.tagger import FrameParser
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.nets.cards import write_card
from trivium.nets.device import pick_device
from trivium.nets.frame_parser import FrameTagger
from trivium.nets.pretrained import load_pretrained, most_tokens

if TYPE_CHECKING:
    from trivium.complexity.frames.linear.parser import LinearFrameParser

LABELS = "labels.json"
HEADS = "heads.safetensors"
ENCODER = "encoder"
ABOUT = {
    "encoder": "by tagging words: a sentence is read once for its triggers and once more for the elements of each "
    "(`trivium/nets/frame_parser.py`).",
    "linear": "by logistic regressions on words, stems and endings (`trivium/complexity/frames/linear/`).",
}
AnyParser: TypeAlias = "FrameParser | LinearFrameParser"


def start_parser(base: Path, labels: FrameLabels, max_tokens: int) -> FrameParser:
    """A parser with new heads on a public encoder, on `pick_device()`.

    Raises:
        BadInput: not a Hugging Face folder of an encoder, no fast tokenizer, or too few positions for `max_tokens`.
    """
    encoder, tokenizer = _load_encoder(base)
    network = FrameTagger(encoder, frames=len(labels.frames), elements=len(labels.names))
    if max_tokens > (most := most_tokens(encoder)):
        raise BadInput(
            "more tokens than positions", file=base, field="max_tokens", got=max_tokens, expected=f"≤ {most}"
        )
    return FrameParser(network.to(pick_device()), tokenizer, labels, max_tokens)


def _load_encoder(folder: Path) -> tuple[Any, PreTrainedTokenizerBase]:
    return load_pretrained(AutoModel, folder, "an encoder", new=("pooler.",), needs_offsets=True)


def save_parser(folder: Path, parser: AnyParser, *, base: Path, data: str) -> None:
    """Write what `load_parser` reads, with a card that tells no score yet; the folder is complete or absent."""
    with write_atomically(folder) as temporary:
        if isinstance(parser, FrameParser):
            weights = parser.network.state_dict().items()
            heads = {name: value.contiguous() for name, value in weights if not name.startswith("encoder.")}
            parser.network.encoder.save_pretrained(temporary / ENCODER)
            parser.tokenizer.save_pretrained(temporary / ENCODER)
            save_file(heads, str(temporary / HEADS))
            write_json(temporary / LABELS, {**parser.labels.to_json(), "max_tokens": parser.max_tokens})
        else:
            temporary.mkdir(parents=True)
            parser.save(temporary, LABELS)
        describe_parser(temporary, parser, base=base, data=data, metrics={})


def describe_parser(folder: Path, parser: AnyParser, *, base: Path, data: str, metrics: Mapping[str, float]) -> None:
    """Write the card of a saved parser; linear models start from no base model."""
    is_encoder = isinstance(parser, FrameParser)
    means = ABOUT["encoder" if is_encoder else "linear"]
    write_card(
        folder,
        title="French frame parser",
        description=f"Finds triggers, the frames they evoke and the frames' elements, {means}",
        base=str(base) if is_encoder else "nothing",
        data=data,
        metrics=metrics,
        licence="mit",
    )


def load_parser(folder: Path, batch: int = 128) -> AnyParser:
    """Load what `save_parser` wrote; it reads `batch` sentences at a time, on `pick_device()`."""
    tree = read_json(folder / LABELS)
    if tree.get("kind") == "linear":
        from trivium.complexity.frames.linear.parser import load_linear

        return load_linear(folder, tree)
    labels = FrameLabels.from_json(tree)
    encoder, tokenizer = _load_encoder(folder / ENCODER)
    network = FrameTagger(encoder, frames=len(labels.frames), elements=len(labels.names))
    weights = {f"encoder.{name}": value for name, value in encoder.state_dict().items()}
    network.load_state_dict(weights | load_file(folder / HEADS))
    return FrameParser(network.to(pick_device()).eval(), tokenizer, labels, tree["max_tokens"], batch)
