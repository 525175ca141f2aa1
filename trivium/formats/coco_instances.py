"""COCO's instance annotations: the objects of each picture, checked (decorrelation.md §1).

A box is (left, top, width, height) in pixels of the picture as COCO stores it. What a published file is known to have
is repaired or left out, and counted:

- a box that passes the picture's edge by at most one pixel is clipped to it (coordinates are rounded); by more, the
  object is left out;
- an object whose box has no area is left out;
- an object whose box and polygons overlap by less than half (intersection over union) stays, with both;
- a polygon with fewer than three points, or a run-length mask of another size than the picture (as it says, or by the
  sum of its run lengths), is left out; its object stays, with its box.

What is no box, no polygon or no run lengths at all (text, null, numbers that are not finite) is refused, and so is a
file of which more than one object in a hundred must be left out, or has a box unlike its polygons: it is of other
pictures, or in another format.
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
from trivium.formats.masks import Box, decode, run_lengths
from trivium.formats.pictures import Object

ROUNDING = 1.0  # pixels
MOST_DROPPED = 0.01  # of all objects
LEAST_OVERLAP = 0.5  # of a box with that around its polygons
FARTHEST = 1e6  # pixels; no picture is that wide, and pycocotools cannot draw to any distance

# Of an object with polygons: where it stands, its box as written, the box around its polygons, its picture's size.
Outlined = tuple[str, list[float], Box, tuple[int, int]]


@dataclass(frozen=True)
class Instances:
    """The content of a file of instances.

    Attributes:
        sizes: (width, height) in pixels of each picture, by COCO's picture id.
        objects: of each picture that has some, in the order of the file.
        classes: names of the categories, by category id.
        counts: `boxes_clipped`, `objects_box_outside`, `objects_without_area`, `polygons_too_short`,
            `masks_of_another_size`; where there are some, `boxes_unlike_polygons`.
    """

    sizes: dict[int, tuple[int, int]]
    objects: dict[int, tuple[Object, ...]]
    classes: tuple[str, ...]
    counts: Counter[str]


def read_instances(path: Path) -> Instances:
    """Read and check a file of instances.

    Raises:
        BadInput: names record and field of one that is missing or of a wrong type, of an id that stands twice, an
            unknown category or picture; or more than `MOST_DROPPED` of the objects cannot be used, or have a box that
            is not around their polygons.
    """
    tree = read_json(path)
    for field in ("images", "annotations", "categories"):
        if not isinstance(tree, dict) or not isinstance(tree.get(field), list):
            raise BadInput("missing or not a list", file=path, field=field, expected="COCO's instances")
    names = _categories(tree["categories"], path)
    sizes = _sizes(tree["images"], path)
    counts: Counter[str] = Counter(
        boxes_clipped=0, objects_box_outside=0, objects_without_area=0, polygons_too_short=0, masks_of_another_size=0
    )
    objects: dict[int, list[Object]] = defaultdict(list)
    identifiers: set[int] = set()
    dropped: list[tuple[str, Any]] = []
    outlined: list[Outlined] = []
    annotations = tree.pop("annotations")
    for index, annotation in enumerate(annotations):
        row = f"annotation {annotation.get('id') if isinstance(annotation, dict) else index}"
        picture = _integer(annotation, "image_id", path, row)
        if picture not in sizes:
            raise BadInput("no such picture in images", file=path, row=row, field="image_id", got=picture)
        identifier, category = _integer(annotation, "id", path, row), _integer(annotation, "category_id", path, row)
        if identifier in identifiers:
            raise BadInput("stands twice", file=path, row=row, field="id", got=identifier)
        if category not in names:
            raise BadInput("unknown category", file=path, row=row, field="category_id", got=category, choices=names)
        identifiers.add(identifier)
        written = _box(annotation, path, row)
        shape = _segmentation(annotation, sizes[picture], counts, path, row)
        if shape is not None and (around := _around(shape)) is not None:
            outlined.append((row, annotation["bbox"], around, sizes[picture]))
        box = fit_box(written, sizes[picture], counts)
        if box is None:
            dropped.append((row, annotation["bbox"]))
            continue
        objects[picture].append(Object(names[category], box, shape, _is_crowd(annotation, path, row)))
    _compare_with_polygons(outlined, counts, path)
    if annotations and all(max(annotation["bbox"]) <= 1 for annotation in annotations):
        problem = "all boxes lie within one pixel: they look like shares"
        raise BadInput(problem, file=path, row=row, field="bbox", got=annotations[-1]["bbox"], expected="pixels")
    if len(dropped) > MOST_DROPPED * len(annotations):
        problem = f"{len(dropped)} of {len(annotations)} boxes lie outside their picture or have no area; the first"
        expected = "(left, top, width, height) in pixels inside the picture"
        raise BadInput(problem, file=path, row=dropped[0][0], field="bbox", got=dropped[0][1], expected=expected)
    return Instances(
        sizes, {picture: tuple(of_picture) for picture, of_picture in objects.items()}, tuple(names.values()), counts
    )


# What the numbers of a box may mean instead: (numbers, width and height of the picture) → left, top, width, height.
READINGS: dict[str, Callable[[list[float], tuple[int, int]], Sequence[float]]] = {
    "corners (left, top, right, bottom)": lambda box, size: (box[0], box[1], box[2] - box[0], box[3] - box[1]),
    "the centre with width and height": lambda box, size: (box[0] - box[2] / 2, box[1] - box[3] / 2, box[2], box[3]),
    "those of the picture mirrored": lambda box, size: (size[0] - box[0] - box[2], *box[1:]),
    "shares of the picture's sides": lambda box, size: np.multiply(box, [*size, *size]).tolist(),
}


def _compare_with_polygons(outlined: Sequence[Outlined], counts: Counter[str], path: Path) -> None:
    """Count boxes that are not around their object's polygons; refuse the file if they are too many."""
    unlike = [(row, box, around, size) for row, box, around, size in outlined if _overlap(box, around) < LEAST_OVERLAP]
    if len(unlike) > MOST_DROPPED * len(outlined):
        row, written, around, _ = unlike[0]
        problem = f"{len(unlike)} of {len(outlined)} boxes are not around their object's polygons or mask"
        for meaning, read in READINGS.items():
            if 2 * sum(_overlap(read(box, size), own) >= LEAST_OVERLAP for _, box, own, size in unlike) >= len(unlike):
                problem += f"; they look like {meaning}"
                break
        expected = f"left, top, width, height in pixels, about {np.round(around, 1).tolist()}"
        raise BadInput(f"{problem}; the first", file=path, row=row, field="bbox", got=written, expected=expected)
    if unlike:
        counts["boxes_unlike_polygons"] = len(unlike)


