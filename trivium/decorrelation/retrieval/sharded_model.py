"""Pictures and captions as vectors of a trained model, by shards wherever the engine says (decorrelation.md §3, §4).

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
from torch import Tensor

from trivium.core.atomic import write_atomically, write_folder
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.image_shards import IMAGE_SCHEMA, Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import count_rows, in_groups, read_batches
from trivium.decorrelation.models.interface import RetrievalModel, load
from trivium.formats.pictures import Corpus
from trivium.nets.device import halving_batches, pick_device
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.vision.decoding import read_rgb

T = TypeVar("T")
R = TypeVar("R")
_VECTORS, _SCALED = "vectors.npy", "scaled.npy"  # of a batch of pictures; the second where they are looked at again
_CHUNK = 1 << 14  # captions of a shard
_BATCHES = 16  # of pictures that a GPU is given at a time
Vectors = NDArray[np.float32]
Named = tuple[str, bytes]
Scaled = NDArray[np.uint8]
_ROWS = 32  # of image shards that are read at a time


@dataclass(frozen=True)
class StoredPictures:
    """Pictures of image shards that are encoded together, each (name, encoded bytes); read when they are asked for.

    What is sent to another process are the bytes. `BadInput` when they are read: a shard is damaged.
    """

    names: Sequence[str]
    files: Sequence[Path]

    def __iter__(self) -> Iterator[Named]:
        chosen = set(self.names)
        for file in self.files:
            for batch in read_batches(file, _ROWS, IMAGE_SCHEMA.names):
                for name, data in zip(batch["name"].to_pylist(), batch["data"], strict=True):
                    if name in chosen:
                        yield name, data.as_py()

    def __reduce__(self) -> tuple[type[list[Named]], tuple[list[Named]]]:
        return list, (list(self),)


def stored_pictures(images: Images, names: Sequence[str], size: int) -> list[StoredPictures]:
    """These pictures, `size` at a time, in the order of the shards; `BadInput`: a picture that is not there."""
    chosen, files = set(names), images.shards()
    if missing := sorted(chosen - set(images.names)):
        raise BadInput("no such image", file=images.folder, field="name", got=missing[0],
                       expected=f"{len(chosen)} images")  # fmt: skip
    ends = np.cumsum([count_rows(file) for file in files])
    places = (place for place, name in enumerate(images.names) if name in chosen)
    return [
        StoredPictures(
            [images.names[place] for place in group],
            [files[number] for number in np.unique(np.searchsorted(ends, group, side="right"))],
        )
        for group in in_groups(places, size)
    ]


def scaled_pictures(model: RetrievalModel, pictures: Iterable[Named], folder: Path | str) -> list[Scaled]:
    """Each (h, w, 3) as the model scales it; `BadInput` names one of the folder that cannot be decoded."""
    return [model.prepare.scaled(read_rgb(data, name, folder)) for name, data in pictures]


def encode_batches(
    model: RetrievalModel, batches: Sequence[Iterable[Named]], folder: Path | str, batch_size: int
) -> Iterator[tuple[Vectors, Scaled]]:
    """Encode batches: of each the vectors, (n, d), and the pictures as the model scales them, (n, h, w, 3).

    Where a GPU encodes a batch, processes read and decode the next ones meanwhile; `batch_size` is halved when its
    memory runs out.
    """
    device = next(model.module.parameters()).device

    def make(one: Sequence[Iterable[Named]]) -> Tensor:
        return torch.from_numpy(np.stack(scaled_pictures(model, one[0], folder)))

    def launch(scaled: Tensor) -> Transfer:
        pixels = scaled.to(device, non_blocking=True)

        def encode(rows: Sequence[int]) -> Tensor:
            return model.encode_images(model.prepare.standardised(pixels[rows[0] : rows[-1] + 1]))

        with torch.inference_mode():
            return Transfer(torch.cat(list(halving_batches(range(len(pixels)), batch_size, encode))))

    def collect(scaled: Tensor, transfer: Transfer) -> tuple[Vectors, Scaled]:
        return transfer.wait()[0].numpy(), scaled.numpy()

    yield from Pipeline(batches, 1, make=make, launch=launch, collect=collect, workers=feeders())


def encode_pictures(model: RetrievalModel, images: Images, names: Sequence[str], batch_size: int) -> Vectors:
    """(n, d), one row a name; pictures are read `batch_size` at a time."""
    rows = {name: row for row, name in enumerate(names)}
    vectors = np.zeros((len(names), model.dimension), np.float32)
    batches = stored_pictures(images, names, batch_size)
    for batch, (encoded, _) in zip(batches, encode_batches(model, batches, images.folder, batch_size), strict=True):
        vectors[[rows[name] for name in batch.names]] = encoded
    return vectors


def encode_captions(model: RetrievalModel, texts: Sequence[str], batch_size: int) -> Vectors:
    """(n, d), one row a text; texts of similar length go together.

    Where a GPU encodes them, processes tokenise the next ones meanwhile.
    """
    vectors = np.zeros((len(texts), model.dimension), np.float32)
    device = next(model.module.parameters()).device

    def make(rows: Sequence[int]) -> dict[str, Tensor]:
        return model.tokenize([texts[row] for row in rows])

    def launch(tokens: dict[str, Tensor]) -> Transfer:
        on_device = {name: tensor.to(device, non_blocking=True) for name, tensor in tokens.items()}
        with torch.inference_mode():
            return Transfer(model.encode_texts(on_device))

    def collect(_: dict[str, Tensor], transfer: Transfer) -> Vectors:
        return transfer.wait()[0].numpy()

    longest_first = np.argsort([-len(text) for text in texts], kind="stable").tolist()
    encoded = Pipeline(longest_first, batch_size, make=make, launch=launch, collect=collect, workers=feeders())
    vectors[longest_first] = np.concatenate([vectors[:0], *encoded])
    return vectors


CaptionShard = tuple[str, Sequence[str]]  # name of its file, some thousand successive captions
PictureShard = tuple[str, Iterable[Named]]  # name of its folder, a batch of encoded pictures
MatchShard = tuple[str, Path, Sequence[Sequence[str]]]  # name of its file, file of the scaled pictures, texts of each


@dataclass(frozen=True)
class PictureSet:
    """A set of pictures that are asked: names in the image shards of a folder, and what they are called in results.

    `owners` are the ids of the pictures that each was before something was painted; their captions are its own.
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

        `BadInput`: a picture that is not there, or that cannot be decoded.
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
    """Captions in the order of their ids, (n,) sentids, so that ties go to the lower id.

    `pictures` are (n,), that each belongs to, and `test` (n,) whether that is a test picture.
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
