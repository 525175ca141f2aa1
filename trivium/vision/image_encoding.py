"""Decode images, detect faces if the encoder needs them, and embed them (kvqae.md §3)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from PIL import Image

from trivium.core.engine import in_worker
from trivium.core.errors import BadInput
from trivium.vision.align import align
from trivium.vision.decoding import Unreadable, decode_picture
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoder import Embedder, EncoderParameters, FaceEncoderParameters

if TYPE_CHECKING:  # takes seconds to import, and only workers need it
    from trivium.vision.faces import FaceDetector

PICTURES = pa.schema(
    [
        ("name", pa.string()),
        ("width", pa.int32()),  # after reduction; null when unreadable
        ("height", pa.int32()),
        ("unreadable", pa.string()),  # the reason, or null
    ]
)
FACES = pa.schema(
    [
        *PICTURES,
        ("faces", pa.int32()),  # how many were found; null when the image was not searched
        ("detected", pa.bool_()),
        ("probability", pa.float32()),  # of the most probable face, like its box and landmarks
        ("box", pa.list_(pa.float32())),  # left, top, right, bottom
        ("landmarks", pa.list_(pa.float32())),  # x, y of both eyes, the nose, both corners of the mouth
    ]
)


@dataclass(frozen=True)
class LoadedEncoder:
    """The loaded networks of an encoder, once a process; `detector` finds faces, None for whole pictures."""

    embed: Embedder
    detector: "FaceDetector | None" = None


@lru_cache(maxsize=8)
def load_encoder(name: str, parameters: EncoderParameters) -> LoadedEncoder:
    """Load an encoder, on the GPU if there is one; a worker process uses one CPU thread."""
    import torch

    from trivium.nets.device import pick_device

    if in_worker():
        torch.set_num_threads(1)
    encoder, device = ENCODERS[name], pick_device()
    embed = encoder.load(parameters.model, device)
    if not isinstance(parameters, FaceEncoderParameters):
        return LoadedEncoder(embed)
    from trivium.vision.faces import FaceDetector

    return LoadedEncoder(embed, FaceDetector(**parameters.model_dump(exclude={"model"}), device=device))


@dataclass(frozen=True)
class Features:
    """One encoder's features of images: a row of the table and of the matrix for each image.

    Attributes:
        table: has the schema `FACES`, or `PICTURES` for an encoder of whole pictures.
        matrix: float16 (images, dimension), rows of length 1; zero where there is no readable image, or no face.
        flaws: how many images have each of `decoding.FLAWS`.
    """

    table: pa.Table
    matrix: NDArray[np.float16]
    flaws: Counter[str]


class Prepared(NamedTuple):
    """Decoded images in the form of the encoder's input.

    Attributes:
        rows: rows of the table, one for each image.
        indices: indices of the readable images.
        shown: the encoder's input of these, or the pixels in which faces are searched.
        flaws: see `Features`.
    """

    rows: list[dict[str, object]]
    indices: list[int]
    shown: Any
    flaws: Counter[str]


def prepare_images(
    images: Sequence[tuple[str, bytes]], encoder: LoadedEncoder, *, max_side: int, max_pixels: int
) -> Prepared:
    """Decode images (name, encoded bytes) as `decode_picture` does, and convert them to the encoder's input."""
    rows: list[dict[str, object]] = [{"name": name} for name, _ in images]
    shown: dict[int, Image.Image] = {}
    flaws = Counter[str]()
    for index, (_, data) in enumerate(images):
        try:
            picture = decode_picture(data, max_side=max_side, max_pixels=max_pixels)
        except Unreadable as problem:
            rows[index]["unreadable"] = problem.reason
            continue
        shown[index] = picture.image
        flaws.update(picture.flaws)
        rows[index] |= {"width": picture.image.width, "height": picture.image.height}
    pictures = list(shown.values())
    inputs = encoder.embed.prepare(pictures) if encoder.detector is None else list(map(np.asarray, pictures))
    return Prepared(rows, list(shown), inputs, flaws)


def embed_prepared(prepared: Prepared, encoder: LoadedEncoder) -> Features:
    """Embed prepared images, or the most probable face in each; `BadInput` names an image whose embedding has NaN."""
    rows, indices, shown, flaws = prepared
    schema = PICTURES if encoder.detector is None else FACES
    if encoder.detector is not None:
        crops = _faces(dict(zip(indices, shown, strict=True)), rows, encoder.detector)
        indices, shown = list(crops), encoder.embed.prepare(list(crops.values()))
    embeddings = encoder.embed.embed(shown)
    finite = np.isfinite(embeddings).all(axis=1)
    if not finite.all():
        name = str(rows[indices[int(np.argmin(finite))]]["name"])
        raise BadInput("NaN or infinite embedding", file=encoder.embed.path, row=name)
    matrix = np.zeros((len(rows), encoder.embed.dimension), np.float16)
    matrix[indices] = embeddings
    return Features(pa.Table.from_pylist(rows, schema=schema), matrix, flaws)


def _faces(
    pictures: dict[int, NDArray[np.uint8]], rows: list[dict[str, object]], detector: "FaceDetector"
) -> dict[int, NDArray[np.uint8]]:
    """Crop and align the most probable face of each picture that shows one; add what was detected to the rows."""
    for row in rows:
        row["detected"] = False
    crops = {}
    for (index, image), detection in zip(pictures.items(), detector(list(pictures.values())), strict=True):
        rows[index]["faces"] = detection.faces
        if (face := detection.best) is not None:
            crops[index] = align(image, face.landmarks)
            rows[index] |= {
                "detected": True,
                "probability": face.probability,
                "box": face.box,
                "landmarks": face.landmarks.ravel(),
            }
    return crops
