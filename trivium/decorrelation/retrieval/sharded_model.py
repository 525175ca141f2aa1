"""A trained model that encodes and matches by shards, wherever the engine says (decorrelation.md §3, §4).

A shard is a batch of pictures, or successive captions: what is computed together does not depend on where it is
computed. The result of a shard is a file in the stage's folder; a stage that was killed computes only the missing ones.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from trivium.core.atomic import write_atomically, write_folder
from trivium.core.engine import Engine
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import in_groups
from trivium.decorrelation.models.interface import RetrievalModel, load
from trivium.decorrelation.retrieval.encoding import (
    Named,
    Vectors,
    encode_batches,
    encode_captions,
    stored_pictures,
)
from trivium.formats.pictures import Corpus
from trivium.nets.device import pick_device

T = TypeVar("T")
R = TypeVar("R")
_VECTORS, _SCALED = "vectors.npy", "scaled.npy"  # of a batch of pictures; the second where they are looked at again
_CHUNK = 1 << 14  # captions of a shard
_BATCHES = 16  # of pictures that a GPU is given at a time


CaptionShard = tuple[str, Sequence[str]]  # name of its file, some thousand successive captions
PictureShard = tuple[str, Iterable[Named]]  # name of its folder, a batch of encoded pictures
MatchShard = tuple[str, Path, Sequence[Sequence[str]]]  # name of its file, file of the scaled pictures, texts of each


@dataclass(frozen=True)
class PictureSet:
    """A set of pictures that are asked.

    Attributes:
        name: of the set.
        folder: their image shards.
        names: in the shards.
        queries: what they are called in the results.
        owners: ids of the pictures that each was before something was painted; their captions are its own.
    """

    name: str
    folder: Path
    names: tuple[str, ...]
    queries: tuple[str, ...]
    owners: tuple[int, ...]


@dataclass(frozen=True)
class EncodedPictures:
    """The vectors of n pictures, (n, d), and the second stage of a model that has one.

    `match(name, texts)` gives its scores of each picture with each of its texts: n arrays, as long as the n lists. The
    name tells calls apart.
    """

    vectors: Vectors
    match: Callable[[str, Sequence[Sequence[str]]], Sequence[NDArray[np.float32]]] | None


@dataclass(frozen=True)
class ShardedModel:
    """A trained model: where it was saved, how many pictures and captions it encodes together, where, and into what."""

    folder: Path
    picture_batch: int
    caption_batch: int
    engine: Engine
    work: Path

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Encode texts: (n, d), one row a text.

        A text that comes twice is encoded once: equal sentences have equal scores whatever the batches.
        """
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        different = list(places)
        starts = range(0, max(1, len(different)), _CHUNK)
        shards = ((f"captions-{start:09d}", different[start : start + _CHUNK]) for start in starts)
        encode = partial(encode_caption_shard, batch_size=self.caption_batch)
        vectors = np.concatenate([read_matrix(file) for file in self._map(encode, shards, "captions")])
        return vectors if len(places) == len(texts) else vectors[[places[text] for text in texts]]

    def encode_pictures(self, part: PictureSet) -> EncodedPictures:
        """Encode a set of at least one picture, in the order of its names; its name is unlike any other's.

        Raises:
            BadInput: a picture that is not there, or that cannot be decoded.
        """
        stored = stored_pictures(Images(part.folder), part.names, self.picture_batch)
        rows = {picture: row for row, picture in enumerate(part.names)}
        shards = [(f"{part.name}-{number:05d}", pictures) for number, pictures in enumerate(stored)]
        groups = in_groups(shards, _BATCHES if self._on_gpu else 1)
        encode = partial(encode_picture_shards, source=str(part.folder), batch_size=self.picture_batch)
        folders = [path for paths in self._map(encode, groups, part.name) for path in paths]
        batches = [[rows[picture] for picture in pictures.names] for pictures in stored]
        encoded = np.concatenate([read_matrix(path / _VECTORS) for path in folders])
        vectors = np.empty_like(encoded)
        vectors[np.concatenate(batches)] = encoded
        has_second_stage = all((folder / _SCALED).exists() for folder in folders)
        match = partial(self._match, list(zip(folders, batches, strict=True)))
        return EncodedPictures(vectors, match if has_second_stage else None)

    def _match(
        self, batches: Sequence[tuple[Path, list[int]]], name: str, texts: Sequence[Sequence[str]]
    ) -> list[NDArray[np.float32]]:
        """See `EncodedPictures`; `batches` are the folders of shards, and the rows of their pictures."""
        shards = (
            (f"{name}-{number:05d}", folder / _SCALED, [texts[row] for row in rows])
            for number, (folder, rows) in enumerate(batches)
        )
        logits = [np.zeros(0, np.float32)] * len(texts)
        for file, (_, rows) in zip(self._map(match_shard, shards, name), batches, strict=True):
            ends = np.cumsum([len(texts[row]) for row in rows])
            for row, scores in zip(rows, np.split(read_matrix(file), ends[:-1]), strict=True):
                logits[row] = scores
        return logits

    @property
    def _on_gpu(self) -> bool:
        return self.engine.has_gpu(lambda: pick_device().type == "cuda")

    def _map(self, function: Callable[..., R], shards: Iterable[T], description: str) -> Iterator[R]:
        run: Callable[[T], R] = partial(function, model=self.folder, work=self.work)
        return self.engine.map(run, shards, description=description, on_gpu=self._on_gpu, processes=1, out=self.work)


