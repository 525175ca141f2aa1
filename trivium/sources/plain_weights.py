"""Published weights, pickled and under other names: read as plain tensors, kept as safetensors."""

import re
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from trivium.core.errors import BadInput
from trivium.nets.weights import WEIGHTS, read_plain_tensors

INDEX, PICKLED = "model.safetensors.index.json", "pytorch_model.bin"


def read_pickled(path: Path, field: str | None = None) -> dict[str, torch.Tensor]:
    """The tensors of a pickled checkpoint, or of one of its fields; nothing is unpickled but plain tensors.

    Raises:
        BadInput: the pickle is broken, or holds something else than tensors.
    """
    tree = read_plain_tensors(path)
    state = tree if field is None else tree.get(field) if isinstance(tree, dict) else None
    if not isinstance(state, dict) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise BadInput("not a checkpoint", file=path, field=field, expected="a mapping of tensors")
    return state


def rename(name: str, patterns: Sequence[tuple[str, str]], path: Path) -> str:
    """A tensor's name in our network, by the first pattern that it has; `BadInput` where it has none."""
    for pattern, replacement in patterns:
        renamed, count = re.subn(pattern, replacement, name)
        if count:
            return renamed
    raise BadInput("no tensor of this network", file=path, field=name)


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
        state = read_pickled(pickled)
        # Tied weights share memory, which safetensors refuses.
        plain = {name: value.clone() for name, value in state.items() if not name.endswith(".position_ids")}
        save_file(plain, folder / WEIGHTS, metadata={"format": "pt"})
    pickled.unlink()
