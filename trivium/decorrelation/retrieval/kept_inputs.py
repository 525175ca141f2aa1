"""Scaled pictures and tokens on disk, for all cells whose networks take the same ones.

A picture is kept as bytes, before it is standardised: what was painted takes more room at its own size.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.decorrelation.retrieval.encoding import Scaled, scaled_pictures
from trivium.files.atomic import write_atomically
from trivium.files.image_shards import Images
from trivium.files.matrices import read_matrix, write_matrix


@dataclass(frozen=True)
class KeptInputs:
    """Made by the first cell that asks for them, in whatever process.

    Attributes:
        folder: for nothing else, and as short-lived as the shards of images that are read: these are known by their
            folder and the names in it.
    """

    folder: Path

    def scaled_pictures(self, model: RetrievalModel, images: Images, names: Sequence[str]) -> Iterator[Scaled]:
        """What `encoding.scaled_pictures` gives, in its order; one picture in memory at a time."""
        wanted = set(names)
        known = [model.plain.scaling_digest, str(images.folder), sorted(wanted)]
        path = self.folder / f"pictures-{_digest(known)}.npy"
        shape = model.plain.scaled(Image.new("RGB", (1, 1))).shape  # of every picture
        with _alone(path):
            if not path.exists():
                with write_matrix(path, len(wanted), int(np.prod(shape)), np.uint8) as matrix:
                    for row, (_, pixels) in enumerate(scaled_pictures(model, images, names)):
                        matrix[row] = pixels.ravel()
        ordered = (name for name in images.names if name in wanted)
        for name, pixels in zip(ordered, read_matrix(path), strict=True):
            yield name, pixels.reshape(shape)

    def tokenize(self, model: RetrievalModel, texts: Sequence[str]) -> dict[str, Tensor]:
        """What `model.tokenize` gives; a file a batch."""
        path = self.folder / f"tokens-{_digest([model.tokenizer_digest, list(texts)])}.safetensors"
        with _alone(path):
            if not path.exists():
                with write_atomically(path) as beside:
                    save_file(model.tokenize(texts), beside)
        # Tensors lie in the file as they come: products of such that are not aligned differ in the last bit.
        return {name: each.clone() for name, each in load_file(path).items()}


def _digest(values: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Others that want the same file wait; the lock of a killed process is released."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
