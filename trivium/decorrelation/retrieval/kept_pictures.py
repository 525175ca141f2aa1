"""Scaled pictures on disk, for a model that reads the pictures it is asked about more than once (BLIP's second stage).

A picture is kept as bytes, before it is standardised: what was painted takes more room at its own size.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.decorrelation.retrieval.encoding import Scaled, scaled_pictures
from trivium.files.image_shards import Images
from trivium.files.matrices import read_matrix, write_matrix


@dataclass(frozen=True)
class KeptPictures:
    """Pictures that one model has scaled.

    Attributes:
        folder: for nothing else, and as short-lived as the shards of images that are read: these are known by their
            folder and the names in it.
    """

    folder: Path

    def scaled(self, model: RetrievalModel, images: Images, names: Sequence[str]) -> Iterator[Scaled]:
        """What `encoding.scaled_pictures` gives, in its order; one picture in memory at a time."""
        wanted = set(names)
        known = json.dumps([str(images.folder), sorted(wanted)])
        path = self.folder / f"{hashlib.sha256(known.encode()).hexdigest()}.npy"
        shape = model.plain.scaled(Image.new("RGB", (1, 1))).shape  # of every picture
        if not path.exists():
            with write_matrix(path, len(wanted), int(np.prod(shape)), np.uint8) as matrix:
                for row, (_, pixels) in enumerate(scaled_pictures(model, images, names)):
                    matrix[row] = pixels.ravel()
        ordered = (name for name in images.names if name in wanted)
        for name, pixels in zip(ordered, read_matrix(path), strict=True):
            yield name, pixels.reshape(shape)
