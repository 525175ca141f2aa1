"""Models of transformers in a folder or on the hub: CLIP, SigLIP, SigLIP 2, ALIGN, BLIP's retrieval model.

Weights as safetensors only, and no code beside them is run. Texts are padded as each was trained: SigLIP to its full
length, of which it masks nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers
from PIL import Image
from torch import Tensor

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.decorrelation.benchmark.family import Family, check_name, model_folder
from trivium.nets.device import pick_device
from trivium.nets.pretrained import load_pretrained

_CONFIG = "config.json"
_LOWER_CASE = 256_000  # words of Gemma's vocabulary: SigLIP 2 with it was trained on lower-case texts
_UNMATCHED = "By its embeddings (ITC) alone: its matching head, the second stage of BLIP's own figures, is not asked."


@dataclass(frozen=True)
class _Kind:
    """A kind of network: transformers' class, whether texts are padded to the full length, and the longest text."""

    network: str
    full: bool
    longest: int | None = None  # None: as many as there are positions


KINDS = {
    "clip": _Kind("CLIPModel", full=False),
    "siglip": _Kind("SiglipModel", full=True),
    "siglip2": _Kind("Siglip2Model", full=True),
    "align": _Kind("AlignModel", full=True, longest=64),
    "blip": _Kind("BlipForImageTextRetrieval", full=False, longest=35),
}


class HuggingFace(Family):
    """By `model_type` of its configuration."""

    name = "hf"
    file = _CONFIG

    @staticmethod
    def check(where: str) -> None:
        """A folder's configuration is read."""
        check_name(where, _CONFIG)
        if Path(where).is_dir():
            _kind(Path(where))

    @staticmethod
    def load(where: str) -> "HuggingFaceModel":
        """Downloaded where it is no folder."""
        return HuggingFaceModel(model_folder(where))


def _kind(folder: Path) -> str:
    config = read_json(folder / _CONFIG)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind in KINDS:
        return str(kind)
    problem = "not a model of pictures and texts that is known"
    for tower, other in (("vision", "text"), ("text", "vision")):
        if isinstance(kind, str) and kind.endswith(f"_{tower}_model"):
            problem = f"a model without a {other} tower"
    raise BadInput(problem, file=folder / _CONFIG, field="model_type", got=kind, choices=KINDS)


class HuggingFaceModel:
    """See `Embedder`.

    Args:
        folder: configuration, safetensors, tokenizer and preparation.

    Raises:
        BadInput: something of it is missing, or does not fit.
    """

    def __init__(self, folder: Path) -> None:
        self._kind = _kind(folder)
        self.note = _UNMATCHED if self._kind == "blip" else ""
        kind = KINDS[self._kind]
        network, self._tokenizer = load_pretrained(getattr(transformers, kind.network), folder, f"a {kind.network}")
        try:
            self._prepare = transformers.AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadInput(f"no usable preparation of pictures: {error}", file=folder) from None
        self._device = pick_device()
        self._network: Any = network.to(self._device)
        text = network.config.text_config
        self._lower = text.vocab_size == _LOWER_CASE
        self._padding = {
            "padding": "max_length" if kind.full else True,
            "truncation": True,
            "max_length": min(kind.longest or text.max_position_embeddings, text.max_position_embeddings),
        }

    def encode_images(self, images: Sequence[Image.Image]) -> Tensor:
        """(n, d)."""
        inputs = self._prepare(images=list(images), return_tensors="pt").to(self._device)
        if self._kind == "blip":
            states = self._network.vision_model(**inputs).last_hidden_state
            return self._network.vision_proj(states[:, 0])
        return self._network.get_image_features(**inputs).pooler_output

    def encode_texts(self, texts: Sequence[str]) -> Tensor:
        """(n, d)."""
        given = [text.lower() for text in texts] if self._lower else list(texts)
        inputs: dict[str, Tensor] = self._tokenizer(given, return_tensors="pt", **self._padding).to(self._device)
        if self._kind == "blip":
            wanted = {name: inputs[name] for name in ("input_ids", "attention_mask")}
            states = self._network.text_encoder(**wanted).last_hidden_state
            return self._network.text_proj(states[:, 0])
        known = {name: each for name, each in inputs.items() if name != "token_type_ids" or self._kind == "align"}
        return self._network.get_text_features(**known).pooler_output
