"""Pictures and captions as unit vectors of a retrieval model."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.errors import BadInput
from trivium.files.image_shards import Images
from trivium.nets.device import halving_batches, length_sorted_batches
from trivium.vision.formats import opened

T = TypeVar("T")
Vectors = NDArray[np.float32]
Named = tuple[str, bytes]
Scaled = NDArray[np.uint8]


def named_pictures(images: Images, names: Sequence[str]) -> Iterator[Named]:
    """(name, encoded bytes) of these pictures, in the order of the shards.

    Raises:
        BadInput: a picture that is not there.
    """
    wanted = set(names)
    if missing := sorted(wanted - set(images.names)):
        raise BadInput(
            "no such image", file=images.folder, field="name", got=missing[0], expected=f"{len(wanted)} images"
        )
    return (picture for picture in images.stream() if picture[0] in wanted)


def scaled_pictures(model: RetrievalModel, pictures: Sequence[Named], folder: Path | str) -> list[Scaled]:
    """Each (h, w, 3) as the model scales it.

    Args:
        model: scales.
        pictures: encoded.
        folder: where they are from, for messages.

    Raises:
        BadInput: a picture that cannot be decoded.
    """
    found = []
    for name, data in pictures:
        try:
            image = opened(data).convert("RGB")
        except OSError as error:
            raise BadInput(f"not a readable picture: {error}", file=folder, got=name) from None
        found.append(model.plain.scaled(image))
    return found


def in_groups(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of `size` items; the last may be shorter."""
    group: list[T] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


@torch.inference_mode()
def encode_scaled(model: RetrievalModel, pictures: Sequence[Scaled], batch_size: int) -> Vectors:
    """(n, d), one row a picture, `batch_size` at a time."""
    device = next(model.module.parameters()).device

    def encode(group: Sequence[Scaled]) -> Vectors:
        pixels = model.plain.standardised(np.stack(group)).to(device)
        vectors: Vectors = model.encode_images(pixels).cpu().numpy()
        return vectors

    return np.concatenate(list(halving_batches(pictures, batch_size, encode)))


def encode_pictures(model: RetrievalModel, images: Images, names: Sequence[str], batch_size: int) -> Vectors:
    """(n, d), one row a name; pictures are read `batch_size` at a time."""
    rows = {name: row for row, name in enumerate(names)}
    vectors = np.zeros((len(names), model.dimension), np.float32)
    for group in in_groups(named_pictures(images, names), batch_size):
        pictures = scaled_pictures(model, group, images.folder)
        vectors[[rows[name] for name, _ in group]] = encode_scaled(model, pictures, batch_size)
    return vectors


@torch.inference_mode()
def encode_captions(model: RetrievalModel, texts: Sequence[str], batch_size: int) -> Vectors:
    """(n, d), one row a text; texts of similar length go together."""
    vectors = np.zeros((len(texts), model.dimension), np.float32)
    device = next(model.module.parameters()).device

    def encode(rows: Sequence[int]) -> None:
        tokens = model.tokenize([texts[row] for row in rows])
        vectors[rows] = model.encode_texts({name: each.to(device) for name, each in tokens.items()}).cpu().numpy()

    for batch in length_sorted_batches([len(text) for text in texts], batch_size):
        for _ in halving_batches(batch.tolist(), batch_size, encode):
            pass
    return vectors
