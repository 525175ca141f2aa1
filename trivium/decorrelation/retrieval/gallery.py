"""All captions of a data set as unit vectors on disk: what queries are asked of (decorrelation.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.decorrelation.retrieval.encoding import Vectors, encode_captions
from trivium.files.matrices import read_matrix, write_matrix
from trivium.files.tables import read_json, write_json
from trivium.formats.pictures import Corpus

_CHUNK = 1 << 14  # captions between two notes of how far the encoding has come


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


def encode_gallery(model: RetrievalModel, texts: Sequence[str], work: Path, batch_size: int) -> Vectors:
    """(n, d), one row a text, memory-mapped in `work`; goes on where it was killed.

    A text that comes twice is encoded once: equal sentences have equal scores whatever the batches.
    """
    path = work / "gallery.npy"
    if not path.exists():
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        vectors = _encode_different(model, list(places), work, batch_size)
        rows = np.array([places[text] for text in texts], np.int64)
        with write_matrix(path, len(texts), model.dimension, np.float32) as matrix:
            for start in range(0, len(texts), _CHUNK):
                matrix[start : start + _CHUNK] = vectors[rows[start : start + _CHUNK]]
    return read_matrix(path)


def _encode_different(model: RetrievalModel, texts: Sequence[str], work: Path, batch_size: int) -> Vectors:
    path, progress = work / "different.npy", work / "different.json"
    if not path.exists():
        with write_matrix(path, len(texts), model.dimension, np.float32):
            pass
    if not texts:
        return read_matrix(path)
    matrix = np.load(path, mmap_mode="r+", allow_pickle=False)
    first = read_json(progress)["done"] if progress.exists() else 0
    for start in tqdm(range(first, len(texts), _CHUNK), desc="captions", unit="chunk", mininterval=5):
        part = texts[start : start + _CHUNK]
        matrix[start : start + len(part)] = encode_captions(model, part, batch_size)
        matrix.flush()
        write_json(progress, {"done": start + len(part)})
    return matrix
