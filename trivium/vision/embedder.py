"""What a frozen image encoder's network does, once it is loaded (kvqae.md §3)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CPU_BATCH = 8
"""Inputs that a CPU computes together. A product rounds differently from one shape to another, and a vector must not
depend on what stands beside it; so the last batch is filled up with zeros."""


class Embedder(ABC):
    """An encoder's network, loaded.

    Attributes:
        path: where it was loaded from, for messages.
        dimension: of an embedding.
    """

    path: Path
    dimension: int

    @abstractmethod
    def prepare(self, images: Sequence[Any]) -> Any:
        """Aligned crops of faces or RGB pictures, by its route, as its input: of pictures, ahead of a busy GPU."""

    @abstractmethod
    def embed(self, prepared: Any) -> NDArray[np.float32]:
        """Embed what `prepare` gave; returns (n, dimension), each of length 1."""

    def __call__(self, images: Sequence[Any]) -> NDArray[np.float32]:
        """Prepare and embed; returns (n, dimension), each of length 1."""
        return self.embed(self.prepare(images))
