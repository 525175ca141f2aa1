"""COCO's objects: a file with polygons of 80 classes is read, checked and searched for removals in two processes."""

import json
from functools import partial
from pathlib import Path

import numpy as np

from stages.decorrelation.removals import PICTURES
from trivium.core.engine import LocalEngine
from trivium.decorrelation.removals import RemovalsParameters, search_shard, shards, write_removals
from trivium.formats.coco_instances import read_instances
from trivium.formats.pictures import Picture

SIZE, UNIT = 118_287, "pictures"
CLASSES, OBJECTS, CORNERS, WIDTH, HEIGHT = 80, 7, 24, 640, 480  # COCO has 7.3 objects a picture
PARAMETERS = RemovalsParameters(region="segmentation", delta1=0.4, delta2=0.8, delta3=0.7, training="one",
                                prefer_named=False, seed=0)  # δ1 to δ3 as in params.yaml  # fmt: skip


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
    """Make a polygon around a point of the picture."""
    middle, radius = rng.uniform((80, 80), (WIDTH - 80, HEIGHT - 80)), rng.uniform(10, 80, CORNERS)
    turns = np.linspace(0, 2 * np.pi, CORNERS, endpoint=False)
    points = middle + radius[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    low, high = points.min(axis=0), points.max(axis=0)
    box = [round(number, 2) for number in (*low, *(high - low))]
    shape = [[round(number, 2) for number in points.ravel().tolist()]]
    return {
        "id": number, "image_id": picture, "category_id": 1 + int(rng.integers(CLASSES)), "bbox": box,
        "segmentation": shape, "area": box[2] * box[3], "iscrowd": 0,
    }  # fmt: skip


def run(folder: Path, out: Path) -> None:
    instances = read_instances(folder / "instances.json")
    pictures = [
        Picture(number, f"{number}.jpg", "train", *instances.sizes[number], tuple(objects), ())
        for number, objects in instances.objects.items()
    ]
    picture_shards, search = shards(pictures, {}, PICTURES), partial(search_shard, parameters=PARAMETERS)
    results = LocalEngine(2).map(search, picture_shards, description="removals")
    write_removals(out / "removals.parquet", (removal for removals, _, _ in results for removal in removals))
