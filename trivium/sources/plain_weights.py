"""Weights of a hub repository that has only a pickle: read as plain tensors, kept as safetensors."""

from pathlib import Path

import torch
from safetensors.torch import save_file

from trivium.core.errors import BadInput
from trivium.nets.weights import WEIGHTS, read_plain_tensors

INDEX, PICKLED = "model.safetensors.index.json", "pytorch_model.bin"


def keep_plain(folder: Path) -> None:
    """Keep safetensors; turn `pytorch_model.bin` into them where they are missing, and remove it.

    `position_ids`, a constant that older versions of transformers wrote and newer networks do not hold, is left out.

    Raises:
        BadInput: the pickle is broken, or holds something else than tensors.
    """
    pickled = folder / PICKLED
    if not pickled.exists():
        return
    if not (folder / WEIGHTS).exists() and not (folder / INDEX).exists():
        state = read_plain_tensors(pickled)
        if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
            raise BadInput("not a checkpoint", file=pickled, expected="a mapping of tensors")
        # Tied weights share memory, which safetensors refuses.
        plain = {name: value.clone() for name, value in state.items() if not name.endswith(".position_ids")}
        save_file(plain, folder / WEIGHTS, metadata={"format": "pt"})
    pickled.unlink()
