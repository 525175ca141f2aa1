"""Captions that a model writes for painted pictures: BLIP's captioner, or ClipCap (decorrelation.md §2)."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from PIL import Image
from torch import Tensor, nn

from trivium.core.errors import BadInput
from trivium.nets.device import autocast, pick_device
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.nets.weights import load_weights, read_plain_tensors

T = TypeVar("T")
CLIPCAP = "clipcap.pt"  # in the captioner's folder: ClipCap's checkpoint, as its authors give it


class Captioner:
    """A released captioner: BLIP's folder as `save_pretrained` writes it, or ClipCap's, see `_ClipCap`.

    A caption has at most `max_tokens`, found by a search with `beams`; 1 is greedy. `BadInput`: the folder holds no
    such model.
    """

    def __init__(self, folder: Path, *, beams: int, max_tokens: int) -> None:
        options = {"num_beams": beams, "max_new_tokens": max_tokens, "do_sample": False}
        self._device = pick_device()
        model: Any = _ClipCap(folder) if (folder / CLIPCAP).is_file() else _Blip(folder)
        self._model, self._options = model.to(self._device).eval(), options

    def caption(
        self, pictures: Sequence[T], batch: int, read: Callable[[T], Any] = lambda picture: picture
    ) -> list[str]:
        """One caption a picture, in order; `read` makes a picture of an item.

        Where a GPU writes them, processes read and scale the next ones meanwhile.
        """

        def make(some: Sequence[T]) -> Tensor:
            return self._model.prepare([read(picture) for picture in some])

        def launch(pixels: Tensor) -> Transfer:
            with torch.inference_mode(), autocast(self._device):
                return Transfer(self._model(pixels.to(self._device, non_blocking=True), self._options))

        def collect(_: Tensor, transfer: Transfer) -> list[str]:
            texts = self._model.tokenizer.batch_decode(transfer.wait()[0], skip_special_tokens=True)
            return [text.strip() for text in texts]

        pipeline = Pipeline(pictures, batch, make=make, launch=launch, collect=collect, workers=feeders())
        return [text for texts in pipeline for text in texts]


class _Blip(nn.Module):
    """BLIP's captioner."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoImageProcessor, AutoTokenizer, BlipForConditionalGeneration

        super().__init__()
        try:
            self._processor: Any = AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            self.network: Any = BlipForConditionalGeneration.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_safetensors=True
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise BadInput(
                f"no BLIP captioner: {str(error).partition(chr(10))[0]}",
                file=folder,
                expected="config.json, model.safetensors, preprocessor and tokenizer of BlipForConditionalGeneration",
            ) from error

    def prepare(self, pictures: Sequence[Image.Image]) -> Tensor:
        """Pixels (n, 3, h, w)."""
        return self._processor(images=pictures, return_tensors="pt")["pixel_values"]

    def forward(self, pixels: Tensor, options: dict[str, Any]) -> Tensor:
        """Tokens of a caption a picture."""
        return self.network.generate(pixel_values=pixels, **options)


class _ClipCap(nn.Module):
    """ClipCap (Mokady et al. 2021), which the paper names: GPT-2 behind a prefix made of a picture's CLIP embedding.

    Its folder holds the authors' checkpoint with the MLP (`clip_project.model.0`, tanh, `clip_project.model.2`; `gpt`),
    and GPT-2's `config.json` and tokenizer; the folder `clip` beside it has CLIP, ViT-B/32. The embedding is not
    scaled to length 1. A caption ends at its full stop, as in their code.
    """

    def __init__(self, folder: Path) -> None:
        from transformers import AutoConfig, AutoTokenizer, GPT2LMHeadModel

        from trivium.decorrelation.models.clip import Clip

        super().__init__()
        try:
            config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except (OSError, ValueError, KeyError) as error:
            raise BadInput(f"no GPT-2 of ClipCap: {error}", file=folder, expected="config.json, tokenizer") from None
        if config.model_type != "gpt2":
            raise BadInput("another language model", file=folder, got=config.model_type, expected="gpt2")
        weights: Any = read_plain_tensors(folder / CLIPCAP)
        # Masks of attention, constants that older versions of transformers wrote.
        weights = {name: value for name, value in weights.items() if not name.endswith((".attn.bias", ".masked_bias"))}
        middle, end = (weights.get(f"clip_project.model.{layer}.weight") for layer in (0, 2))
        if middle is None or end is None:
            raise BadInput("no MLP of ClipCap", file=folder / CLIPCAP, field="clip_project.model",
                           expected="the checkpoint with the MLP, not that with a transformer")  # fmt: skip
        self.gpt: Any = GPT2LMHeadModel(config)
        self.clip_project = nn.ModuleDict(
            {"model": nn.Sequential(nn.Linear(*middle.T.shape), nn.Tanh(), nn.Linear(*end.T.shape))}
        )
        load_weights(self, weights, folder / CLIPCAP)
        clip = folder.with_name("clip")
        self._clip = Clip(clip, smallest_crop=1.0)
        self.images = self._clip.module
        if (got := self._clip.dimension) != middle.shape[1]:
            raise BadInput("another CLIP than ClipCap's", file=clip, got=f"{got} numbers", expected=middle.shape[1])
        self._stop = self.tokenizer.convert_tokens_to_ids(".")

    def prepare(self, pictures: Sequence[Image.Image]) -> Tensor:
        """Pixels (n, 3, h, w)."""
        return torch.stack([self._clip.prepare(picture, training=False) for picture in pictures])

    def forward(self, pixels: Tensor, options: dict[str, Any]) -> Tensor:
        """Tokens of a caption a picture."""
        embeddings = self.images.encode_image(pixels).float()
        prefix = self.clip_project["model"](embeddings).view(len(pixels), -1, self.gpt.config.n_embd)
        return self.gpt.generate(
            inputs_embeds=prefix,
            attention_mask=prefix.new_ones(prefix.shape[:2], dtype=torch.int64),
            eos_token_id=self._stop,
            pad_token_id=self.gpt.config.eos_token_id,
            **options,
        )
