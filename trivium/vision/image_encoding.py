"""The frozen image encoders together: images decoded once, then face, ImageNet and CLIP embedding (kvqae.md §3)."""

import multiprocessing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, model_validator

from trivium.errors import BadInput
from trivium.harness.parameters import Parameters
from trivium.vision.align import align
from trivium.vision.decoding import Unreadable, decode_picture

if TYPE_CHECKING:  # seconds to import, and only the workers need them
    from trivium.vision.faces import FaceDetector, FaceEncoder
    from trivium.vision.whole_images import ImageEncoder

MATRICES = ("arcface", "imagenet", "clip")
Probability = Annotated[float, Field(ge=0, le=1)]
SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("width", pa.int32()),  # after reduction; null when unreadable
        ("height", pa.int32()),
        ("unreadable", pa.string()),  # the reason, or null
        ("faces", pa.int32()),  # how many were found; null when the image was not searched
        ("detected", pa.bool_()),
        ("probability", pa.float32()),  # of the most probable face, like its box and landmarks
        ("box", pa.list_(pa.float32())),  # left, top, right, bottom
        ("landmarks", pa.list_(pa.float32())),  # x, y of both eyes, the nose, both corners of the mouth
    ]
)


class FaceDetectorParameters(Parameters):
    """MTCNN's part of section `kvqae.image_features`."""

    min_side: int = Field(ge=1, description="Images with a shorter side, in pixels, are not searched for faces")
    min_face: int = Field(ge=12, description="MTCNN: smallest face, in pixels")
    thresholds: tuple[Probability, Probability, Probability] = Field(
        description="MTCNN: probabilities that its three networks ask for"
    )
    factor: float = Field(gt=0, lt=1, description="MTCNN: ratio of two steps of the image pyramid")

    @model_validator(mode="after")
    def _pyramid_has_a_level(self) -> Self:
        if self.min_side < self.min_face:
            raise ValueError(f"min_side {self.min_side} must not be less than min_face {self.min_face}")
        return self


@dataclass(frozen=True)
class Encoders:
    """The frozen networks, loaded once a process."""

    detector: "FaceDetector"
    arcface: "FaceEncoder"
    imagenet: "ImageEncoder"
    clip: "ImageEncoder"


@lru_cache(maxsize=1)
def load_encoders(arcface: Path, imagenet: Path, clip: Path, parameters: FaceDetectorParameters) -> Encoders:
    """Load all four on the GPU if there is one; a worker process keeps to one CPU thread."""
    import torch

    from trivium.nets.device import pick_device
    from trivium.vision.faces import FaceDetector, FaceEncoder
    from trivium.vision.whole_images import load_clip, load_imagenet

    if multiprocessing.parent_process() is not None:
        torch.set_num_threads(1)
    device = pick_device()
    detector = FaceDetector(
        min_side=parameters.min_side,
        min_face=parameters.min_face,
        thresholds=parameters.thresholds,
        factor=parameters.factor,
        device=device,
    )
    return Encoders(detector, FaceEncoder(arcface, device), load_imagenet(imagenet, device), load_clip(clip, device))


@dataclass(frozen=True)
class Features:
    """Features of some images: a table row and a row of each matrix an image.

    Attributes:
        table: with `SCHEMA`.
        matrices: float16 (images, dimension) by name in `MATRICES`, rows of length 1; zero where there is no face
            (arcface) or no readable image (all).
        broken_exif: images with a broken EXIF block, which are perhaps not upright.
    """

    table: pa.Table
    matrices: dict[str, NDArray[np.float16]]
    broken_exif: int


def encode_images(
    images: Sequence[tuple[str, bytes]], encoders: Encoders, *, max_side: int, max_pixels: int
) -> Features:
    """Decode each image once, look for faces, embed the most probable face and the whole image.

    Args:
        images: (name, encoded bytes).
        encoders: the frozen networks.
        max_side, max_pixels: see `images.decode_picture`.

    Raises:
        BadInput: an encoder gave NaN or infinity; the message names the image.
    """
    names = [name for name, _ in images]
    rows: list[dict[str, object]] = [dict.fromkeys(SCHEMA.names) | {"name": name, "detected": False} for name in names]
    pictures = {}
    broken_exif = 0
    for index, (_, data) in enumerate(images):
        try:
            picture = decode_picture(data, max_side=max_side, max_pixels=max_pixels)
        except Unreadable as problem:
            rows[index]["unreadable"] = problem.reason
            continue
        pictures[index] = picture.image
        broken_exif += picture.broken_exif

    pixels = [np.asarray(picture) for picture in pictures.values()]
    crops = {}
    for index, image, detection in zip(pictures, pixels, encoders.detector(pixels), strict=True):
        rows[index] |= {"width": image.shape[1], "height": image.shape[0], "faces": detection.faces}
        if (face := detection.best) is not None:
            crops[index] = align(image, face.landmarks)
            rows[index] |= {
                "detected": True,
                "probability": face.probability,
                "box": face.box,
                "landmarks": face.landmarks.ravel(),
            }

    whole = list(pictures.values())
    matrices = {
        "arcface": _spread(encoders.arcface, list(crops.values()), list(crops), names),
        "imagenet": _spread(encoders.imagenet, whole, list(pictures), names),
        "clip": _spread(encoders.clip, whole, list(pictures), names),
    }
    return Features(pa.Table.from_pylist(rows, schema=SCHEMA), matrices, broken_exif)


def _spread(
    encoder: "FaceEncoder | ImageEncoder", images: list, indices: list[int], names: list[str]
) -> NDArray[np.float16]:
    """Embeddings of the images at these indices, one row for each name."""
    embeddings = encoder(images)
    finite = np.isfinite(embeddings).all(axis=1)
    if not finite.all():
        raise BadInput("NaN or infinite embedding", file=encoder.path, row=names[indices[int(np.argmin(finite))]])
    matrix = np.zeros((len(names), encoder.dimension), np.float16)
    matrix[indices] = embeddings
    return matrix
