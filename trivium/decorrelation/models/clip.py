"""CLIP as a retrieval model, by open_clip (Radford et al. 2021; decorrelation.md §4).

Base and saved model are both folders that open_clip reads as `local-dir:`, so that a trained model can stand wherever
an open_clip model can; the saved one has `config.json` with the kind besides.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import open_clip
import torch
from open_clip.model import CLIP
from open_clip.tokenizer import HFTokenizer
from torch import Tensor
from torch.nn.functional import normalize

from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.decorrelation.models.interface import CONFIG, Preparation, RetrievalModel
from trivium.decorrelation.models.kind import ModelSettings
from trivium.nets.device import autocast
from trivium.nets.open_clip_folder import CONFIG as OPEN_CLIP
from trivium.nets.open_clip_folder import load_open_clip, require_offline
from trivium.nets.weights import save_tokenizer, save_weights

_WEIGHTS = "open_clip_model.safetensors"
_HIGHEST_SCALE = math.log(100)  # of the logits, as in CLIP's training: a sharper softmax makes it unstable


class Clip(RetrievalModel):
    """An open_clip folder with configuration, weights and perhaps a tokenizer; see `RetrievalModel`.

    `smallest_crop` is the least share of a training picture's area that a random crop keeps; 1: no crops.
    `BadInput`: no such model, no weights, weights that do not fit (the layer is named); see `require_offline`.
    """

    kind = "clip"

    def __init__(self, folder: Path, *, smallest_crop: float) -> None:
        if not (folder / _WEIGHTS).is_file():
            raise BadInput("no weights", file=folder / _WEIGHTS)  # open_clip goes on without
        model, drawn, plain, self._tokenizer = load_open_clip(
            f"local-dir:{folder}", folder, require_offline(folder), aug_cfg={"scale": (smallest_crop, 1.0)}
        )
        if not isinstance(model, CLIP):
            raise BadInput("another architecture", file=folder, got=type(model).__name__, expected="open_clip's CLIP")
        # Convolutions of open_clip's ResNets take two thirds of the time in this layout.
        self.module = model.to(memory_format=torch.channels_last)
        self.dimension = int(model.text_projection.shape[1])
        self.prepare = Preparation(plain, drawn, augments=smallest_crop < 1)
        self._config: dict[str, Any] = read_json(folder / OPEN_CLIP)
        self._loss = open_clip.ClipLoss()

    @classmethod
    def start(cls, base: Path, settings: ModelSettings, captions: Iterable[str]) -> Self:
        """The released model; captions are not read."""
        model = cls(base, smallest_crop=settings.smallest_crop)
        model.module.set_grad_checkpointing(settings.gradient_checkpointing)
        return model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        return cls(folder, smallest_crop=1.0)

    def tokenize(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """`ids` (n, context length), cut and padded by the model's tokenizer."""
        return {"ids": self._tokenizer(list(texts))}

    def contrast(self, images: Tensor, texts: Tensor, *, pictures: Tensor, progress: float) -> Tensor:
        """Mean of both cross-entropies of the softmax over scale · cosine; the scale is learned, at most 100.

        As in CLIP every other pair is a negative, also one of the same picture: `pictures` is not read.
        """
        scale = self.module.logit_scale.clamp(max=_HIGHEST_SCALE).exp()
        loss: Tensor = self._loss(images, texts, scale)
        return loss

    def encode_images(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, d)."""
        with autocast(pixels.device):
            embeddings = self.module.encode_image(pixels.contiguous(memory_format=torch.channels_last))
        return normalize(embeddings.float(), dim=1)

    def encode_texts(self, tokens: dict[str, Tensor]) -> Tensor:
        """`ids` (n, l) → (n, d)."""
        with autocast(tokens["ids"].device):
            embeddings = self.module.encode_text(tokens["ids"])
        return normalize(embeddings.float(), dim=1)

    def save(self, folder: Path) -> None:
        """open_clip's configuration, weights and tokenizer, and `config.json`."""
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self._tokenizer, HFTokenizer):  # else it comes with open_clip
            save_tokenizer(self._tokenizer.tokenizer, folder)
        write_json(folder / CONFIG, {"kind": self.kind})
        write_json(folder / OPEN_CLIP, self._config)
        save_weights(self.module, folder / _WEIGHTS)
