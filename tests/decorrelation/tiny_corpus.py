"""Tiny raw folders of COCO and of Flickr30k with Entities: twelve drawn pictures of 64 x 48 pixels, all splits.

`SCENES` is what is in them; every picture has five captions, each of which names every object.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from trivium.core.image_shards import write_images
from trivium.core.tables import write_json
from trivium.formats.corpus_table import write_corpus
from trivium.formats.picture_corpora import read_corpus

WIDTH, HEIGHT = 64, 48
COCO_IDS = {"person": 1, "bicycle": 2, "car": 3, "cat": 17, "dog": 18, "frisbee": 34, "hot dog": 58}
FLICKR_TYPES = {"person": "people", "cat": "animals", "dog": "animals", "car": "vehicles", "bicycle": "vehicles"}
COLOURS = {
    "person": "orange", "bicycle": "navy", "car": "red", "cat": "black", "dog": "brown", "frisbee": "yellow",
    "hot dog": "pink",
}  # fmt: skip
SCENES: tuple[tuple[str, tuple[tuple[str, tuple[int, int, int, int]], ...]], ...] = (
    # Karpathy's split, ((class, (left, top, width, height)), …)
    ("train", (("dog", (4, 20, 20, 20)), ("frisbee", (40, 4, 10, 10)))),
    ("train", (("dog", (8, 8, 20, 20)), ("frisbee", (40, 30, 10, 10)), ("person", (50, 4, 10, 24)))),
    ("train", (("dog", (30, 20, 20, 20)), ("frisbee", (4, 4, 10, 10)))),
    ("train", (("person", (4, 4, 12, 40)), ("bicycle", (12, 20, 30, 24)))),
    ("train", (("person", (20, 4, 12, 40)), ("car", (36, 20, 26, 20)))),
    ("restval", (("cat", (4, 4, 16, 16)), ("car", (30, 20, 30, 20)))),
    ("val", (("dog", (6, 22, 20, 20)), ("frisbee", (44, 8, 10, 10)))),
    ("val", (("person", (40, 4, 12, 40)), ("hot dog", (10, 30, 16, 8)))),
    ("test", (("dog", (10, 10, 20, 20)), ("frisbee", (48, 30, 10, 10)))),
    ("test", (("dog", (36, 10, 20, 20)), ("frisbee", (4, 30, 10, 10)), ("person", (16, 4, 12, 40)))),
    ("test", (("cat", (40, 4, 16, 16)), ("person", (4, 4, 12, 40)))),
    ("test", (("person", (30, 4, 12, 40)), ("car", (2, 26, 26, 20)))),
)
TEMPLATES = (
    "{A} next to {b}.",
    "There is {a} near {b}.",
    "A picture of {a} and {b} in the grass",
    "{B} is beside {a} on a sunny day.",
    "In this picture, {a} can be seen with {b} .",
)


def scene_captions(index: int, mark: bool = False) -> list[str]:
    """The five captions of a scene; `mark` adds Flickr30k Entities' markup and its spaces before full stops."""
    words = [f"a {name}" for name, _ in SCENES[index][1]]
    written = [template.format(**_slots(words)) for template in TEMPLATES]
    if not mark:
        return written
    return [_marked(text, index) for text in written]


def _slots(words: list[str]) -> dict[str, str]:
    first, rest = words[0], " and ".join(words[1:])
    return {"a": first, "b": rest, "A": first.capitalize(), "B": rest.capitalize()}


def _marked(text: str, index: int) -> str:
    for position, (name, _) in enumerate(SCENES[index][1]):
        place = text.lower().index(f"a {name}")
        end = place + len(f"a {name}")
        entity = f"[/EN#{100 * index + position}/{FLICKR_TYPES.get(name, 'other')} "
        text = text[:place] + entity + text[place:end] + "]" + text[end:]
    return text.replace(" .", ".").replace(".", " .").replace(",", " ,")


def picture_name(index: int) -> str:
    """The file name of a scene's picture."""
    return f"COCO_{'val' if SCENES[index][0] != 'train' else 'train'}2014_{index + 1:012d}.jpg"


def draw(index: int) -> bytes:
    """A scene as JPEG: a rectangle an object, on a background of its own."""
    image = Image.new("RGB", (WIDTH, HEIGHT), (90 + 10 * index, 160, 220 - 12 * index))
    pen = ImageDraw.Draw(image)
    for name, (left, top, width, height) in SCENES[index][1]:
        pen.rectangle((left, top, left + width - 1, top + height - 1), fill=COLOURS[name])
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=95)
    return buffer.getvalue()


