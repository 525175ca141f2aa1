"""Extractors of DELG-style features behind one interface; a folder says which one a re-ranker needs (kvqae.md §4).

`extractor.json` names the kind: `sift` (no weights), or `delg_files` (features that DELG's own tool has extracted).
`none` says that the re-ranker is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.vision.decoding import REASONS, Unreadable, decode_picture
from trivium.vision.local_descriptors.delg_files import NO_FILES, SHARED, DelgFiles
from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, SCALES, Description

CELLS = 4  # on a side, around a keypoint
DIRECTIONS = 8  # of OpenCV's SIFT
CELL_SIDE = 1.5  # in keypoint sizes (diameters): SIFT's own
CONTRAST = 0.01  # SIFT's threshold; lower than usual, as drawings are smooth
SMALLEST = 2.0  # diameter, in pixels, of keypoints of scale 0
COLOUR = 0.15  # weight of colours against edges
LAYOUT = 6  # cells on a side of the global descriptor's layout


class SiftExtractor:
    """Describe images by SIFT and colours at its keypoints, without any weights (kvqae.md §4; Lowe 2004); CPU only.

    It replaces DELG in the sample world and has DELG's format. A keypoint, always upright, has 4 × 4 cells around it. A
    cell holds the strength of edges in four directions (SIFT's eight, opposite ones added, as shares of the patch under
    a square root: RootSIFT, Arandjelović and Zisserman 2012; less their mean, so that unlike patches are at right
    angles) and its colour. The keypoints with the strongest response are kept, as DELG keeps those that its attention
    scores highest. The global descriptor is the mean local one and a coarse layout of the image's colours.

    Args:
        most: local descriptors kept of an image, at most.
    """

    global_dimension = LOCAL_DIMENSION + LAYOUT * LAYOUT * 3

    def __init__(self, most: int) -> None:
        self.most = most
        self._sift = cv2.SIFT.create(contrastThreshold=CONTRAST)

    def __call__(self, image: Image.Image) -> Description:
        """Describe an RGB picture; a smooth one has no local descriptor."""
        lab = cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2LAB)
        lightness = lab[:, :, 0].astype(np.uint8)
        colours = (lab / 128 - 1).astype(np.float32)
        keypoints = self._keypoints(lightness)
        local = np.zeros((0, LOCAL_DIMENSION), np.float32)
        if keypoints:
            kept, edges = self._sift.compute(lightness, keypoints)
            keypoints = list(kept)
            parts = (_root(edges.astype(np.float32)), COLOUR * _colours(colours, keypoints))
            local = _unit(np.concatenate(parts, axis=1))
        layout = cv2.resize(colours, (LAYOUT, LAYOUT), interpolation=cv2.INTER_AREA).reshape(1, -1).astype(np.float32)
        mean = local.mean(axis=0, keepdims=True) if len(local) else np.zeros((1, LOCAL_DIMENSION), np.float32)
        diameters = np.array([keypoint.size for keypoint in keypoints])
        return Description(
            overall=_unit(np.concatenate([_unit(mean), _unit(layout)], axis=1))[0],
            local=local,
            scales=np.clip(np.rint(2 * np.log2(diameters / SMALLEST)), 0, SCALES - 1).astype(np.int8),
        )

    def _keypoints(self, lightness: NDArray[np.uint8]) -> list[cv2.KeyPoint]:
        """Detect the strongest keypoints, upright; one with several directions counts once."""
        by_place = {(keypoint.pt, keypoint.size): keypoint for keypoint in self._sift.detect(lightness, None)}
        strongest = sorted(by_place.values(), key=lambda keypoint: (-keypoint.response, keypoint.pt, keypoint.size))
        for keypoint in strongest[: self.most]:
            keypoint.angle = 0.0
        return strongest[: self.most]


def _root(edges: NDArray[np.float32]) -> NDArray[np.float32]:
    """Convert SIFT's (n, 128) to (n, 64): add opposite directions, normalise, take roots, subtract the mean."""
    halves = edges.reshape(len(edges), CELLS * CELLS, 2, DIRECTIONS // 2).sum(axis=2).reshape(len(edges), -1)
    shares = np.sqrt(halves / np.maximum(halves.sum(axis=1, keepdims=True), 1e-6))
    return shares - shares.mean(axis=1, keepdims=True)


def _colours(colours: NDArray[np.float32], keypoints: Sequence[cv2.KeyPoint]) -> NDArray[np.float32]:
    """Sample lightness, both colour axes and saturation at the centres of each keypoint's cells, (n, 64)."""
    steps = (np.arange(CELLS, dtype=np.float32) - (CELLS - 1) / 2) * CELL_SIDE
    centres = np.array([keypoint.pt for keypoint in keypoints], np.float32)
    reach = steps * np.array([[keypoint.size] for keypoint in keypoints], np.float32)
    x = np.repeat(centres[:, :1] + reach, CELLS, axis=0).reshape(len(keypoints), -1)
    y = np.repeat(centres[:, 1:] + reach, CELLS, axis=1)
    sampled = cv2.remap(colours, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    saturation = np.hypot(sampled[:, :, 1], sampled[:, :, 2])[:, :, None]
    return np.concatenate([sampled, saturation], axis=2).reshape(len(keypoints), -1)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-6))


