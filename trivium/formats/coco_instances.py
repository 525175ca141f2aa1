"""COCO's instance annotations: the objects of each picture, checked (decorrelation.md §1).

A box is (left, top, width, height) in pixels of the picture as COCO stores it. Defects that published files are known
to have are repaired or left out, and counted; docs/decorrelation-formats.md lists them. A file in which more than one
object in a hundred must be left out, or has a box unlike its polygons, is refused: it describes other pictures, or has
another format.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.formats.json_fields import Field
from trivium.formats.masks import Box, decode, run_lengths
from trivium.formats.pictures import Object

ROUNDING = 1.0  # pixels
MOST_DROPPED = 0.01  # share of all objects
LEAST_OVERLAP = 0.5  # intersection over union of a box with that around its polygons
FARTHEST = 1e6  # pixels; no picture is that wide, and pycocotools cannot draw polygons of any size

# Of an object with polygons: its box as written, the box around its polygons, its picture's size.
Outlined = tuple[Field, Box, tuple[int, int]]


@dataclass(frozen=True)
class Instances:
    """The content of a file of instances, in its order; `boxes_unlike_polygons` are counted if there are any."""

    sizes: dict[int, tuple[int, int]]  # width and height in pixels of each picture, by COCO's picture id
    objects: dict[int, tuple[Object, ...]]  # by COCO's picture id, of pictures that have some
    classes: tuple[str, ...]
    counts: Counter[str]


def read_instances(path: Path) -> Instances:
    """Read and check a file of instances.

    Raises:
        BadInput: a field is missing or of a wrong type, an id stands twice, a category or picture is unknown, or more
            than `MOST_DROPPED` of the objects cannot be used or have a box that is not around their polygons.
    """
    tree = Field(read_json(path), path)
    names, sizes = _categories(tree["categories"]), _sizes(tree["images"])
    counts: Counter[str] = Counter(
        boxes_clipped=0, objects_box_outside=0, objects_without_area=0, polygons_too_short=0, masks_of_another_size=0
    )
    objects: dict[int, list[Object]] = defaultdict(list)
    identifiers: set[int] = set()
    dropped: list[Field] = []
    outlined: list[Outlined] = []
    annotations = tree["annotations"]
    for index, member in enumerate(annotations.items()):
        annotation = Field(member.value, path, f"annotation {member.value['id'] if 'id' in member.keys else index}")
        identifier, picture, category = (annotation[name].integer() for name in ("id", "image_id", "category_id"))
        if picture not in sizes:
            annotation["image_id"].refuse("no such picture in images")
        if identifier in identifiers:
            annotation["id"].refuse("stands twice")
        if category not in names:
            annotation["category_id"].refuse("unknown category", choices=names)
        identifiers.add(identifier)
        place, size = annotation["bbox"], sizes[picture]
        written, shape = _box(place), _segmentation(annotation, size, counts)
        if shape is not None and (around := _around(shape)) is not None:
            outlined.append((place, around, size))
        box = fit_box(written, size, counts)
        if box is None:
            dropped.append(place)
            continue
        crowd = annotation.value.get("iscrowd", 0)
        if not isinstance(crowd, int) or crowd not in (0, 1):
            annotation["iscrowd"].refuse("wrong", expected="0, 1, true or false")
        objects[picture].append(Object(names[category], box, shape, bool(crowd)))
    _compare_with_polygons(outlined, counts)
    if annotations.value and all(max(annotation["bbox"]) <= 1 for annotation in annotations.value):
        place.refuse("all boxes lie within one pixel: they look like shares of the picture's sides", expected="pixels")
    if len(dropped) > MOST_DROPPED * len(annotations.value):
        of_all = f"{len(dropped)} of {len(annotations.value)} boxes"
        expected = "(left, top, width, height) in pixels inside the picture"
        dropped[0].refuse(f"{of_all} lie outside their picture or have no area; the first", expected=expected)
    in_order = {picture: tuple(of_picture) for picture, of_picture in objects.items()}
    return Instances(sizes, in_order, tuple(names.values()), counts)


# Other meanings that a box's numbers may have: (numbers, width and height of the picture) → left, top, width, height.
READINGS: dict[str, Callable[[list[float], tuple[int, int]], Sequence[float]]] = {
    "corners (left, top, right, bottom)": lambda box, size: (box[0], box[1], box[2] - box[0], box[3] - box[1]),
    "the centre with width and height": lambda box, size: (box[0] - box[2] / 2, box[1] - box[3] / 2, box[2], box[3]),
    "boxes of the mirrored picture": lambda box, size: (size[0] - box[0] - box[2], *box[1:]),
    "shares of the picture's sides": lambda box, size: np.multiply(box, [*size, *size]).tolist(),
}


def _compare_with_polygons(outlined: Sequence[Outlined], counts: Counter[str]) -> None:
    """Count boxes that are not around their object's polygons; refuse the file if there are too many."""
    unlike = [
        (place, around, size) for place, around, size in outlined if _overlap(place.value, around) < LEAST_OVERLAP
    ]
    if len(unlike) > MOST_DROPPED * len(outlined):
        problem = f"{len(unlike)} of {len(outlined)} boxes are not around their object's polygons or mask"
        for meaning, read in READINGS.items():
            alike = sum(_overlap(read(place.value, size), around) >= LEAST_OVERLAP for place, around, size in unlike)
            if 2 * alike >= len(unlike):
                problem += f"; they look like {meaning}"
                break
        place, around, _ = unlike[0]
        expected = f"left, top, width, height in pixels, about {np.round(around, 1).tolist()}"
        place.refuse(f"{problem}; the first", expected=expected)
    if unlike:
        counts["boxes_unlike_polygons"] = len(unlike)


