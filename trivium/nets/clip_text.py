"""The text tower of a CLIP in open_clip's format, with the tokenizer that lies in its folder."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import Tensor, nn

from trivium.core.errors import BadInput
from trivium.nets.device import autocast, halving_batches
from trivium.nets.open_clip_folder import CONFIG, require_offline
from trivium.nets.weights import misfit


class ClipText:
    """Texts as vectors of length 1, comparable by inner product with those of the image tower.

    Args:
        folder: `open_clip_config.json`, weights, and a tokenizer where the configuration names one.
        device: to compute on, in bf16 on a GPU.

    Raises:
        BadInput: not such a folder, or weights that do not fit its configuration; see `require_offline`.
    """

    def __init__(self, folder: Path, device: torch.device) -> None:
        import open_clip

        tower = require_offline(folder)
        # It goes to transformers' tokenizer; open_clip's own does not know it.
        distrust = {"trust_remote_code": False} if tower.get("hf_tokenizer_name") else {}
        name = f"local-dir:{folder}"
        try:
            network, _, _ = open_clip.create_model_and_transforms(
                name, weights_only=True, require_pretrained=True, pretrained_text=False
            )
            self._tokenize: Callable[[Sequence[str]], Tensor] = open_clip.get_tokenizer(name, **distrust)
        except (RuntimeError, AssertionError) as error:
            raise misfit(error, folder) from None
        except (OSError, ValueError, TypeError, KeyError, SafetensorError, json.JSONDecodeError) as error:
            raise BadInput(f"not a usable open_clip folder: {error}", file=folder / CONFIG) from None
        self._network: Any = network.eval().requires_grad_(False).to(device)
        self._device = device

    def encode(self, texts: Sequence[str], batch_size: int) -> NDArray[np.float32]:
        """(texts, dimension); the batch size halves itself when GPU memory runs out."""
        return np.concatenate(list(halving_batches(list(texts), batch_size, self._embed)))

    @torch.inference_mode()
    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with autocast(self._device):
            found = self._network.encode_text(self._tokenize(list(texts)).to(self._device))
        return nn.functional.normalize(found.float(), dim=1).cpu().numpy()
