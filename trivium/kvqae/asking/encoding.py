"""Encode pictures and passages, and store vectors by the hash of the item, so that nothing is encoded twice.

A store is one SQLite file; a batch is one transaction. Deleted vectors, such as those of faces, are overwritten.
"""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance
from tqdm import tqdm

from trivium.core.engine import LocalEngine, all_workers
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, read_bytes
from trivium.core.tables import in_groups
from trivium.formats.pictures import unread_picture
from trivium.kvqae.asking.models import LIMITS, Model
from trivium.vision.align import align
from trivium.vision.decoding import Picture, Unreadable, decode_picture
from trivium.vision.image_encoding import LoadedEncoder

if TYPE_CHECKING:  # torch takes seconds to import
    from trivium.kvqae.retrieval.text_encoder import TextEncoder

Vectors = NDArray[np.float32]
FILE = "vectors.sqlite"
# `blank`: why there is no vector; with a vector, the flaws of its picture, separated by spaces.
_TABLE = """CREATE TABLE IF NOT EXISTS vectors
    (encoder TEXT, key TEXT, vector BLOB, blank TEXT, PRIMARY KEY (encoder, key))"""
PICTURES_AT_A_TIME, TEXTS_AT_A_TIME, BATCH = 256, 512, 32
NO_FACE = "no face"


class VectorStore:
    """Store of one encoder's vectors, named by the digest of its weights, settings and code; a file when it has one."""

    def __init__(self, folder: Path, digest: str) -> None:
        self._folder, self._digest = folder, digest

    @cached_property
    def _file(self) -> sqlite3.Connection:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = sqlite3.connect(self._folder / FILE)
        file.execute("PRAGMA secure_delete = ON")
        file.execute(_TABLE)
        return file

    def _select(self, columns: str, condition: str = "TRUE", *values: Any) -> sqlite3.Cursor:
        query = f"SELECT {columns} FROM vectors WHERE encoder = ? AND {condition}"
        return self._file.execute(query, [self._digest, *values])

    def remarks(self, *, has_vector: bool) -> dict[str, str]:
        """Return key → why there is no vector; or, for pictures with a vector, their flaws, separated by spaces."""
        return dict(self._select("key, blank", "blank IS NOT NULL AND (vector IS NOT NULL) = ?", has_vector))

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are not stored, each once, in their order."""
        stored = {key for (key,) in self._select("key")} if (self._folder / FILE).exists() else ()
        return [key for key in dict.fromkeys(keys) if key not in stored]

    def add(self, vectors: Mapping[str, tuple[Vectors | None, str | None]]) -> None:
        """Store each key's vector and the flaws of its picture; or None, and why there is no vector."""
        rows = [
            (self._digest, key, None if vector is None else np.asarray(vector, "<f4").tobytes(), blank)
            for key, (vector, blank) in vectors.items()
        ]
        with self._file:
            self._file.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", rows)

    def take(self, keys: Sequence[str]) -> Vectors:
        """Read the vectors of these keys, (keys, width), (0, 0) without keys; KeyError if a key has no vector."""
        stored = [self._select("vector", "key = ? AND vector IS NOT NULL", key).fetchone() for key in keys]
        if None in stored:
            raise KeyError(keys[stored.index(None)])
        return np.stack([np.frombuffer(row[0], "<f4") for row in stored]) if keys else np.zeros((0, 0), np.float32)


def keep_only(folder: Path, kept: Mapping[str, Collection[str]]) -> None:
    """Remove all but these keys from a folder's store; `kept` is by digest; a kept picture keeps its view."""
    if not kept:
        shutil.rmtree(folder, ignore_errors=True)
        return
    with sqlite3.connect(folder / FILE) as file:
        file.execute("PRAGMA secure_delete = ON")
        stored = file.execute("SELECT encoder, key FROM vectors").fetchall()
        gone = [(digest, key) for digest, key in stored if key.partition(":")[0] not in kept.get(digest, ())]
        file.executemany("DELETE FROM vectors WHERE encoder = ? AND key = ?", gone)


@dataclass(frozen=True)
class Shown:
    """A picture to encode."""

    key: str  # key of its vector: the hash of its bytes, with `:view` for a view
    path: Path

    def open(self) -> Picture:
        """Open the picture, upright, in RGB and of bounded size, or its view (`draw_view`); with its flaws.

        `Unreadable`: it cannot be decoded. `BadInput`: the file is missing or has changed since it was listed.
        """
        data = read_bytes(self.path, LARGEST_IMAGE)
        sha256, _, view = self.key.partition(":")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise BadInput("the picture has changed since it was listed: run again", file=self.path)
        if why := unread_picture(self.path, data[:32]):
            raise Unreadable("not_an_image", why)
        picture = decode_picture(data, **LIMITS)
        return Picture(draw_view(picture.image, self.key), broken_exif=False) if view else picture


