"""BLIP as a retrieval model, by transformers (Li et al. 2022; decorrelation.md §4).

Base and saved model are Hugging Face folders of BlipForImageTextRetrieval with a BERT tokenizer that knows [ENC]; the
configuration holds `kind`, `contrast_temperature` (τ) and perhaps `pre_caption` besides. A text's score is in two
stages: the inner product of the embeddings, and for the best of them the matching head's logit added to it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor
from torch.nn.functional import interpolate
from torchvision.transforms import InterpolationMode
from transformers import AutoTokenizer, BlipConfig, BlipForImageTextRetrieval, PreTrainedTokenizerBase

from trivium.core.errors import BadInput
from trivium.decorrelation.models.interface import CLIP, RetrievalModel, scale_and_crop
from trivium.decorrelation.models.kinds.blip import BlipSettings
from trivium.nets.blip import BlipEncoders, BlipTraining
from trivium.nets.device import halving_batches
from trivium.nets.tokens import pad
from trivium.nets.weights import WEIGHTS, load_weights, read_weights, save_tokenizer

MATCH, BEGIN_CAPTION = "[ENC]", "[DEC]"  # of the matching head; what BLIP's captioner writes after
TEMPERATURE = 0.07  # where pretraining begins
_PAIRS = 256  # of picture and text that are matched together
_POSITIONS = "vision_model.embeddings.position_embedding"


class Blip(RetrievalModel):
    """See `RetrievalModel`; embeddings leave the second stage out, `match` is the second stage.

    A loaded model has no settings, and cannot train.
    """

    kind = "blip"

    def __init__(
        self,
        encoders: BlipEncoders,
        tokenizer: PreTrainedTokenizerBase,
        text_tokens: int,
        settings: BlipSettings | None,
    ) -> None:
        config: Any = encoders.network.config
        self._encoders, self._tokenizer, self._tokens, self._settings = encoders, tokenizer, text_tokens, settings
        self._read: dict[str, Tensor] = {}
        self._pre_caption = settings.pre_caption if settings else getattr(config, "pre_caption", False)
        self.dimension = int(config.image_text_hidden_size)
        self.module: torch.nn.Module = encoders
        if settings is not None:
            self.module = BlipTraining(
                encoders,
                temperature=getattr(config, "contrast_temperature", TEMPERATURE),
                queue=settings.queue,
                momentum=settings.momentum,
            )
        self.prepare = scale_and_crop(
            config.vision_config.image_size,
            resize=None,
            standard=CLIP,
            interpolation=InterpolationMode.BICUBIC,
            smallest_crop=settings.smallest_crop if settings else 1.0,
            augment=augment if settings and settings.random_augment else None,
        )

    @classmethod
    def start(cls, base: Path, settings: BlipSettings, captions: Iterable[str]) -> Self:
        """The released model with momentum encoders equal to it; captions are not read."""
        encoders, tokenizer = read_blip(base, image_size=settings.image_size)
        if settings.gradient_checkpointing:
            encoders.network.gradient_checkpointing_enable()
        return cls(encoders, tokenizer, settings.text_tokens, settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """What `save` wrote."""
        encoders, tokenizer = read_blip(folder, image_size=None)
        return cls(encoders.eval(), tokenizer, encoders.network.config.text_tokens, None)

    def tokenize(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """`ids` and `mask`, (n, longest). Tokens are cached: a caption is matched with many pictures."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._read]:
            cleaned = [pre_caption(text) for text in new] if self._pre_caption else new
            read = self._tokenizer(cleaned, truncation=True, max_length=self._tokens)["input_ids"]
            self._read |= {text: torch.tensor(ids) for text, ids in zip(new, read, strict=True)}
        rows = [self._read[text] for text in texts]
        mask = pad([[1] * len(row) for row in rows])
        return {"ids": pad(rows, int(self._tokenizer.pad_token_id)), "mask": mask}

    def loss(self, pixels: Tensor, tokens: dict[str, Tensor], *, pictures: Tensor, progress: float) -> Tensor:
        """Contrastive and matching loss; see `BlipTraining`."""
        assert self._settings is not None
        assert isinstance(self.module, BlipTraining)
        rises = self._settings.alpha_rises
        alpha = self._settings.alpha * (min(1.0, progress / rises) if rises else 1.0)
        return self.module.loss(pixels, *_trimmed(tokens), pictures, alpha)

    def encode_images(self, pixels: Tensor) -> Tensor:
        """(n, 3, h, w) → (n, d)."""
        return self._encoders.images(pixels)[1]

    def encode_texts(self, tokens: dict[str, Tensor]) -> Tensor:
        """`ids` and `mask` (n, l) → (n, d)."""
        return self._encoders.texts(*_trimmed(tokens))

    @torch.inference_mode()
    def match(self, pixels: Sequence[Tensor], texts: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """The matching head's logit of each prepared picture (3, h, w) with each of its texts, an array a picture."""
        if not len(pixels):
            return []
        device = next(self._encoders.parameters()).device
        patches, _ = self._encoders.images(torch.stack(list(pixels)).to(device))
        pairs = [(picture, text) for picture, own in enumerate(texts) for text in own]
        # Similar lengths together: little padding.
        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place][1]))

        def score(places: Sequence[int]) -> Tensor:
            # Nothing waits for the device: the next texts are tokenised while it computes.
            tokens = _trimmed(self.tokenize([pairs[i][1] for i in places]))
            of, ids, mask = (
                tensor.to(device, non_blocking=True)
                for tensor in (torch.tensor([pairs[i][0] for i in places]), *tokens)
            )
            return self._encoders.match(patches[of], ids, mask)[:, 1]

        scores = np.zeros(len(pairs), np.float32)
        scored = list(halving_batches(order, _PAIRS, score))
        if scored:
            scores[order] = torch.cat(scored).cpu().numpy()
        return np.split(scores, np.cumsum([len(own) for own in texts])[:-1])

    def save(self, folder: Path) -> None:
        """The Hugging Face folder; momentum encoders and queue are left out."""
        network = self._encoders.network
        temperature = self.module.temperature.item() if isinstance(self.module, BlipTraining) else None
        network.config.update({"kind": self.kind, "text_tokens": self._tokens})
        if self._pre_caption:
            network.config.update({"pre_caption": True})
        if temperature is not None:
            network.config.update({"contrast_temperature": temperature})
        network.save_pretrained(folder)
        save_tokenizer(self._tokenizer, folder)


