"""COCO's objects: a file of pictures with polygons of 80 classes is read, checked, and each object drawn as a mask."""

import json
from pathlib import Path

import numpy as np

from trivium.formats.coco_instances import read_instances
from trivium.formats.segmentations import rasterise_segmentation

SIZE, UNIT = 118_287, "pictures"
CLASSES, OBJECTS, CORNERS, WIDTH, HEIGHT = 80, 7, 24, 640, 480  # COCO has 7.3 objects a picture


def make(folder: Path, size: int) -> None:
    rng = np.random.default_rng(0)
    categories = [{"id": number, "name": f"class {number}"} for number in range(1, CLASSES + 1)]
    with (folder / "instances.json").open("w", encoding="utf-8") as out:
        pictures = [{"id": number, "width": WIDTH, "height": HEIGHT} for number in range(size)]
        out.write(f'{{"images": {json.dumps(pictures)}, "categories": {json.dumps(categories)}, "annotations": [')
        for picture in range(size):
            objects = (_object(rng, picture, picture * OBJECTS + number) for number in range(OBJECTS))
            out.write(("," if picture else "") + ",".join(map(json.dumps, objects)))
        out.write("]}")


def _object(rng: np.random.Generator, picture: int, number: int) -> dict[str, object]:
    """A polygon around a point of the picture."""
    middle, radius = rng.uniform((80, 80), (WIDTH - 80, HEIGHT - 80)), rng.uniform(10, 80, CORNERS)
    turns = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    points = middle + radius[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    low, high = points.min(axis=0), points.max(axis=0)
    box = [round(each, 2) for each in (*low, *(high - low))]
    shape = [[round(each, 2) for each in points.ravel().tolist()]]
    return {
        "id": number, "image_id": picture, "category_id": 1 + int(rng.integers(CLASSES)), "bbox": box,
        "segmentation": shape, "area": box[2] * box[3], "iscrowd": 0,
    }  # fmt: skip


def run(folder: Path, out: Path) -> None:
    instances = read_instances(folder / "instances.json")
    for picture, objects in instances.objects.items():
        width, height = instances.sizes[picture]
        for each in objects:
            if each.segmentation is not None:
                rasterise_segmentation(each.segmentation, height, width)
