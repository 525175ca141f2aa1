"""Token ids of a training's texts: made once, before its first step, and read memory-mapped in every step.

They are made anew when a killed training goes on: that takes minutes at the papers' size, and what is read is never of
other texts.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from trivium.core.atomic import write_atomically
from trivium.core.matrices import read_matrix
from trivium.nets.ragged import Ids, ragged

T = TypeVar("T")
AT_ONCE = 4096  # texts tokenised together, on all cores


class TokenRows:
    """What `keep_tokens` wrote: a row of ids a text."""

    def __init__(self, folder: Path) -> None:
        self._bounds = np.asarray(read_matrix(folder / "bounds.npy"))  # a view of a memmap takes ten times as long
        values = folder / "values.int32"  # an empty file cannot be memory-mapped
        self._values = np.asarray(np.memmap(values, np.int32, "r")) if self._bounds[-1] else np.empty(0, np.int32)

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        """The ids of a text; not a copy, and read-only."""
        return self._values[self._bounds[row] : self._bounds[row + 1]]


def keep_tokens(folder: Path, texts: Sequence[T], tokenize: Callable[[Sequence[T]], Sequence[Ids]]) -> TokenRows:
    """Tokenise each text once.

    Args:
        folder: of the training's own; what was there is replaced.
        texts: whatever `tokenize` reads.
        tokenize: gives the ids of each of some texts.
    """
    bounds = [np.zeros(1, np.int64)]
    with write_atomically(folder) as beside:
        beside.mkdir()
        with (
            (beside / "values.int32").open("wb") as file,
            tqdm(total=len(texts), desc=folder.name, unit="text", mininterval=5, leave=False) as progress,
        ):
            for start in range(0, len(texts), AT_ONCE):
                part = ragged(tokenize(texts[start : start + AT_ONCE]))
                file.write(part.values.numpy().tobytes())
                bounds.append(bounds[-1][-1] + np.cumsum(part.lengths.numpy()))
                progress.update(len(part.lengths))
        np.save(beside / "bounds.npy", np.concatenate(bounds))
    return TokenRows(folder)
