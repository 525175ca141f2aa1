"""All captions of a data set as unit vectors on disk: what queries are asked of (decorrelation.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.core.matrices import read_matrix, write_matrix
from trivium.decorrelation.retrieval.encoding import Vectors
from trivium.decorrelation.retrieval.sharded_model import ShardedModel
from trivium.formats.pictures import Corpus


@dataclass(frozen=True)
class Captions:
    """Captions in the order of their ids, so that ties go to the lower id.

    Attributes:
        ids: (n,) sentids, increasing.
        pictures: (n,) the picture that each belongs to.
        texts: n sentences.
        test: (n,) whether each belongs to a test picture.
    """

    ids: NDArray[np.int64]
    pictures: NDArray[np.int64]
    texts: tuple[str, ...]
    test: NDArray[np.bool_]


def captions_of(corpus: Corpus) -> Captions:
    """The captions of all splits."""
    found = sorted(
        (caption.id, picture.id, caption.text, picture.split == "test")
        for picture in corpus.pictures
        for caption in picture.captions
    )
    ids, pictures, texts, test = zip(*found, strict=True) if found else ((), (), (), ())
    return Captions(np.array(ids, np.int64), np.array(pictures, np.int64), tuple(texts), np.array(test, bool))


def encode_gallery(model: ShardedModel, texts: Sequence[str]) -> Vectors:
    """(n, d), one row a text, memory-mapped in the model's folder for work.

    A text that comes twice is encoded once: equal sentences have equal scores whatever the batches.
    """
    path = model.work / "gallery.npy"
    if not path.exists():
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        rows = np.array([places[text] for text in texts], np.int64)
        parts = model.encode_captions(list(places))
        with write_matrix(path, len(texts), parts[0].shape[1], np.float32) as matrix:
            first = 0
            for part in parts:
                own = np.flatnonzero((rows >= first) & (rows < first + len(part)))
                matrix[own] = part[rows[own] - first]
                first += len(part)
    return read_matrix(path)
