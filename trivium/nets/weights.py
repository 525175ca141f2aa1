"""Read and write weights, with clear messages where they do not fit the architecture."""

import pickle
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other

WEIGHTS = "model.safetensors"


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read all tensors of a safetensors file.

    Raises:
        BadInput: no such file, or broken.
    """
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        refuse_other(path)
        raise BadInput(f"not readable as safetensors: {error}", file=path) from None


def read_plain_tensors(path: Path) -> Any:
    """Read a checkpoint of torch, from which only tensors and containers are unpickled.

    Raises:
        BadInput: it is broken, or holds other objects.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, LookupError, ValueError, TypeError) as error:
        refuse_other(path)
        raise BadInput("not plain tensors, or broken", file=path, got=str(error).partition("\n")[0]) from None


def load_weights(module: nn.Module, weights: dict[str, torch.Tensor], path: Path) -> None:
    """Load weights into a module; `path` is their file, for messages.

    Raises:
        BadInput: a tensor is missing, unexpected or of another shape; the message names the first one.
    """
    try:
        module.load_state_dict(weights)
    except RuntimeError as error:
        raise misfit(error, path) from None


def misfit(error: Exception, path: Path) -> BadInput:
    """Make an error of torch's report: a headline, then one line a layer, of which the first is enough."""
    lines = [line.strip() for line in str(error).splitlines()]
    return BadInput(f"weights do not fit the architecture: {lines[min(1, len(lines) - 1)]}", file=path)


def save_weights(module: nn.Module, path: Path) -> None:
    """Write a module's tensors as safetensors."""
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, path)


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a Hugging Face tokenizer without the padding and truncation of its last call, which it would keep."""
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.save_pretrained(folder)
