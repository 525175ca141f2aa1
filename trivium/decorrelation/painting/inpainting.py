"""In-painting: the chosen objects painted out, one picture a removal (decorrelation.md §1).

The paper fills with Yu et al. 2018 ("Generative image inpainting with contextual attention"); LaMa (Suvorov et al.
2022) stands here in its place, as was asked for. The sample uses OpenCV's filling, which has no weights. Both run
through lama-cleaner, in an environment of its own (`inpainter`); zero, mean and blur are the paper's baselines.
"""

import io
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image
from pydantic import Field

from trivium.decorrelation.painting.fillings import BASELINES, Filling, composite, dilated
from trivium.decorrelation.painting.frames import Pixels
from trivium.decorrelation.painting.inpainter import Inpainter
from trivium.decorrelation.regions.removal_table import read_removals
from trivium.errors import BadInput
from trivium.files.image_shards import Images, write_images
from trivium.formats import masks
from trivium.formats.masks import Mask
from trivium.formats.pictures import Removal
from trivium.harness.parameters import Parameters
from trivium.vision.decoding import Unreadable, decode

Subset = Literal["train", "test", "empty"]


_FLAGS = {"telea": "INPAINT_TELEA", "navier_stokes": "INPAINT_NS"}


_LONGEST = 65_500  # pixels, of a JPEG's side: pictures are never reduced


class InpaintParameters(Parameters):
    """Section `decorrelation.inpaint`."""

    dilate: int = Field(
        ge=0,
        description="Pixels by which the mask, on which δ1 to δ3 were decided, grows before it is painted; paper: 0",
    )
    blur_sigma: float = Field(gt=0, le=1, description="Blur: the Gaussian's deviation, a share of the longer side")
    cv2_method: Literal["telea", "navier_stokes"] = Field(description="cv2: OpenCV's algorithm")
    cv2_radius: int = Field(ge=1, description="cv2: pixels around a point that its colour comes from")
    lama_batch: int = Field(ge=1, description="LaMa: pictures of one size together; halved when GPU memory runs out")
    lama_workers: int = Field(ge=1, description="LaMa: workers, each with the model; spread over the GPUs")
    shard_size: int = Field(ge=1, description="Pictures painted and kept together; a killed stage goes on from there")


@dataclass(frozen=True)
class Shard:
    """Removals that are painted together.

    Attributes:
        name: `{subset}-{number}`, unique in a run.
        removals: what is painted.
    """

    name: str
    removals: tuple[Removal, ...]


def subsets(folder: Path) -> dict[Subset, list[Removal]]:
    """What is painted: drawn removals of training pictures, all of test pictures, and boxes without objects."""
    removals = read_removals(folder / "removals.parquet")
    return {
        "train": [each for each in removals if each.split == "train" and each.drawn],
        "test": [each for each in removals if each.split == "test"],
        "empty": read_removals(folder / "empty.parquet"),
    }


def shards(subset: Subset, removals: Sequence[Removal], size: int) -> Iterator[Shard]:
    """Shards of pictures of like size, so that LaMa's batches are full; within one size the order is kept."""
    ordered = sorted(removals, key=lambda each: (each.height, each.width))
    for number, start in enumerate(range(0, len(ordered), size)):
        yield Shard(f"{subset}-{number:05d}", tuple(ordered[start : start + size]))


@lru_cache(maxsize=1)
def _images(folder: Path) -> Images:
    return Images(folder)


@lru_cache(maxsize=1)  # a test picture's removals follow each other
def _decoded(folder: Path, name: str) -> Pixels:
    try:
        image = decode(_images(folder).read(name), max_side=_LONGEST, max_pixels=_LONGEST**2)
    except Unreadable as problem:
        raise BadInput(f"unreadable picture, {problem}", file=folder, field="name", got=name) from None
    return np.asarray(image)


def read_picture(images: Path, removal: Removal, dilate: int) -> tuple[Pixels, Mask]:
    """A removal's picture, upright, RGB, and what is to be painted in it.

    Raises:
        BadInput: the picture is absent, unreadable or of another size than the mask; the mask is broken or covers all.
    """
    picture = _decoded(images, removal.name)
    height, width = picture.shape[:2]
    if (height, width) != (removal.height, removal.width):
        expected = f"{removal.width} × {removal.height} pixels, as its mask"
        got = f"{width} × {height}"
        raise BadInput("picture of another size", file=images, field=removal.name, got=got, expected=expected)
    try:
        mask = masks.decode(removal.mask, removal.height, removal.width)
        if removal.class_name:  # a box without objects would grow into those beside it
            mask = dilated(mask, dilate)
    except ValueError as error:
        raise BadInput(f"broken mask: {error}", field="mask", row=removal.id) from None
    if mask.all():
        raise BadInput("the mask covers the whole picture", field="mask", row=removal.id, expected="some of it to stay")
    return picture, mask


@lru_cache(maxsize=1)
def load_inpainter(filling: Filling, parameters: InpaintParameters, weights: Path | None) -> Inpainter:
    """Start this process's worker; it is kept from shard to shard."""
    if filling == "cv2":
        return Inpainter(["cv2", "--flag", _FLAGS[parameters.cv2_method], "--radius", str(parameters.cv2_radius)])
    # Engines number their processes in their names (SpawnProcess-3), which spreads the workers over the GPUs.
    number = multiprocessing.current_process().name.rpartition("-")[2]
    gpu = number if number.isdigit() else "0"
    return Inpainter(["lama", "--file", str(weights), "--batch-size", str(parameters.lama_batch), "--gpu", gpu])


def fill(
    filling: Filling, pictures: Sequence[tuple[Pixels, Mask]], parameters: InpaintParameters, weights: Path | None
) -> list[Pixels]:
    """Paint every picture within its mask and leave the rest as it is, bit for bit."""
    if filling in BASELINES:
        settings = {"sigma": parameters.blur_sigma} if filling == "blur" else {}
        painted = [BASELINES[filling](picture, mask, **settings) for picture, mask in pictures]
    else:
        painted = load_inpainter(filling, parameters, weights).paint(pictures)
    return [composite(picture, own, mask) for (picture, mask), own in zip(pictures, painted, strict=True)]


def paint_shard(
    shard: Shard, *, images: Path, filling: Filling, parameters: InpaintParameters, weights: Path | None, work: Path
) -> Path:
    """Paint a shard into a file of `work`, PNG; a file that is there is complete and is kept."""
    written = work / shard.name / "shard-00000.parquet"
    if written.exists():
        return written
    pictures = [read_picture(images, removal, parameters.dilate) for removal in shard.removals]
    painted = fill(filling, pictures, parameters, weights)
    names = (removal.id for removal in shard.removals)
    write_images(written.parent, zip(names, map(png, painted), strict=True), shard_size=len(painted))
    return written


def png(picture: Pixels) -> bytes:
    """Encoded without loss; the lowest compression is twice as fast and hardly larger on photographs."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def lama_file(folder: str) -> Path:
    """LaMa's TorchScript module, the one `.pt` file of its folder.

    Raises:
        BadInput: no folder was named, or it has not just one such file.
    """
    if not folder:
        raise BadInput("filling lama needs the folder of its weights", field="--lama")
    files = sorted(Path(folder).glob("*.pt"))
    if len(files) != 1:
        got = [file.name for file in files]
        raise BadInput("not one .pt file", file=folder, got=got, expected="LaMa's TorchScript module")
    return files[0].resolve()
