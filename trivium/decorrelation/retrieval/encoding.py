"""Pictures and captions as unit vectors of a retrieval model."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from tqdm import tqdm

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.errors import BadInput
from trivium.files.image_shards import Images
from trivium.nets.device import halving_batches, length_sorted_batches

T = TypeVar("T")
Vectors = NDArray[np.float32]
Scaled = tuple[str, NDArray[np.uint8]]
ReadPictures = Callable[[RetrievalModel, Images, Sequence[str]], Iterator[Scaled]]


def scaled_pictures(model: RetrievalModel, images: Images, names: Sequence[str]) -> Iterator[Scaled]:
    """(name, (h, w, 3) as the model scales it) of these pictures, in the order of the shards.

    Raises:
        BadInput: a picture that is not there, or that cannot be decoded.
    """
    wanted = set(names)
    if missing := sorted(wanted - set(images.names)):
        raise BadInput(
            "no such image", file=images.folder, field="name", got=missing[0], expected=f"{len(wanted)} images"
        )
    for name, data in tqdm(images.stream(), total=len(images.names), desc="pictures", unit="image", mininterval=5):
        if name in wanted:
            try:
                image = Image.open(io.BytesIO(data)).convert("RGB")
            except OSError as error:
                raise BadInput(f"not a readable picture: {error}", file=images.folder, got=name) from None
            yield name, model.plain.scaled(image)


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
def encode_pictures(
    model: RetrievalModel, images: Images, names: Sequence[str], batch_size: int, read: ReadPictures = scaled_pictures
) -> Vectors:
    """(n, d), one row a name; pictures are read by `read`, `batch_size` at a time."""
    rows = {name: row for row, name in enumerate(names)}
    vectors = np.zeros((len(names), model.dimension), np.float32)
    device = next(model.module.parameters()).device

    def encode(group: Sequence[Scaled]) -> None:
        pixels = model.plain.standardised(np.stack([each for _, each in group])).to(device)
        vectors[[rows[name] for name, _ in group]] = model.encode_images(pixels).cpu().numpy()

    for group in in_groups(read(model, images, names), batch_size):
        for _ in halving_batches(group, batch_size, encode):
            pass
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
