"""Token ids of texts of different lengths, one after the other: only what is no padding travels to a GPU."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Ids = Sequence[int] | NDArray[np.int32]


class Ragged(NamedTuple):
    """Rows of different lengths.

    Attributes:
        values: (sum of the lengths,) int32, row after row.
        lengths: (rows,) int64.
    """

    values: Tensor
    lengths: Tensor

    def rows(self) -> list[NDArray[np.int32]]:
        """One after the other, views of `values`."""
        return np.split(self.values.numpy(), np.cumsum(self.lengths.numpy())[:-1]) if len(self.lengths) else []


def ragged(rows: Sequence[Ids]) -> Ragged:
    """Put rows one after the other."""
    lengths = torch.tensor([len(row) for row in rows], dtype=torch.int64)
    values = np.concatenate([np.asarray(row, np.int32) for row in rows]) if rows else np.zeros(0, np.int32)
    return Ragged(torch.from_numpy(values), lengths)


def padded(tokens: Ragged, padding: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids and mask, both (rows, longest) int64 on the device, padded there at the end.

    Nothing waits for the device: from pinned memory the rows travel while it computes.

    Args:
        tokens: on the CPU, at least one row.
        padding: id of what is put behind shorter rows; the mask is 0 there, and 1 elsewhere.
        device: of the result.
    """
    longest = int(tokens.lengths.max())
    values, lengths = (each.to(device, non_blocking=True) for each in tokens)
    places = torch.arange(longest, device=device)
    mask = places < lengths[:, None]
    starts = lengths.cumsum(0) - lengths
    flat = (starts[:, None] + places).clamp_(max=len(values) - 1)
    ids = torch.where(mask, values[flat].long(), padding)
    return ids, mask.long()
