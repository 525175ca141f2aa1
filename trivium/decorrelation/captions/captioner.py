"""Captions written by a model that looks at the painted picture: BLIP's captioner (decorrelation.md §2)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from trivium.core.errors import BadInput
from trivium.nets.device import autocast, pick_device
from trivium.nets.feeding import Leaving, Pipeline, feeders


class Captioner:
    """A released captioner with its image processor and tokenizer, as `save_pretrained` writes them; 1 beam is greedy.

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

    def caption(self, pictures: Sequence[Image.Image], batch: int) -> list[str]:
        """One caption a picture, in order.

        Where a GPU writes them, processes take the next pictures out of the sequence and scale them meanwhile.
        """

        def make(some: Sequence[Image.Image]) -> Tensor:
            return self._processor(images=list(some), return_tensors="pt")["pixel_values"]

        def launch(pixels: Tensor) -> Leaving:
            with torch.inference_mode(), autocast(self._device):
                on_device = pixels.to(self._device, non_blocking=True)
                return Leaving(self._model.generate(pixel_values=on_device, **self._options))

        def collect(_: Tensor, leaving: Leaving) -> list[str]:
            texts = self._tokenizer.batch_decode(leaving.arrived()[0], skip_special_tokens=True)
            return [text.strip() for text in texts]

        pipeline = Pipeline(pictures, batch, make=make, launch=launch, collect=collect, workers=feeders())
        found = [text for texts in pipeline for text in texts]
        if pipeline.workers:
            print(f"pictures: captioning {pipeline}")
        return found
