"""Local and global features without any weights: SIFT and colours at its keypoints (kvqae.md §4; Lowe 2004).

It takes DELG's place in the sample world and keeps its format. A keypoint has 4 × 4 cells around it, upright; a cell
tells the strength of edges in four directions (SIFT's eight, opposite ones added, as shares of the patch under a
square root: RootSIFT, Arandjelović and Zisserman 2012; less their mean, so that unlike patches are at right angles) and
its colour. As DELG keeps what its attention scores highest, the keypoints with the strongest response are kept. The
global descriptor is the mean local one and a coarse layout of the image's colours.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.vision.local_descriptors.folder import LOCAL_DIMENSION, SCALES, Description

CELLS = 4  # a side
DIRECTIONS = 8  # of OpenCV's SIFT
CELL_SIDE = 1.5  # in keypoint sizes (diameters): SIFT's own
CONTRAST = 0.01  # SIFT's threshold; lower than usual, as drawings are smooth
SMALLEST = 2.0  # diameter, in pixels, of keypoints of scale 0
COLOUR = 0.15  # weight of colours against edges
LAYOUT = 6  # cells a side of the global descriptor's layout


class SiftExtractor:
    """Describes images; CPU only.

    Args:
        most: local descriptors kept an image.
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
        """The strongest keypoints, upright; one that SIFT gives several directions counts once."""
        by_place = {(keypoint.pt, keypoint.size): keypoint for keypoint in self._sift.detect(lightness, None)}
        strongest = sorted(by_place.values(), key=lambda keypoint: (-keypoint.response, keypoint.pt, keypoint.size))
        for keypoint in strongest[: self.most]:
            keypoint.angle = 0.0
        return strongest[: self.most]


def _root(edges: NDArray[np.float32]) -> NDArray[np.float32]:
    """SIFT's (n, 128) → (n, 64): opposite directions added, shares of the patch, square root, less the mean."""
    halves = edges.reshape(len(edges), CELLS * CELLS, 2, DIRECTIONS // 2).sum(axis=2).reshape(len(edges), -1)
    shares = np.sqrt(halves / np.maximum(halves.sum(axis=1, keepdims=True), 1e-6))
    return shares - shares.mean(axis=1, keepdims=True)


def _colours(colours: NDArray[np.float32], keypoints: Sequence[cv2.KeyPoint]) -> NDArray[np.float32]:
    """(n, 64): lightness, both colour axes and saturation at the centres of each keypoint's cells."""
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