def karpathy_tree(dataset: str = "coco") -> dict[str, Any]:
    """Karpathy's split file: `imgid` from 0, `cocoid` from 1, `sentid` five a picture."""
    images = []
    for index, (split, _) in enumerate(SCENES):
        name = picture_name(index)
        image: dict[str, Any] = {"filename": name, "imgid": index, "split": split}
        if dataset == "coco":
            image |= {"cocoid": index + 1, "filepath": name.split("_")[1]}
        else:
            image |= {"filename": f"{index + 1}.jpg", "split": split.replace("restval", "train")}
        image["sentences"] = [
            {"raw": text, "tokens": text.lower().rstrip(" .").split(), "imgid": index, "sentid": 5 * index + number}
            for number, text in enumerate(scene_captions(index))
        ]
        image["sentids"] = [sentence["sentid"] for sentence in image["sentences"]]
        images.append(image)
    return {"dataset": dataset, "images": images}


def instances_tree() -> dict[str, Any]:
    """COCO's instances: polygons round the boxes; in the fifth picture a crowd of cars as run lengths besides."""
    annotations: list[dict[str, Any]] = []
    for index, (_, objects) in enumerate(SCENES):
        for name, (left, top, width, height) in objects:
            right, bottom = left + width, top + height
            polygon = [float(side) for side in (left, top, right, top, right, bottom, left, bottom)]
            annotations.append(_annotation(len(annotations) + 1, index, name, [left, top, width, height], [polygon]))
    runs = {"counts": [0, 2 * HEIGHT, (WIDTH - 2) * HEIGHT], "size": [HEIGHT, WIDTH]}  # the two leftmost columns
    annotations.append(_annotation(len(annotations) + 1, 4, "car", [0, 0, 2, HEIGHT], runs) | {"iscrowd": 1})
    return {
        "images": [
            {"id": index + 1, "file_name": picture_name(index), "width": WIDTH, "height": HEIGHT}
            for index in range(len(SCENES))
        ],
        "annotations": annotations,
        "categories": [{"id": identifier, "name": name} for name, identifier in COCO_IDS.items()],
    }


def _annotation(identifier: int, index: int, name: str, box: list[int], shape: Any) -> dict[str, Any]:
    return {
        "id": identifier, "image_id": index + 1, "category_id": COCO_IDS[name], "bbox": list(map(float, box)),
        "segmentation": shape, "area": float(box[2] * box[3]), "iscrowd": 0,
    }  # fmt: skip


def write_coco(folder: Path) -> Path:
    """Write a raw folder of COCO: as stage `decorrelation-world` leaves it; returns it."""
    write_json(folder / "karpathy.json", karpathy_tree())
    write_json(folder / "instances.json", instances_tree())
    write_images(folder / "images", [(picture_name(index), draw(index)) for index in range(len(SCENES))])
    write_corpus(folder, read_corpus(folder))
    return folder


def entities_members() -> dict[str, str]:
    """Flickr30k Entities' files by name; corners are counted from 1."""
    members = {}
    for index, (_, objects) in enumerate(SCENES):
        boxes = "".join(
            f"<object><name>{100 * index + position}</name><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}</ymin>"
            f"<xmax>{left + width}</xmax><ymax>{top + height}</ymax></bndbox></object>"
            for position, (_, (left, top, width, height)) in enumerate(objects)
        )
        size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
        xml = f"<annotation><filename>{index + 1}.jpg</filename>{size}{boxes}</annotation>"
        members[f"Annotations/{index + 1}.xml"] = xml
        members[f"Sentences/{index + 1}.txt"] = "\n".join(scene_captions(index, mark=True)) + "\n"
    return members


def write_zip(path: Path, members: dict[str, str]) -> None:
    """Write text files into a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)


def write_flickr(folder: Path) -> Path:
    """Write a raw folder of Flickr30k: as stage `decorrelation-world` leaves it; returns it."""
    write_json(folder / "karpathy.json", karpathy_tree("flickr30k"))
    write_zip(folder / "entities.zip", entities_members())
    write_images(folder / "images", [(f"{index + 1}.jpg", draw(index)) for index in range(len(SCENES))])
    write_corpus(folder, read_corpus(folder))
    return folder