def _around(shape: Any) -> Box | None:
    """The box around polygons or a run-length mask; None where the mask is empty."""
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
    """Intersection over union of two boxes, each larger by half a pixel on all sides: thin ones are rounded, too."""
    common = own = others = 1.0
    for axis in (0, 1):
        length, other_length = one[axis + 2] + ROUNDING, other[axis + 2] + ROUNDING
        ends = one[axis] + length, other[axis] + other_length
        common *= max(min(ends) - max(one[axis], other[axis]), 0.0)
        own, others = own * length, others * other_length
    union = own + others - common
    return common / union if union > 0 else 0.0


def _is_crowd(annotation: dict[str, Any], path: Path, row: str) -> bool:
    value = annotation.get("iscrowd", 0)
    if not isinstance(value, int) or value not in (0, 1):
        raise BadInput("wrong", file=path, row=row, field="iscrowd", got=value, expected="0, 1, true or false")
    return bool(value)


def fit_box(box: Box, size: tuple[int, int], counts: Counter[str]) -> Box | None:
    """A box inside its picture, clipped by at most a rounding; None (counted) when it is no box in the picture.

    Args:
        box: left, top, width, height, pixels.
        size: width, height of the picture.
        counts: where `boxes_clipped`, `objects_box_outside` or `objects_without_area` is counted.
    """
    left, top, right, bottom = box[0], box[1], box[0] + box[2], box[1] + box[3]
    if min(left, top) < -ROUNDING or right > size[0] + ROUNDING or bottom > size[1] + ROUNDING:
        counts["objects_box_outside"] += 1
        return None
    inside = max(left, 0.0), max(top, 0.0), min(right, size[0]), min(bottom, size[1])
    if inside[2] <= inside[0] or inside[3] <= inside[1]:
        counts["objects_without_area"] += 1
        return None
    if inside == (left, top, right, bottom):
        return box  # as it was written: left + width - left is not always width
    counts["boxes_clipped"] += 1
    return inside[0], inside[1], inside[2] - inside[0], inside[3] - inside[1]


