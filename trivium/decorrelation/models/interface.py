"""One interface for the retrieval models, whatever their kind, and how they prepare pictures (decorrelation.md §4).

A kind is found by its name (`kind.py`); `train` trains it and `retrieve` asks it, knowing nothing else of it:

    model = start("clip", base / "clip", settings, captions)      # from public weights
    loss = model.loss(pixels, model.tokenize(texts), pictures=ids, progress=0.1)
    model.save(folder)
    load(folder).encode_images(pixels)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torchvision import transforms
from torchvision.transforms import InterpolationMode

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.decorrelation.models.kind import KINDS

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CLIP = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class Preparation:
    """Preparation of a picture: by `plain` outside training, by `drawn` in training where `augments`.

    Outside training it may be done in two steps, so that what the first leaves can be kept. The last two steps of
    `plain` make a tensor of an RGB picture and standardise it.
    """

    def __init__(self, plain: transforms.Compose, drawn: transforms.Compose, *, augments: bool) -> None:
        self._plain, self._drawn, self.augments = plain, drawn, augments
        *scaling, _, standardise = plain.transforms
        self._scale = transforms.Compose(scaling)
        # A tensor, as a GPU divides by a number less exactly.
        constants = 255.0, standardise.mean, standardise.std
        self._constants = [torch.tensor(constant, dtype=torch.float32).view(-1, 1, 1) for constant in constants]

    def __call__(self, image: Image.Image, *, training: bool) -> torch.Tensor:
        """One picture → (3, h, w); random only in training, from torch's global generator."""
        prepare = self._drawn if training and self.augments else self._plain
        pixels: torch.Tensor = prepare(image.convert("RGB"))
        return pixels

    def scaled(self, image: Image.Image) -> NDArray[np.uint8]:
        """One picture → (h, w, 3), scaled and cropped."""
        return np.asarray(self._scale(image.convert("RGB")))

    def standardised(self, pixels: torch.Tensor) -> torch.Tensor:
        """(n, h, w, 3) as `scaled` gives them → (n, 3, h, w) float32, to the bit what all steps at once give.

        It is done where the pixels are, and nothing waits for the device.
        """
        whole, mean, deviation = (constant.to(pixels.device, non_blocking=True) for constant in self._constants)
        return pixels.permute(0, 3, 1, 2).contiguous().float().div_(whole).sub_(mean).div_(deviation)


def scale_and_crop(
    size: int,
    *,
    resize: int | None,
    standard: tuple[Sequence[float], Sequence[float]],
    interpolation: InterpolationMode,
    smallest_crop: float,
    augment: Callable[[Image.Image], Image.Image] | None = None,
) -> Preparation:
    """Preparation by scaling, cropping and standardisation to a side of `size` pixels.

    `resize` is the short side before the middle is cropped; None scales both sides to `size` and crops nothing. In
    training a window of at least `smallest_crop` of the area, its sides in a ratio of 3:4 to 4:3, is scaled to the
    input and mirrored half of the time, and then goes through `augment`; 1: training pictures are prepared as any
    others. `standard` are mean and standard deviation of each channel.
    """
    tensor = [transforms.ToTensor(), transforms.Normalize(*standard)]
    scaled = transforms.Resize((size, size) if resize is None else resize, interpolation)
    middle = [] if resize is None else [transforms.CenterCrop(size)]
    window = transforms.RandomResizedCrop(size, scale=(smallest_crop, 1), interpolation=interpolation)
    drawn = [] if augment is None else [augment]
    return Preparation(
        transforms.Compose([scaled, *middle, *tensor]),
        transforms.Compose([window, transforms.RandomHorizontalFlip(), *drawn, *tensor]),
        augments=smallest_crop < 1,
    )


CONFIG = "config.json"  # of a saved model; its "kind" says which class reads it

Contrast = Callable[..., Tensor]
Match = Callable[[Sequence[Tensor], Sequence[Sequence[str]]], list[NDArray[np.float32]]]


class RetrievalModel(ABC):
    """Pictures and sentences in one space; n pairs a batch, d dimensions.

    The device is where `module` is: inputs are moved there. `loss` and `contrast` leave the mode (training, evaluation)
    to the caller; the encoders run without gradient only where the caller says so. Autocast is the model's.

    Attributes:
        kind: name of a module of `kinds/`; two kinds may share a network.
        module: what is trained, parameters that require a gradient; a checkpoint of it is the whole state in training.
        dimension: size of an embedding, d.
        prepare: one picture → (3, h, w) float32, always of the same size.
        contrast: `contrast(images, texts, pictures=..., progress=...)`, the loss from a batch's (n, d) unit embeddings;
            None where it needs more than embeddings, so that gradients cannot be cached over mini-batches.
        match: scores of prepared pictures with texts, added to inner products (BLIP); None without a second stage.
    """

    kind: str
    module: Any
    dimension: int
    prepare: Preparation
    contrast: Contrast | None = None
    match: Match | None = None

    def begin_step(self, step: int, steps: int, epoch: int) -> None:  # noqa: B027 - most models stay as they are
        """Prepare for a step of a training of `steps` steps, `epoch` an epoch; called in training mode."""

    @classmethod
    @abstractmethod
    def start(cls, base: Path, settings: Any, captions: Iterable[str]) -> Self:
        """From public weights; new weights come from torch's global generator. Raises as `load`."""

    @classmethod
    @abstractmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote, in evaluation mode; `BadInput` for another folder or weights that do not fit."""

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """What `loss` and `encode_texts` take; every tensor has a row a text. Empty texts are allowed."""

    def loss(self, pixels: Tensor, tokens: dict[str, Tensor], *, pictures: Tensor, progress: float) -> Tensor:
        """The method's loss over a batch, a scalar.

        Args:
            pixels: (n, 3, h, w), picture i belongs to text i.
            tokens: of n texts.
            pictures: (n,) int64 ids of the pictures as they are shown: a painted picture has another id than its
                original. Pairs of one picture are no negatives (VSE++, BLIP).
            progress: share of the training that is done, from 0 to 1.
        """
        assert self.contrast is not None
        images, texts = self.encode_images(pixels), self.encode_texts(tokens)
        return self.contrast(images, texts, pictures=pictures, progress=progress)

    @abstractmethod
    def encode_images(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, d) float32, each of length 1."""

    @abstractmethod
    def encode_texts(self, tokens: dict[str, Tensor]) -> Tensor:
        """Tokens of n texts → (n, d) float32, each of length 1."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write `config.json` with the kind, weights as safetensors and the tokenizer into a new or empty folder."""


def start(kind: str, base: Path, settings: Any, captions: Iterable[str]) -> RetrievalModel:
    """A model as it starts to train; raises as its `start`.

    `kind` is the name of a module of `kinds/`, `base` a folder such as `models/decorrelation/base/clip`. The vocabulary
    of a VSE++ that starts from a CNN alone is built from the captions; the others read none of them.
    """
    model: RetrievalModel = KINDS[kind].model().start(base, settings, captions)
    model.kind = kind
    return model


def load(folder: Path) -> RetrievalModel:
    """A saved model of whatever kind, in evaluation mode; `BadInput` for any other folder."""
    config = read_json(folder / CONFIG)
    kind = str(config.get("kind")) if isinstance(config, dict) else ""
    if kind not in KINDS:
        raise BadInput("not a retrieval model", file=folder / CONFIG, field="kind", got=kind, choices=KINDS)
    model: RetrievalModel = KINDS[kind].model().load(folder)
    model.kind = kind
    return model
