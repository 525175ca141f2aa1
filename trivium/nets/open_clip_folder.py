"""Load folders in open_clip's format offline, and encode texts by the text tower of such a CLIP."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other
from trivium.core.tables import read_json

if TYPE_CHECKING:  # takes seconds to import, and only loading a network needs it
    import numpy as np
    import torch
    from numpy.typing import NDArray

CONFIG = "open_clip_config.json"
_TOWERS = {"vision_cfg": "timm_model_name", "text_cfg": "hf_model_name", "multimodal_cfg": "hf_model_name"}


def require_offline(folder: Path) -> dict[str, Any]:
    """Check an open_clip folder before loading: open_clip would query the hub for half a minute, or run its code.

    Returns:
        The configuration of the text tower.

    Raises:
        BadInput: no configuration, one without towers, a tower that is a model of the hub, or a tokenizer that needs
            code of its own.
    """
    path = folder / CONFIG
    model = _part(read_json(path), "model_cfg", path, "")
    for name, key in _TOWERS.items():
        if name == "multimodal_cfg" and name not in model:
            continue
        tower = _part(model, name, path, "model_cfg.")
        field, value = f"model_cfg.{name}.{key}", tower.get(key)
        # open_clip builds timm's own architectures itself; others would be downloaded.
        if value and (key == "hf_model_name" or ":" in str(value)):
            expected = "a tower whose configuration and weights are in this folder"
            raise BadInput("a model of the hub", file=path, field=field, got=value, expected=expected)
        options = tower.get("tokenizer_kwargs") or {}
        if "trust_remote_code" in options:
            problem = "code beside a tokenizer is not trusted"
            raise BadInput(problem, file=path, field=f"model_cfg.{name}.tokenizer_kwargs", got=options)
    return _part(model, "text_cfg", path, "model_cfg.")


def _part(value: Any, name: str, path: Path, before: str) -> dict[str, Any]:
    part = value.get(name) if isinstance(value, dict) else None
    if not isinstance(part, dict):
        raise BadInput("missing or not an object", file=path, field=before + name, got=part, expected="as open_clip's")
    return part


def load_open_clip(name: str, origin: Path | str, text: Mapping[str, Any], **options: Any) -> tuple[Any, Any, Any, Any]:
    """Load a network of open_clip with its preparations and its tokenizer.

    Args:
        name: open_clip's, or `local-dir:` and a folder that `require_offline` has checked.
        origin: the folder, or the user's name of the model, for messages.
        text: the configuration of the text tower; empty: no tokenizer is loaded.
        options: further arguments of open_clip's `create_model_and_transforms`.

    Returns:
        The network in evaluation mode; the transforms of pictures in training, and in evaluation; the tokenizer or
        None.

    Raises:
        BadInput: no such model, no weights, or weights that do not fit (the layer is named).
    """
    import open_clip
    from safetensors import SafetensorError

    from trivium.nets.weights import misfit

    # An argument of transformers' tokenizer, which open_clip's own does not have.
    distrust = {"trust_remote_code": False} if text.get("hf_tokenizer_name") else {}
    try:
        network, drawn, plain = open_clip.create_model_and_transforms(name, weights_only=True, **options)
        tokenize = open_clip.get_tokenizer(name, **distrust) if text else None
    except (RuntimeError, AssertionError) as error:
        if Path(origin).is_dir():
            raise misfit(error, Path(origin)) from None
        raise BadInput(f"cannot be had from open_clip: {error}", got=origin) from None
    except (OSError, ValueError, TypeError, KeyError, SafetensorError, json.JSONDecodeError) as error:
        refuse_other(Path(origin))
        raise BadInput(f"not a usable model of open_clip: {error}", file=origin) from None
    return network.eval(), drawn, plain, tokenize


class ClipText:
    """Encoder of texts as vectors of length 1, to compare by inner product with those of the image tower.

    Args:
        folder: `open_clip_config.json`, weights, and a tokenizer where the configuration names one.
        device: where the network runs, in bf16 on a GPU.

    Raises:
        BadInput: not such a folder, or weights that do not fit its configuration; see `require_offline`.
    """

    def __init__(self, folder: Path, device: "torch.device") -> None:
        text, name = require_offline(folder), f"local-dir:{folder}"
        network, _, _, self._tokenize = load_open_clip(
            name, folder, text, require_pretrained=True, pretrained_text=False
        )
        self._network: Any = network.requires_grad_(False).to(device)
        self._device = device

    def encode(self, texts: Sequence[str], batch_size: int) -> "NDArray[np.float32]":
        """Encode texts, (texts, dimension); the batch size is halved when GPU memory runs out."""
        import numpy as np
        import torch
        from torch.nn.functional import normalize

        from trivium.nets.device import autocast, halving_batches

        def embed(some: Sequence[str]) -> "NDArray[np.float32]":
            with torch.inference_mode(), autocast(self._device):
                vectors = self._network.encode_text(self._tokenize(list(some)).to(self._device))
                return normalize(vectors.float(), dim=1).cpu().numpy()

        return np.concatenate(list(halving_batches(list(texts), batch_size, embed)))
