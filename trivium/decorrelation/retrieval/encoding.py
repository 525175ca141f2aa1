"""Pictures and captions as unit vectors of a retrieval model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trivium.core.errors import BadInput
from trivium.core.image_shards import IMAGE_SCHEMA, Images
from trivium.core.tables import count_rows, in_groups, read_batches
from trivium.decorrelation.models.interface import RetrievalModel
from trivium.nets.device import halving_batches
from trivium.nets.feeding import Pipeline, Transfer, feeders
from trivium.vision.decoding import read_rgb

Vectors = NDArray[np.float32]
Named = tuple[str, bytes]
Scaled = NDArray[np.uint8]
_ROWS = 32  # of image shards that are read at a time


@dataclass(frozen=True)
class StoredPictures:
    """Pictures of image shards that are encoded together, each (name, encoded bytes); read when they are asked for.

    What is sent to another process are the bytes.

    Raises:
        BadInput: when they are read: a shard is damaged.
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
    """These pictures, `size` at a time, in the order of the shards.

    Raises:
        BadInput: a picture that is not there.
    """
    chosen, files = set(names), images.shards()
    if missing := sorted(chosen - set(images.names)):
        raise BadInput(
            "no such image", file=images.folder, field="name", got=missing[0], expected=f"{len(chosen)} images"
        )
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

    def make(rows: Sequence[int]) -> tuple[Sequence[int], dict[str, Tensor]]:
        return rows, model.tokenize([texts[row] for row in rows])

    def launch(made: tuple[Sequence[int], dict[str, Tensor]]) -> Transfer:
        with torch.inference_mode():
            return Transfer(
                model.encode_texts({name: tensor.to(device, non_blocking=True) for name, tensor in made[1].items()})
            )

    def collect(made: tuple[Sequence[int], dict[str, Tensor]], transfer: Transfer) -> None:
        vectors[list(made[0])] = transfer.wait()[0].numpy()

    longest_first = np.argsort([-len(text) for text in texts], kind="stable").tolist()
    for _ in Pipeline(longest_first, batch_size, make=make, launch=launch, collect=collect, workers=feeders()):
        pass  # `collect` has put the vectors into their rows
    return vectors
