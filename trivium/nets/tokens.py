"""Token ids of texts of different lengths: padded, or concatenated, in memory and on disk.

A training's ids are made once, before its first step, and memory-mapped afterwards. They are made again when a killed
training resumes: that takes minutes at the papers' size, and excludes ids of other texts.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from tqdm import tqdm

from trivium.core.atomic import write_folder
from trivium.core.matrices import read_matrix

Ids = Sequence[int] | NDArray[np.int32]


def pad(rows: Sequence[ArrayLike], filler: int = 0, *, left: bool = False) -> Tensor:
    """Pad rows to (rows, longest) int64, on the right or on the left; no rows: (0, 0)."""
    if not len(rows):
        return torch.zeros((0, 0), dtype=torch.int64)
    tensors = [torch.from_numpy(np.asarray(row, dtype=np.int64)) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filler, padding_side="left" if left else "right")


def first_tokens(tokenizer: Any, text: str, count: int) -> str:
    """Cut a text after its first `count` tokens."""
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    if len(offsets) <= count:
        return text
    return text[: offsets[count - 1][1]] if count else ""


class Ragged(NamedTuple):
    """Concatenated rows of different lengths.

    Attributes:
        values: (sum of the lengths,) int32, one row after the other.
        lengths: (rows,) int64.
    """

    values: Tensor
    lengths: Tensor

    def rows(self) -> list[NDArray[np.int32]]:
        """Split into rows, views of `values`."""
        return np.split(self.values.numpy(), np.cumsum(self.lengths.numpy())[:-1]) if len(self.lengths) else []


def ragged(rows: Sequence[Ids]) -> Ragged:
    """Concatenate rows."""
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.int64)
    values = np.concatenate([np.asarray(row, np.int32) for row in rows]) if rows else np.zeros(0, np.int32)
    return Ragged(torch.from_numpy(values), lengths)


def padded(tokens: Ragged, padding: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Pad rows, at least one, at the end by `padding`; returns ids and mask, (rows, longest) int64 each, on the device.

    The mask is 0 at padding, else 1. Nothing waits for the device: rows in pinned memory are copied while it computes.
    """
    longest = int(tokens.lengths.max())
    values, lengths = (tensor.to(device, non_blocking=True) for tensor in tokens)
    places = torch.arange(longest, device=device)
    mask = places < lengths[:, None]
    starts = lengths.cumsum(0) - lengths
    flat = (starts[:, None] + places).clamp_(max=len(values) - 1)
    ids = torch.where(mask, values[flat].long(), padding)
    return ids, mask.long()


T = TypeVar("T")
AT_ONCE = 4096  # texts tokenised together, on all cores


class TokenRows:
    """Rows of ids, one for each text, that `keep_tokens` wrote."""

    def __init__(self, folder: Path) -> None:
        self._bounds = np.asarray(read_matrix(folder / "bounds.npy"))  # indexing a memmap takes ten times as long
        values = folder / "values.int32"  # an empty file cannot be memory-mapped
        self._values = np.asarray(np.memmap(values, np.int32, "r")) if self._bounds[-1] else np.empty(0, np.int32)

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """Return the ids of a text, a read-only view."""
        return self._values[self._bounds[row] : self._bounds[row + 1]]


def keep_tokens(folder: Path, texts: Sequence[T], tokenize: Callable[[Sequence[T]], Sequence[Ids]]) -> TokenRows:
    """Tokenise texts, in any form that `tokenize` reads, to memory-mapped files; the folder is replaced."""
    bounds = [np.zeros(1, np.int64)]
    with write_folder(folder) as target:
        with (
            (target / "values.int32").open("wb") as file,
            tqdm(total=len(texts), desc=folder.name, unit="text", mininterval=5, leave=False) as progress,
        ):
            for start in range(0, len(texts), AT_ONCE):
                part = ragged(tokenize(texts[start : start + AT_ONCE]))
                file.write(part.values.numpy().tobytes())
                bounds.append(bounds[-1][-1] + np.cumsum(part.lengths.numpy()))
                progress.update(len(part.lengths))
        np.save(target / "bounds.npy", np.concatenate(bounds))
    return TokenRows(folder)