def draw_view(picture: Image.Image, key: str) -> Image.Image:
    """Draw another view of a picture, as if photographed again: cropped, turned, perhaps mirrored, in other light.

    It replaces a second photograph where entries have only one picture. The key seeds the draw.
    """
    draw = np.random.default_rng(int(hashlib.sha256(key.encode()).hexdigest()[:16], 16))
    width, height = picture.size
    share = draw.uniform(0.75, 0.95)
    across, down = max(1, round(share * width)), max(1, round(share * height))
    left, top = (int(draw.integers(0, room + 1)) for room in (width - across, height - down))
    view = picture.crop((left, top, left + across, top + down)).rotate(draw.uniform(-8, 8), fillcolor="grey")
    if draw.random() < 0.5:
        view = view.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        view = enhance(view).enhance(draw.uniform(0.65, 1.35))
    noise = draw.normal(0, 12, (*view.size[::-1], 3))
    return Image.fromarray(np.clip(np.asarray(view) + noise, 0, 255).astype(np.uint8))


def encode_pictures(model: Model, shown: Sequence[Shown], store: VectorStore) -> int:
    """Store a vector of each picture, or the reason why there is none; returns how many were encoded.

    Raises:
        BadInput: the encoder cannot be loaded, an embedding has NaN, or a picture has changed since it was listed.
    """
    by_key = {picture.key: picture for picture in shown}
    if not (new := store.missing(by_key)):
        return 0
    encoder = model.load()
    for part in tqdm(list(in_groups(new, PICTURES_AT_A_TIME)), desc=model.label, unit="batch", mininterval=5):
        opened, made = dict[str, Picture](), dict[str, tuple[Vectors | None, str | None]]()
        for key in part:
            try:
                opened[key] = by_key[key].open()
            except Unreadable as problem:
                made[key] = None, str(problem)
        for (key, picture), vector in zip(opened.items(), _embed(encoder, opened.values()), strict=True):
            if vector is not None and not np.isfinite(vector).all():
                raise BadInput("NaN or infinite embedding", file=encoder.embed.path, row=str(by_key[key].path))
            made[key] = (None, NO_FACE) if vector is None else (vector, " ".join(picture.flaws) or None)
        store.add(made)
    return len(new)


def _embed(encoder: LoadedEncoder, pictures: Iterable[Picture]) -> Iterator[Vectors | None]:
    """Embed each picture, or its most probable face; None for a picture without a face."""
    images = [picture.image for picture in pictures]
    if encoder.detector is None:
        for part in in_groups(images, BATCH):
            yield from encoder.embed(part)
        return
    for pixels in map(np.asarray, images):
        face = encoder.detector([pixels])[0].best
        yield None if face is None else encoder.embed([align(pixels, face.landmarks)])[0]


def encode_passages(model: Model, passages: Mapping[str, tuple[str, str]], store: VectorStore, tokens: int) -> int:
    """Store a vector of each passage; returns how many were encoded.

    `passages` are key → (title, text), of which at most `tokens` are read. `BadInput`: an embedding has NaN.
    """
    if not (new := store.missing(passages)):
        return 0
    from trivium.nets.device import pick_device

    parts, on_gpu = list(in_groups(new, TEXTS_AT_A_TIME)), pick_device().type == "cuda"
    texts = ([passages[key] for key in part] for part in parts)
    # A process takes seconds to start, in which one core encodes two parts.
    processes = 1 if on_gpu else min(all_workers(), max(1, len(parts) // 2))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each of those processes uses one core
    encode = partial(_encode_texts, model, tokens)
    made = LocalEngine(processes).map(encode, texts, description=model.label, on_gpu=on_gpu, processes=processes)
    for part, vectors in zip(parts, made, strict=True):
        if not (finite := np.isfinite(vectors).all(axis=1)).all():
            title, _ = passages[part[int(np.argmin(finite))]]
            raise BadInput("NaN or infinite embedding", field=model.name, got=title)
        store.add({key: (vector, None) for key, vector in zip(part, vectors, strict=True)})
    return len(new)


def _encode_texts(model: Model, tokens: int, passages: Sequence[tuple[str, str]]) -> Vectors:
    encoder = _passage_encoder(model)
    titles, texts = zip(*passages, strict=True)
    return encoder.encode(encoder.tokenize(texts, tokens, titles), BATCH)


@lru_cache(maxsize=1)  # the model is sent with each batch, and stays loaded in a process
def _passage_encoder(model: Model) -> "TextEncoder":
    return model.load("passage")