CONFIG = "extractor.json"
DELG_FILES = "delg_files"
NONE = "none"
KINDS = ("sift", DELG_FILES)
WHY_NOT = (*REASONS, NO_FILES, SHARED)
Describe = Callable[[str, bytes], Description | str]  # an image's descriptors by name and bytes, or one of `WHY_NOT`


def read_kind(folder: Path) -> object:
    """Return the kind in a folder's `extractor.json`: one of `KINDS`, `NONE`, or an unknown value."""
    config = read_json(folder / CONFIG)
    return config.get("kind") if isinstance(config, dict) else None


def load_extractor(
    folder: Path,
    *,
    most: int,
    max_side: int,
    max_pixels: int,
    files: Path | None,
    shared: frozenset[str] = frozenset(),
) -> tuple[int, Describe]:
    """Load the extractor of a folder with `extractor.json`, of at most so many local descriptors an image.

    Returns the size g of its global descriptors, and a function that describes an image.

    `max_side` and `max_pixels` are as in `decode_picture`; `files` and `shared`, the folder of DELG's files and the
    names that two images share there, are for `delg_files` alone. `BadInput`: unknown kind, or no files where needed.
    """
    kind = read_kind(folder)
    if kind == "sift":
        sift = SiftExtractor(most)

        def describe(name: str, data: bytes) -> Description | str:
            try:
                picture = decode_picture(data, max_side=max_side, max_pixels=max_pixels)
            except Unreadable as problem:
                return problem.reason
            return replace(sift(picture.image), flaws=picture.flaws)

        return sift.global_dimension, describe
    if kind == DELG_FILES:
        dimension = read_json(folder / CONFIG).get("global_dimension")
        if not isinstance(dimension, int) or dimension < 1:
            raise BadInput("bad size", file=folder / CONFIG, field="global_dimension", got=dimension,
                           expected="of DELG's global descriptors, such as 2048")  # fmt: skip
        if files is None or not files.is_dir():
            raise BadInput("no folder of DELG's files", field="world.local.kvqae_models", got=str(files),
                           expected="NAME.delg_global and NAME.delg_local of the images that `python -m trivium delg` "
                           "asks for (docs/kvqae-formats.md); or no RRT, with kvqae.rrt.use: false")  # fmt: skip
        from_files = DelgFiles(files, most, dimension, shared)
        return dimension, lambda name, data: from_files(name)
    raise BadInput("no such extractor", file=folder / CONFIG, field="kind", got=kind, choices=KINDS)
