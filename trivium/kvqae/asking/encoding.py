"""Pictures and passages that are new to a store are encoded; vectors stay in 32 bits."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance
from tqdm import tqdm

from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.kvqae.asking.models import PictureModel, TextModel
from trivium.kvqae.asking.vector_store import Vectors, VectorStore
from trivium.vision.align import align
from trivium.vision.decoding import Unreadable, decode
from trivium.vision.image_encoding import LoadedEncoder

PICTURES_AT_A_TIME, TEXTS_AT_A_TIME, BATCH = 256, 2048, 32
NO_FACE = "no face"


@dataclass(frozen=True)
class Shown:
    """A picture to encode.

    Attributes:
        key: under which its vector is kept: the hash of its bytes, and `:view` for a view.
        path: its file.
        view: whether a view of it is drawn first, see `view_of`.
    """

    key: str
    path: Path
    view: bool = False

    def open(self, limits: Mapping[str, int]) -> Image.Image:
        """An upright RGB picture of bounded size.

        Raises:
            Unreadable: the bytes give none.
            BadInput: the file has gone, or has changed since it was listed.
        """
        data = read_bytes(self.path, LARGEST_IMAGE)
        if hashlib.sha256(data).hexdigest() != self.key.partition(":")[0]:
            raise BadInput("the picture has changed since it was listed: run again", file=self.path)
        picture = decode(data, **limits)
        return view_of(picture, self.key) if self.view else picture


def view_of(picture: Image.Image, key: str) -> Image.Image:
    """Another view of a picture, as if somebody had photographed it again: a crop, mirrored or not, in other light.

    It stands in for a second photograph where a base has one picture an entry. The key decides what is drawn.
    """
    draw = np.random.default_rng(int(hashlib.sha256(key.encode()).hexdigest()[:16], 16))
    width, height = picture.size
    share = draw.uniform(0.75, 0.95)
    across, down = max(1, round(share * width)), max(1, round(share * height))
    left, top = (int(draw.integers(0, room + 1)) for room in (width - across, height - down))
    seen = picture.crop((left, top, left + across, top + down)).rotate(draw.uniform(-8, 8), fillcolor="grey")
    if draw.random() < 0.5:
        seen = seen.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        seen = enhance(seen).enhance(draw.uniform(0.65, 1.35))
    noise = draw.normal(0, 12, (*seen.size[::-1], 3))
    return Image.fromarray(np.clip(np.asarray(seen) + noise, 0, 255).astype(np.uint8))


def encode_pictures(model: PictureModel, shown: Sequence[Shown], store: VectorStore, limits: Mapping[str, int]) -> int:
    """Have a store hold a vector, or the reason why there is none, of each picture; returns how many were encoded.

    Raises:
        BadInput: the encoder cannot be loaded, or gave NaN.
    """
    new = set(store.missing([each.key for each in shown]))
    wanted = list({each.key: each for each in shown if each.key in new}.values())
    if not wanted:
        return 0
    encoder = model.load()
    with tqdm(total=len(wanted), desc=model.label, unit="picture", mininterval=5) as bar:
        for part in _parts(wanted, PICTURES_AT_A_TIME):
            store.add([each.key for each in part], encode_part(encoder, part, limits))
            bar.update(len(part))
    return len(wanted)


def encode_part(encoder: LoadedEncoder, part: Sequence[Shown], limits: Mapping[str, int]) -> list[Vectors | str]:
    """The vector of each picture, or why there is none: `NO_FACE`, or it cannot be decoded.

    Raises:
        BadInput: the encoder gave NaN, or a picture has changed since it was listed.
    """
    vectors: list[Vectors | str] = [NO_FACE] * len(part)
    pictures: dict[int, Image.Image] = {}
    for place, each in enumerate(part):
        try:
            pictures[place] = each.open(limits)
        except Unreadable as problem:
            vectors[place] = str(problem)
    if encoder.detector is None:
        for places in _parts(list(pictures), BATCH):
            for place, vector in zip(places, encoder.embed([pictures[each] for each in places]), strict=True):
                vectors[place] = vector
    else:
        for place, picture in pictures.items():
            pixels = np.asarray(picture)
            if (face := encoder.detector([pixels])[0].best) is not None:
                # One at a time: no vector depends on its neighbours.
                vectors[place] = encoder.embed([align(pixels, face.landmarks)])[0]
    for place, vector in enumerate(vectors):
        if not isinstance(vector, str) and not np.isfinite(vector).all():
            raise BadInput("NaN or infinite embedding", file=encoder.embed.path, row=str(part[place].path))
    return vectors


def encode_passages(
    model: TextModel, titles: Sequence[str], texts: Sequence[str], keys: Sequence[str], store: VectorStore, tokens: int
) -> int:
    """Have a store hold the vector of each passage; returns how many were encoded.

    Raises:
        BadInput: the encoder cannot be loaded, or gave NaN.
    """
    new = set(store.missing(keys))
    rows = list({key: row for row, key in enumerate(keys) if key in new}.values())
    if not rows:
        return 0
    encoder = model.load("passage")
    with tqdm(total=len(rows), desc=model.label, unit="passage", mininterval=5) as bar:
        for part in _parts(rows, TEXTS_AT_A_TIME):
            ids = encoder.tokenize([texts[row] for row in part], tokens, [titles[row] for row in part])
            vectors = encoder.encode(ids, BATCH)
            good = np.isfinite(vectors).all(axis=1)
            if not good.all():
                raise BadInput("NaN or infinite embedding", field=model.name, row=part[int(np.argmin(good))] + 1)
            store.add([keys[row] for row in part], list(vectors))
            bar.update(len(part))
    return len(rows)


def _parts(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def unit(vectors: NDArray[np.float32]) -> Vectors:
    """Rows of length 1; a zero row stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
