"""In-painting: the chosen objects painted out, one picture a removal (decorrelation.md §1).

The paper fills with Yu et al. 2018 ("Generative image inpainting with contextual attention"); LaMa (Suvorov et al.
2022) takes its place here. The sample uses OpenCV's filling, which has no weights. Both run
through lama-cleaner, in an environment of its own (`inpainter`); zero, mean and blur are the paper's baselines. All
are modules of `fillings/`.
"""

import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from PIL import Image
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images, write_images
from trivium.core.parameters import Parameters, validate
from trivium.decorrelation.painting.filling import FILLINGS, Filling, Settings, composite
from trivium.decorrelation.removals import read_removals
from trivium.formats import masks
from trivium.formats.masks import Mask, Pixels
from trivium.formats.pictures import Removal
from trivium.vision.decoding import read_rgb

Subset = Literal["train", "test", "empty"]


_LONGEST_WEBP = 16_383  # pixels of a side
_THREADS = 4  # that decode and encode: Pillow leaves Python meanwhile

PictureFormat = Literal["png", "webp"]
# Without loss, the fastest of each: less compression is hardly larger on photographs. On those of COCO WebP takes four
# fifths of PNG's bytes, and half its time.
_OPTIONS: dict[PictureFormat, dict[str, Any]] = {
    "png": {"compress_level": 1},
    "webp": {"lossless": True, "method": 0, "quality": 0},
}


class InpaintParameters(Parameters):
    """Section `decorrelation.inpaint`."""

    dilate: int = Field(
        ge=0,
        description="Pixels by which the mask, on which δ1 to δ3 were decided, grows before it is painted; paper: 0",
    )
    fillings: dict[str, dict[str, Any]] = Field(default={}, description="Settings of each filling, by its name")
    picture_format: PictureFormat = Field(
        default="png", description="How painted pictures are kept, without loss; one beyond 16 383 pixels is PNG"
    )
    shard_size: int = Field(
        default=256, ge=1, description="Pictures painted and kept together; a killed stage goes on from there"
    )

    def settings_of(self, name: str) -> Settings:
        """The settings of a filling; `BadInput`: no such filling, or settings that are not its own."""
        section = f"decorrelation.inpaint.fillings.{name}"
        return validate(FILLINGS[name].Settings, self.fillings.get(name, {}), section, Path("params.yaml"))


Shard = tuple[str, Sequence[Removal]]  # its name, `{subset}-{number}`, and what is painted together


def subsets(folder: Path) -> dict[Subset, list[Removal]]:
    """The removals to paint: drawn ones of training pictures, all of test pictures, and boxes without objects."""
    removals = read_removals(folder / "removals.parquet")
    return {
        "train": [removal for removal in removals if removal.split == "train" and removal.drawn],
        "test": [removal for removal in removals if removal.split == "test"],
        "empty": read_removals(folder / "empty.parquet"),
    }


def shards(subset: Subset, removals: Sequence[Removal], size: int) -> Iterator[Shard]:
    """Shards of pictures of like size, so that LaMa's batches are full; within one size the order is kept."""
    ordered = sorted(removals, key=lambda removal: (removal.height, removal.width))
    for number, start in enumerate(range(0, len(ordered), size)):
        yield f"{subset}-{number:05d}", ordered[start : start + size]


open_images = lru_cache(maxsize=1)(Images)  # a folder of image shards, once a process


def read_picture(images: Path, removals: Sequence[Removal], dilate: int) -> list[tuple[Pixels, Mask]]:
    """The picture of these removals, upright, RGB, and what is to be painted in it for each.

    Raises:
        BadInput: the picture is absent or unreadable, or a mask covers all of it.
    """
    name = removals[0].name
    picture = np.asarray(read_rgb(open_images(images).read(name), name, images))
    painted = []
    for removal in removals:
        mask = masks.decode(removal.mask, removal.height, removal.width)
        if removal.class_name:  # a box without objects would grow into those beside it
            side = 2 * dilate + 1
            mask = cv2.dilate(mask.astype(np.uint8), np.ones((side, side), np.uint8)).astype(bool)
        if mask.all():
            raise BadInput("the mask covers the whole picture", field="mask", row=removal.id,
                           expected="some of it to stay")  # fmt: skip
        painted.append((picture, mask))
    return painted


@lru_cache(maxsize=1)
def load_filling(name: str, settings: Settings, weights: Path | None) -> Filling:
    """This process's filling; it is kept from shard to shard, with its worker where it has one."""
    return FILLINGS[name](settings, weights)


def paint_shard(
    shard: Shard, *, images: Path, name: str, parameters: InpaintParameters, weights: Path | None, work: Path
) -> Path:
    """Paint a shard with the filling `name` into a file of `work`; a file that is there is complete and is kept.

    Within its mask a picture is painted, outside it stays as it is, bit for bit. Threads encode what is painted while
    the filling's worker, where it has one, goes on.
    """
    shard_name, chosen = shard
    written = work / shard_name / "shard-00000.parquet"
    if written.exists():
        return written
    by_picture = [list(removals) for _, removals in groupby(chosen, key=lambda removal: removal.name)]
    filling = load_filling(name, parameters.settings_of(name), weights)
    open_images(images)  # opened once, before threads want it

    def finish(source: tuple[Pixels, Mask], painted: Pixels) -> bytes:
        picture, mask = source
        return encode(composite(picture, painted, mask), parameters.picture_format)

    with ThreadPoolExecutor(_THREADS) as threads:
        read = partial(read_picture, images, dilate=parameters.dilate)
        pictures = list(chain.from_iterable(threads.map(read, by_picture)))
        encoded = threads.map(finish, pictures, filling.paint(pictures))
        names = (removal.id for removal in chosen)
        write_images(written.parent, zip(names, encoded, strict=True), shard_size=len(pictures))
    return written


def encode(picture: Pixels, picture_format: PictureFormat) -> bytes:
    """Encode a picture without loss."""
    kind: PictureFormat = "png" if max(picture.shape) > _LONGEST_WEBP else picture_format
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, kind, **_OPTIONS[kind])
    return buffer.getvalue()


def weights_file(folder: Path) -> Path:
    """The weights of a filling: the one TorchScript module (`.pt`) of its folder, or `BadInput`."""
    files = sorted(folder.glob("*.pt"))
    if len(files) != 1:
        got = [file.name for file in files]
        raise BadInput("not one .pt file", file=folder, got=got, expected="a TorchScript module")
    return files[0].resolve()
