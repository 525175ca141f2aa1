"""COCO's segmentations as masks: polygons, and run lengths as lists or compressed (decorrelation.md §1)."""

from typing import Any

from pycocotools import mask as coco

from trivium.formats.masks import Mask, decode


def rasterise_segmentation(segmentation: Any, height: int, width: int) -> Mask:
    """The pixels of COCO's `segmentation`, polygons by COCO's own rule (pycocotools).

    Args:
        segmentation: polygons [[x, y, x, y, …], …], whose union is meant, or a mapping
            {"size": [height, width], "counts": list of run lengths or compressed string}.
        height, width: of the picture.

    Raises:
        ValueError: neither of the two, a polygon with fewer than three points, or run lengths of another size.
    """
    if isinstance(segmentation, dict):
        return _runs(segmentation, height, width)
    if not isinstance(segmentation, list) or not segmentation:
        raise ValueError(f"segmentation should be polygons or run lengths, got {type(segmentation).__name__}")
    if any(len(polygon) < 6 or len(polygon) % 2 for polygon in segmentation):
        raise ValueError("a polygon should have at least three points (x, y)")
    return coco.decode(coco.merge(coco.frPyObjects(segmentation, height, width))).astype(bool)


def _runs(segmentation: dict[str, Any], height: int, width: int) -> Mask:
    counts, size = segmentation.get("counts"), segmentation.get("size")
    if size != [height, width]:
        raise ValueError(f"run lengths of a mask of size {size}, expected [{height}, {width}]")
    if isinstance(counts, str):
        return decode(counts, height, width)
    if not isinstance(counts, list) or sum(counts) != height * width:
        raise ValueError(f"counts should be run lengths of {height * width} pixels")
    return coco.decode(coco.frPyObjects(segmentation, height, width)).astype(bool)