def check_size(size: tuple[int, int], path: Path, row: str) -> None:
    """Raise `BadInput` for a width and height that no picture has."""
    if min(size) < 1 or max(size) > FARTHEST:
        expected = f"pixels, 1 to {FARTHEST:.0f}"
        raise BadInput("no size", file=path, row=row, field="width, height", got=size, expected=expected)


def _segmentation(annotation: dict[str, Any], size: tuple[int, int], counts: Counter[str], path: Path, row: str) -> Any:
    """Return the valid polygons, or the run-length mask if it has the picture's size; None where there is neither."""
    shape = annotation.get("segmentation")
    if shape is None:
        return None
    if isinstance(shape, dict):
        lengths = _runs(shape, path, row)
        if shape.get("size") == [size[1], size[0]] and sum(lengths) == size[0] * size[1]:  # COCO's order: height, width
            return shape
        counts["masks_of_another_size"] += 1
        return None
    if not isinstance(shape, list) or not all(map(_are_coordinates, shape)):
        expected = "polygons [[x, y, x, y, …], …] in pixels, or run lengths"
        raise BadInput("not a segmentation", file=path, row=row, field="segmentation", got=shape, expected=expected)
    good = [polygon for polygon in shape if len(polygon) >= 6 and len(polygon) % 2 == 0]
    counts["polygons_too_short"] += len(shape) - len(good)
    return good or None


def _are_coordinates(polygon: Any) -> bool:
    return (
        isinstance(polygon, list)
        and set(map(type, polygon)) <= {int, float}
        and all(-FARTHEST < number < FARTHEST for number in polygon)  # never true of NaN
    )


def _runs(shape: dict[str, Any], path: Path, row: str) -> list[int]:
    lengths, problem = shape.get("counts"), "not run lengths"
    if isinstance(lengths, str):
        try:
            lengths = run_lengths(lengths)
        except ValueError as error:
            problem = str(error)
    if not isinstance(lengths, list) or not set(map(type, lengths)) <= {int} or min(lengths, default=0) < 0:
        expected = "pixels of each run, or COCO's compressed string"
        raise BadInput(problem, file=path, row=row, field="counts", got=shape.get("counts"), expected=expected)
    return lengths


def _categories(categories: list[Any], path: Path) -> dict[int, str]:
    names: dict[int, str] = {}
    for index, category in enumerate(categories):
        row = f"categories[{index}]"
        identifier, name = _integer(category, "id", path, row), category.get("name")
        if not isinstance(name, str) or not name:
            raise BadInput("missing or wrong", file=path, row=row, field="name", got=name, expected="a name")
        if identifier in names or name in names.values():
            raise BadInput("category twice", file=path, row=row, field="id, name", got=(identifier, name))
        names[identifier] = name
    return names


def _sizes(images: list[Any], path: Path) -> dict[int, tuple[int, int]]:
    sizes: dict[int, tuple[int, int]] = {}
    for index, image in enumerate(images):
        row = f"images[{index}]"
        identifier = _integer(image, "id", path, row)
        size = _integer(image, "width", path, row), _integer(image, "height", path, row)
        check_size(size, path, row)
        if identifier in sizes:
            raise BadInput("stands twice", file=path, row=row, field="id", got=identifier)
        sizes[identifier] = size
    return sizes


def _box(annotation: dict[str, Any], path: Path, row: str) -> Box:
    box = annotation.get("bbox")
    if (
        not isinstance(box, list)
        or len(box) != 4
        or not all(type(number) in (int, float) and math.isfinite(number) for number in box)
        or min(box[2:]) < 0
    ):
        expected = "left, top, width, height in pixels"
        raise BadInput("not a box", file=path, row=row, field="bbox", got=box, expected=expected)
    left, top, width, height = map(float, box)
    return left, top, width, height


def _integer(record: Any, field: str, path: Path, row: str) -> int:
    value = record.get(field) if isinstance(record, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput("missing or wrong", file=path, row=row, field=field, got=value, expected="int")
    return value
