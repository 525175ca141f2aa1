"""Read and write weights, with clear messages where they do not fit the architecture."""

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from trivium.core.errors import BadInput
from trivium.core.reading import refuse_other

WEIGHTS = "model.safetensors"
_NAME = re.compile(r'"([^"]+)"')  # in torch's report
_WORDS = re.compile(r"(token_embedding|text.*word_embeddings)\.weight")  # of a text tower beside one of pictures


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """Read all tensors of a safetensors file; `BadInput`: no such file, or broken."""
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        refuse_other(path)
        raise BadInput(f"not readable as safetensors: {error}", file=path) from None


def read_plain_tensors(path: Path) -> Any:
    """Read a checkpoint of torch, tensors and containers alone; `BadInput`: it is broken, or holds other objects."""
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
    line = lines[min(1, len(lines) - 1)]
    kind, keys, names = line.partition(" key(s)")
    if keys:
        return unfit_names(_NAME.findall(names), kind.lower(), path)
    return BadInput(f"weights do not fit the architecture: {line}", file=path)


def unfit_names(names: Sequence[str], kind: str, path: Path) -> BadInput:
    """Make an error of the names of weights, `missing` or `unexpected`; it says so where a text tower is missing."""
    if kind == "missing" and (words := next(filter(_WORDS.search, names), None)):
        expected = "encoders of pictures and of texts, as ODmAP needs them"
        return BadInput("the folder has no text tower", file=path, got=f"no {words}", expected=expected)
    some = f"{len(names)} {kind}, such as {', '.join(names[:3])}"
    return BadInput(f"weights do not fit the architecture: {some}", file=path)


def save_weights(module: nn.Module, path: Path) -> None:
    """Write a module's tensors as safetensors."""
    save_file({name: value.contiguous() for name, value in module.state_dict().items()}, path)


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write a Hugging Face tokenizer without the padding and truncation of its last call, which it would keep."""
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.save_pretrained(folder)