def _trimmed(tokens: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    longest = int(tokens["mask"].sum(dim=1).max())
    return tokens["ids"][:, :longest], tokens["mask"][:, :longest]


def read_blip(folder: Path, image_size: int | None) -> tuple[BlipEncoders, PreTrainedTokenizerBase]:
    """Network and tokenizer; position embeddings are interpolated to another `image_size`.

    Raises:
        BadInput: another architecture, a tokenizer without [ENC], or weights that do not fit.
    """
    try:
        config: Any = BlipConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"not a BLIP: {error}", file=folder, expected="a Hugging Face folder") from None
    if config.model_type != "blip":
        raise BadInput("another architecture", file=folder, got=config.model_type, expected="blip")
    match_token: Any = tokenizer.convert_tokens_to_ids(MATCH)
    if match_token is None or match_token == tokenizer.unk_token_id or match_token >= config.text_config.vocab_size:
        raise BadInput(f"the tokenizer has no usable {MATCH}", file=folder, got=match_token)
    weights = read_weights(folder / WEIGHTS)
    if image_size is not None and image_size != config.vision_config.image_size:
        config.vision_config.image_size = image_size
        weights[_POSITIONS] = interpolated(weights[_POSITIONS], image_size // config.vision_config.patch_size)
    network = BlipForImageTextRetrieval(config)
    load_weights(network, weights, folder / WEIGHTS)
    return BlipEncoders(network, match_token), tokenizer


def interpolated(positions: Tensor, side: int) -> Tensor:
    """Position embeddings (1, 1 + s², width) of the class token and an s×s grid → of a `side`×`side` grid."""
    first, grid = positions[:, :1], positions[:, 1:]
    old = round(grid.shape[1] ** 0.5)
    maps = grid.reshape(1, old, old, -1).permute(0, 3, 1, 2)
    maps = interpolate(maps, size=(side, side), mode="bicubic", align_corners=False)
    return torch.cat([first, maps.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)


# What BLIP's authors do to training pictures and to captions before the network sees them, written from the list of
# operations and the numbers of their code, salesforce/BLIP (`transform/randaugment.py`, `data/__init__.py`,
# `data/utils.py`).
OPERATIONS, PROBABILITY = 2, 0.5  # drawn for a picture, with replacement, and how likely each is carried out
LEVEL = 0.5  # RandomAugment(2, 5): level 5 of 10
_FACTOR = 1.8 * LEVEL + 0.1  # of brightness and sharpness: 1 at this level, which leaves a picture as it is
_SHEAR, _SHIFT, _DEGREES = 0.3 * LEVEL, 10 * LEVEL, 30 * LEVEL  # share of a side, pixels, degrees; either way
_GREY = (128, 128, 128)  # of what comes in from outside
_MAX_WORDS = 30


def _affine(image: Image.Image, *matrix: float) -> Image.Image:
    return image.transform(
        image.size, Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR, fillcolor=_GREY
    )


def _rotate(image: Image.Image, sign: int) -> Image.Image:
    return image.rotate(sign * _DEGREES, resample=Image.Resampling.BILINEAR, fillcolor=_GREY)


AUGMENTATIONS: dict[str, Callable[[Image.Image, int], Image.Image]] = {  # a picture and a sign drawn for it
    "identity": lambda image, _: image,
    "auto_contrast": lambda image, _: ImageOps.autocontrast(image),
    "brightness": lambda image, _: ImageEnhance.Brightness(image).enhance(_FACTOR),
    "sharpness": lambda image, _: ImageEnhance.Sharpness(image).enhance(_FACTOR),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "shear_x": lambda image, sign: _affine(image, 1, sign * _SHEAR, 0, 0, 1, 0),
    "shear_y": lambda image, sign: _affine(image, 1, 0, 0, sign * _SHEAR, 1, 0),
    "translate_x": lambda image, sign: _affine(image, 1, 0, sign * _SHIFT, 0, 1, 0),
    "translate_y": lambda image, sign: _affine(image, 1, 0, 0, 0, 1, sign * _SHIFT),
    "rotate": _rotate,
}


def augment(image: Image.Image) -> Image.Image:
    """RandomAugment(2, 5) of an RGB picture, drawn from torch's global generator."""
    operations = list(AUGMENTATIONS.values())
    for number in torch.randint(len(operations), (OPERATIONS,)).tolist():
        carried_out, sign = torch.rand(2) < PROBABILITY
        if carried_out:
            image = operations[number](image, 1 if sign else -1)
    return image


def pre_caption(text: str) -> str:
    """A caption as BLIP reads it: lower case, `.!"()*#:;~` as spaces, 30 words at most."""
    spaced = re.sub(r"\s{2,}", " ", re.sub(r"[.!\"()*#:;~]", " ", text.lower()))
    return " ".join(spaced.rstrip("\n").strip(" ").split(" ")[:_MAX_WORDS])
