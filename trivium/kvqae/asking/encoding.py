"""Encoders of a user's own base, and the vectors of its pictures and passages, stored so that none is made twice.

Vectors go by the hash of what they describe. Those of a batch are written together; those of what is deleted, such as
faces, are removed.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image, ImageEnhance
from pydantic import Field
from tqdm import tqdm

from trivium.core.engine import LocalEngine, all_workers
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.reading import LARGEST_IMAGE, open_file, read_bytes
from trivium.core.tables import in_groups, read_table, write_table
from trivium.kvqae.retrieval.text_encoders import Side, family_of
from trivium.vision.align import align
from trivium.vision.decoding import Picture, Unreadable, decode_picture
from trivium.vision.encoder_registry import ENCODERS, encoder_parameters
from trivium.vision.image_encoder import Route
from trivium.vision.image_encoding import LoadedEncoder, load_encoder

if TYPE_CHECKING:  # torch takes seconds to import
    from trivium.kvqae.retrieval.text_encoder import TextEncoder

Vectors = NDArray[np.float32]
Stored = tuple[Vectors | None, str | None]  # see `VectorStore`
VERSION = 3  # of this code and of a base's folder; with another one everything is encoded again
TOKENS = 256  # most tokens of a text that an encoder reads
MTCNN: dict[str, Any] = {"min_face": 20, "thresholds": [0.6, 0.7, 0.7], "factor": 0.709}  # as the graph finds faces
LIMITS = {"max_side": 1024, "max_pixels": 100_000_000}  # of pictures, see `decode_picture`
_STORED = pa.schema([("key", pa.string()), ("vector", pa.binary()), ("remark", pa.string())])
BATCH, TEXTS_AT_A_TIME = 32, 512  # pictures, or texts, that a network gets; texts that a process gets
NO_FACE = "no face"


class BaseSettings(Parameters):
    """Settings of a base. An encoder of pictures that no registry knows is named as `trivium odmap` names it."""

    version: int = Field(description="Of the code that makes bases: a base of another version is made again")
    source: Path = Field(description="The folder, or the table, that the base is made of")
    words: int = Field(default=100, ge=8, le=400, description="Most tokens of a passage; the title is not counted")
    image_encoders: dict[str, str] = Field(default={}, description="Encoders of pictures: name → folder, or kind:model")
    text_encoders: dict[str, str] = Field(default={}, description="Encoders of texts, beside BM25: name → folder")
    invented: bool = Field(default=False, description="Models of the sample's invented world: every answer says so")


@dataclass(frozen=True)
class Model:
    """An encoder of pictures, or of texts."""

    name: str  # in the base
    digest: str  # digest of weights, settings and code; equal digests give equal vectors
    load: Callable[..., Any] = field(compare=False)  # makes a `LoadedEncoder`; of a `Side` a `TextEncoder`
    route: Route = "whole"  # of pictures


Foreign = Callable[[str, str], Model]  # makes a model that is in no registry, of its name in the base and elsewhere


def digest_of_folder(folder: Path, settings: Mapping[str, Any]) -> str:
    """Compute the digest of a folder's files, or of one file, and of settings; `BadInput`: no file."""
    inside = [folder] if folder.is_file() else folder.rglob("*")
    files = sorted(path for path in inside if path.is_file() and path.suffix != ".md")
    if not files:
        raise BadInput("no model", file=folder, expected="a folder with weights")
    hashes = {}
    for path in files:
        with open_file(path) as stream:
            hashes[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    decisive = json.dumps([VERSION, {"files": hashes, **settings}], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:32]


def models_of(settings: BaseSettings, foreign: Foreign) -> tuple[list[Model], list[Model]]:
    """List a base's encoders of pictures, and of texts; `BadInput`: the weights of one are missing."""
    pictures, texts = [], []
    for name, model in settings.image_encoders.items():
        if name not in ENCODERS:
            pictures.append(foreign(name, model))
            continue
        known, folder = ENCODERS[name], Path(model)
        for file in known.files:
            if not (folder / file).is_file():
                raise BadInput("the encoder's weights are missing", file=folder / file)
        values = MTCNN if known.route == "face" else {}
        load = partial(load_encoder, name, encoder_parameters(name, {**values, "model": folder}))
        digest = digest_of_folder(folder, {"encoder": name, "settings": values, **LIMITS})
        pictures.append(Model(name, digest, load, known.route))
    for name, model in settings.text_encoders.items():
        family, folder = family_of(name), Path(model)
        decisive = {"encoder": name, "prefixes": dict(family.prefixes), "tokens": TOKENS}
        digest = digest_of_folder(folder / "passage" if family.towers else folder, decisive)
        texts.append(Model(name, digest, partial(_load_text_encoder, name, folder)))
    return pictures, texts


@lru_cache(maxsize=2)  # the model is sent with each batch, and stays loaded in a process
def _load_text_encoder(name: str, folder: Path, side: Side) -> "TextEncoder":
    from trivium.kvqae.retrieval.text_encoder import TextEncoder

    return TextEncoder(name, folder, side)


class VectorStore:
    """Vectors of one encoder, named by the digest of its weights, settings and code: a folder of tables.

    `stored` is key → its vector and the flaws of its picture, separated by spaces; or None, and why there is no vector.
    """

    def __init__(self, stores: Path, digest: str) -> None:
        self._folder, self.stored = stores / digest, dict[str, Stored]()
        for file in sorted(self._folder.glob("*.parquet")):
            for row in read_table(file).to_pylist():
                vector = None if row["vector"] is None else np.frombuffer(row["vector"], "<f4")
                self.stored[row["key"]] = vector, row["remark"]

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Return the keys that are not stored, each once, in their order."""
        return [key for key in dict.fromkeys(keys) if key not in self.stored]

    def add(self, vectors: Mapping[str, Stored]) -> None:
        """Store vectors, in a table of their own."""
        self.stored |= vectors
        self._write(f"{len(self.stored):09d}", vectors)

    def keep_only(self, keys: Collection[str]) -> None:
        """Remove all but these keys, from the disk too; a kept picture keeps its view."""
        self.stored = {key: value for key, value in self.stored.items() if key.partition(":")[0] in keys}
        self._write("kept", self.stored)
        for file in self._folder.glob("[0-9]*"):
            file.unlink()

    def take(self, keys: Sequence[str]) -> Vectors:
        """Return the vectors of these keys, which have one, (keys, width); (0, 0) without keys."""
        return np.array([self.stored[key][0] for key in keys], np.float32).reshape(len(keys), -1 if keys else 0)

    def _write(self, name: str, vectors: Mapping[str, Stored]) -> None:
        rows = [
            {"key": key, "vector": None if vector is None else np.asarray(vector, "<f4").tobytes(), "remark": remark}
            for key, (vector, remark) in vectors.items()
        ]
        write_table(self._folder / f"{name}.parquet", pa.Table.from_pylist(rows, _STORED))


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
        picture = decode_picture(data, **LIMITS)
        return Picture(draw_view(picture.image, self.key)) if view else picture


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

    `BadInput`: the encoder cannot be loaded, an embedding has NaN, or a picture has changed since it was listed.
    """
    by_key = {picture.key: picture for picture in shown}
    if not (new := store.missing(by_key)):
        return 0
    encoder = model.load()
    for part in tqdm(list(in_groups(new, BATCH)), desc=model.name, unit="batch", mininterval=5):
        opened, made = dict[str, Picture](), dict[str, Stored]()
        for key in part:
            try:
                opened[key] = by_key[key].open()
            except Unreadable as problem:
                made[key] = None, str(problem)
        vectors = _embed(encoder, [picture.image for picture in opened.values()])
        for (key, picture), vector in zip(opened.items(), vectors, strict=True):
            if vector is not None and not np.isfinite(vector).all():
                raise BadInput("NaN or infinite embedding", file=encoder.embed.path, row=str(by_key[key].path))
            made[key] = (None, NO_FACE) if vector is None else (vector, " ".join(picture.flaws) or None)
        store.add(made)
    return len(new)


def _embed(encoder: LoadedEncoder, images: Sequence[Image.Image]) -> Sequence[Vectors | None]:
    """Embed each picture, or its most probable face; None for a picture without a face."""
    if encoder.detector is None:
        return list(encoder.embed(images)) if images else []
    faces = [(pixels, encoder.detector([pixels])[0].best) for pixels in map(np.asarray, images)]
    return [None if face is None else encoder.embed([align(pixels, face.landmarks)])[0] for pixels, face in faces]


def encode_passages(model: Model, passages: Mapping[str, tuple[str, str]], store: VectorStore) -> int:
    """Store a vector of each passage, key → (title, text); returns how many were encoded.

    `BadInput`: an embedding has NaN.
    """
    if not (new := store.missing(passages)):
        return 0
    from trivium.nets.device import pick_device

    parts, on_gpu = list(in_groups(new, TEXTS_AT_A_TIME)), pick_device().type == "cuda"
    texts = ([passages[key] for key in part] for part in parts)
    # A process takes seconds to start, in which one core encodes two parts.
    processes = 1 if on_gpu else min(all_workers(), max(1, len(parts) // 2))
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # each of those processes uses one core
    encode = partial(_encode_texts, model)
    made = LocalEngine(processes).map(encode, texts, description=model.name, on_gpu=on_gpu, processes=processes)
    for part, vectors in zip(parts, made, strict=True):
        if not (finite := np.isfinite(vectors).all(axis=1)).all():
            title, _ = passages[part[int(np.argmin(finite))]]
            raise BadInput("NaN or infinite embedding", field=model.name, got=title)
        store.add({key: (vector, None) for key, vector in zip(part, vectors, strict=True)})
    return len(new)


def _encode_texts(model: Model, passages: Sequence[tuple[str, str]]) -> Vectors:
    encoder = model.load("passage")
    titles, texts = zip(*passages, strict=True)
    return encoder.encode(encoder.tokenize(texts, TOKENS, titles), BATCH)
