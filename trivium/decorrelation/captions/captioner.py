"""Captions written by a model that looks at the painted picture: BLIP's captioner (decorrelation.md §2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from trivium.errors import BadInput
from trivium.nets.device import autocast, halving_batches, pick_device


class Captioner:
    """A released captioner with its image processor and tokenizer.

    Args:
        folder: a `BlipForConditionalGeneration` with both, as `save_pretrained` writes them.
        beams: 1 is greedy.
        max_tokens: longest caption.

    Raises:
        BadInput: the folder holds no such model.
    """

    def __init__(self, folder: Path, *, beams: int, max_tokens: int) -> None:
        from transformers import AutoImageProcessor, AutoTokenizer, BlipForConditionalGeneration

        try:
            self._processor: Any = AutoImageProcessor.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            model: Any = BlipForConditionalGeneration.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_safetensors=True
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise BadInput(
                f"no BLIP captioner: {str(error).partition(chr(10))[0]}",
                file=folder,
                expected="config.json, model.safetensors, preprocessor and tokenizer of BlipForConditionalGeneration",
            ) from error
        self._device = pick_device()
        self._model = model.to(self._device).eval()
        self._options = {"num_beams": beams, "max_new_tokens": max_tokens, "do_sample": False}

    @torch.inference_mode()
    def caption(self, pictures: Sequence[Image.Image], batch: int) -> list[str]:
        """One caption a picture, in order."""

        def write(some: Sequence[Image.Image]) -> list[str]:
            pixels = self._processor(images=list(some), return_tensors="pt")["pixel_values"].to(self._device)
            with autocast(self._device):
                tokens = self._model.generate(pixel_values=pixels, **self._options)
            return [text.strip() for text in self._tokenizer.batch_decode(tokens, skip_special_tokens=True)]

        return [text for texts in halving_batches(pictures, batch, write) for text in texts]