@lru_cache(maxsize=1)
def load_once(folder: Path) -> RetrievalModel:
    """Load a saved model onto this process's device, in evaluation mode."""
    model = load(folder)
    model.module.eval().to(pick_device())
    return model


def encode_caption_shard(shard: CaptionShard, *, model: Path, work: Path, batch_size: int) -> Path:
    """Write a file with the captions' vectors, unless it is there."""
    name, texts = shard
    file = work / f"{name}.npy"
    if not file.exists():
        _save(file, encode_captions(load_once(model), texts, batch_size))
    return file


def encode_picture_shards(
    shards: Sequence[PictureShard], *, model: Path, work: Path, source: str, batch_size: int
) -> list[Path]:
    """Of each shard a folder with the vectors, and for a second stage the scaled pictures; unless it is there.

    `source` is the folder that the pictures are from, for messages.
    """
    folders = [work / name for name, _ in shards]
    new = [(pictures, work / name) for name, pictures in shards if not (work / name).exists()]
    if not new:
        return folders
    retrieval_model = load_once(model)
    encoded = encode_batches(retrieval_model, [pictures for pictures, _ in new], source, batch_size)
    for (vectors, scaled), (_, folder) in zip(encoded, new, strict=True):
        with write_folder(folder) as path:
            np.save(path / _VECTORS, vectors)
            if retrieval_model.match is not None:  # what was painted takes more room at its own size
                np.save(path / _SCALED, scaled)
    return folders


def match_shard(shard: MatchShard, *, model: Path, work: Path) -> Path:
    """Write a file with the scores of all pairs of a picture and one of its texts, unless it is there."""
    name, pictures, texts = shard
    file = work / f"{name}.npy"
    if not file.exists():
        retrieval_model = load_once(model)
        assert retrieval_model.match is not None
        scaled = torch.from_numpy(np.array(read_matrix(pictures)))
        pixels = retrieval_model.prepare.standardised(scaled.to(next(retrieval_model.module.parameters()).device))
        _save(file, np.concatenate(retrieval_model.match(list(pixels), texts)))
    return file


def _save(file: Path, values: NDArray[np.float32]) -> None:
    with write_atomically(file) as path:
        np.save(path, values)


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
    captions = sorted(
        (caption.id, picture.id, caption.text, picture.split == "test")
        for picture in corpus.pictures
        for caption in picture.captions
    )
    ids, pictures, texts, test = zip(*captions, strict=True) if captions else ((), (), (), ())
    return Captions(np.array(ids, np.int64), np.array(pictures, np.int64), tuple(texts), np.array(test, bool))