def _around(shape: Any) -> Box | None:
    """Compute the box around polygons or a run-length mask; None where the mask is empty."""
    if isinstance(shape, dict):
        rows, columns = np.nonzero(decode(shape["counts"], *shape["size"]))
        if not len(rows):
            return None
        left, top = float(columns.min()), float(rows.min())
        return left, top, columns.max() + 1 - left, rows.max() + 1 - top
    across, down = (np.concatenate([polygon[start::2] for polygon in shape]) for start in (0, 1))
    left, top = float(across.min()), float(down.min())
    return left, top, float(across.max()) - left, float(down.max()) - top


def _overlap(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute the intersection over union of two boxes, each enlarged by half a pixel on all sides.

    Coordinates are rounded, which would separate thin boxes otherwise.
    """
    common = own = others = 1.0
    for axis in (0, 1):
        length, other_length = one[axis + 2] + ROUNDING, other[axis + 2] + ROUNDING
        ends = one[axis] + length, other[axis] + other_length
        common *= max(min(ends) - max(one[axis], other[axis]), 0.0)
        own, others = own * length, others * other_length
    union = own + others - common
    return common / union if union > 0 else 0.0


def fit_box(box: Box, size: tuple[int, int], counts: Counter[str]) -> Box | None:
    """Clip a box to its picture by at most `ROUNDING`; None (counted) where it lies farther outside or has no area."""
    left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    if min(left, top) < -ROUNDING or right > size[0] + ROUNDING or bottom > size[1] + ROUNDING:
        counts["objects_box_outside"] += 1
        return None
    inside = max(left, 0.0), max(top, 0.0), min(right, size[0]), min(bottom, size[1])
    if inside[2] <= inside[0] or inside[3] <= inside[1]:
        counts["objects_without_area"] += 1
        return None
    if inside == (left, top, right, bottom):
        return box  # as written, since by rounding left + width - left is not always width
    counts["boxes_clipped"] += 1
    return inside[0], inside[1], inside[2] - inside[0], inside[3] - inside[1]


def check_size(size: tuple[int, int], path: Path, row: str) -> None:
    """Raise `BadInput` for a width and height that no picture has."""
    if min(size) < 1 or max(size) > FARTHEST:
        expected = f"pixels, 1 to {FARTHEST:.0f}"
        raise BadInput("not a picture's size", file=path, row=row, field="width, height", got=size, expected=expected)


def _segmentation(annotation: Field, size: tuple[int, int], counts: Counter[str]) -> Any:
    """Return the valid polygons, or the run-length mask if it has the picture's size; None if there is neither."""
    field = annotation.get("segmentation")
    if field is None:
        return None
    shape = field.value
    if isinstance(shape, dict):
        lengths = _runs(field)
        if shape.get("size") == [size[1], size[0]] and sum(lengths) == size[0] * size[1]:  # COCO's order: height, width
            return shape
        counts["masks_of_another_size"] += 1
        return None
    if not isinstance(shape, list) or not all(map(_are_coordinates, shape)):
        field.refuse("not a segmentation", expected="polygons [[x, y, x, y, …], …] in pixels, or run lengths")
    good = [polygon for polygon in shape if len(polygon) >= 6 and len(polygon) % 2 == 0]
    counts["polygons_too_short"] += len(shape) - len(good)
    return good or None


def _are_coordinates(polygon: Any) -> bool:
    return (
        isinstance(polygon, list)
        and set(map(type, polygon)) <= {int, float}
        and all(-FARTHEST < number < FARTHEST for number in polygon)  # never true of NaN
    )


def _runs(shape: Field) -> list[int]:
    lengths, problem = shape["counts"].value, "not run lengths"
    if isinstance(lengths, str):
        try:
            lengths = run_lengths(lengths)
        except ValueError as error:
            problem = str(error)
    if not isinstance(lengths, list) or not set(map(type, lengths)) <= {int} or min(lengths, default=0) < 0:
        shape["counts"].refuse(problem, expected="pixels of each run, or COCO's compressed string")
    return lengths


def _categories(categories: Field) -> dict[int, str]:
    names: dict[int, str] = {}
    for category in categories.items():
        identifier, name = category["id"].integer(), category["name"].text(empty=False)
        if identifier in names or name in names.values():
            category.refuse("category twice: its id or its name", got=(identifier, name))
        names[identifier] = name
    return names


def _sizes(images: Field) -> dict[int, tuple[int, int]]:
    sizes: dict[int, tuple[int, int]] = {}
    for image in images.items():
        identifier, size = image["id"].integer(), (image["width"].integer(), image["height"].integer())
        check_size(size, image.file, image.name)
        if identifier in sizes:
            image["id"].refuse("stands twice")
        sizes[identifier] = size
    return sizes


def _box(field: Field) -> Box:
    box = field.value
    if (
        not isinstance(box, list)
        or len(box) != 4
        or not all(type(number) in (int, float) and math.isfinite(number) for number in box)
        or min(box[2:]) < 0
    ):
        field.refuse("not a box", expected="left, top, width, height in pixels")
    left, top, width, height = map(float, box)
    return left, top, width, height
