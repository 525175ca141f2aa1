"""Rows of numbers of different lengths as one tensor."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def pad(rows: Sequence[ArrayLike], filler: int = 0, *, left: bool = False) -> Tensor:
    """(rows, longest) int64, filled up on the right or on the left."""
    tensors = [torch.from_numpy(np.asarray(row, dtype=np.int64)) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=filler, padding_side="left" if left else "right")
