"""The public formats: Karpathy's split file, COCO's instances, Flickr30k Entities' archive."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np

from sample.scenes.catalogue import KINDS
from sample.scenes.scene import Scene, Thing
from sample.scenes.sprites import sprite
from sample.scenes.wording import SCENE, Caption, Mention, clothes_of, plain

_SPLITS = {"train": "train", "restval": "restval", "validation": "val", "test": "test"}


@dataclass(frozen=True)
class Shot:
    """A scene that was photographed.

    Attributes:
        number: Karpathy's `imgid`.
        name: file name of the picture.
        split: `train`, `restval`, `validation` or `test`.
        scene, captions: what it shows, and what is said about it.
    """

    number: int
    name: str
    split: str
    scene: Scene
    captions: tuple[Caption, ...]

    @property
    def coco_id(self) -> int:
        """COCO's id: the number at the end of the file's name."""
        return coco_id(self.number)


def coco_id(number: int) -> int:
    """COCO's ids have gaps."""
    return 9 + 37 * number


def karpathy(shots: Sequence[Shot], dataset: str) -> dict[str, Any]:
    """Karpathy's split file; COCO's sets carry `cocoid` and `filepath`."""
    images, sentence = [], 0
    for shot in shots:
        sentences = []
        for caption in shot.captions:
            text = plain(caption)
            tokens = [word.strip(".,").lower() for word in text.split()]
            sentences.append({"tokens": tokens, "raw": text, "imgid": shot.number, "sentid": sentence})
            sentence += 1
        image: dict[str, Any] = {
            "filename": shot.name,
            "imgid": shot.number,
            "split": _SPLITS[shot.split],
            "sentids": [one["sentid"] for one in sentences],
            "sentences": sentences,
        }
        if dataset != "flickr30k":
            image |= {"cocoid": shot.coco_id, "filepath": "train2014" if shot.split == "train" else "val2014"}
        images.append(image)
    return {"dataset": "flickr30k" if dataset == "flickr30k" else "coco", "images": images}


def outline(thing: Thing) -> list[float]:
    """The polygon around an object, row by row from its first to its last visible pixel (x, y, x, y, …)."""
    shape = _outline(thing.kind, thing.look, thing.colour, thing.side, thing.flip)
    return np.add(shape, (thing.left, thing.top)).ravel().tolist()


@cache
def _outline(*looks: Any) -> np.ndarray:
    """The outline of a sprite, (points, 2): down its right side and up its left side."""
    visible = np.asarray(sprite(*looks).getchannel("A")) > 0
    rows = np.arange(len(visible))
    lefts, rights = visible.argmax(axis=1), visible.shape[1] - visible[:, ::-1].argmax(axis=1)
    down = np.stack([np.repeat(rights, 2), np.stack([rows, rows + 1], axis=1).ravel()], axis=1)
    up = np.stack([np.repeat(lefts, 2), np.stack([rows, rows + 1], axis=1).ravel()], axis=1)[::-1]
    points = np.concatenate([down, up]).astype(np.float64)
    x = points[:, 0]
    return points[(x != np.roll(x, 1)) | (x != np.roll(x, -1))]  # corners only


def instances(shots: Sequence[Shot], kinds: Sequence[str]) -> dict[str, Any]:
    """COCO's instances file: boxes (left, top, width, height) and polygons in pixels."""
    categories = {name: number for number, name in enumerate(kinds, 1)}
    images = []
    annotations: list[dict[str, Any]] = []
    for shot in shots:
        size = shot.scene.size
        images.append({"id": shot.coco_id, "file_name": shot.name, "width": size, "height": size})
        for thing in shot.scene.things:
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": shot.coco_id,
                    "category_id": categories[thing.kind],
                    "bbox": [float(value) for value in thing.box],
                    "area": float(thing.width * thing.height),
                    "iscrowd": 0,
                    "segmentation": [outline(thing)],
                }
            )
    listed = [{"id": number, "name": name, "supercategory": KINDS[name].type} for name, number in categories.items()]
    return {"images": images, "annotations": annotations, "categories": listed}


def entities(shots: Sequence[Shot]) -> bytes:
    """Flickr30k Entities' archive: an XML file with boxes and a file of annotated sentences a picture."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for shot in shots:
            stem = shot.name.removesuffix(".jpg")
            worn = [clothes_of(index) for index in range(len(shot.scene.things))]
            numbers = {entity: 20 * shot.number + n for n, entity in enumerate((SCENE, *shot.scene.kinds, *worn), 1)}
            for path, text in (
                (f"Annotations/{stem}.xml", _annotation(shot, numbers)),
                (f"Sentences/{stem}.txt", "\n".join(_annotated(one, numbers) for one in shot.captions) + "\n"),
            ):
                archive.writestr(zipfile.ZipInfo(path), text)  # a ZipInfo carries no time of writing
    return buffer.getvalue()


def _annotated(caption: Caption, numbers: dict[str, int]) -> str:
    """`[/EN#1/people A man] rides [/EN#2/animals a horse] .`"""

    def tag(mention: Mention) -> str:
        return f"[/EN#{numbers[mention.entity]}/{mention.type} {mention.text}]"

    text = "".join(part if isinstance(part, str) else tag(part) for part in caption)
    return text.replace(",", " ,").removesuffix(".") + " ."


def _annotation(shot: Shot, numbers: dict[str, int]) -> str:
    """Boxes as Flickr30k Entities has them: pixels counted from 1, both ends included."""
    root = ElementTree.Element("annotation")
    ElementTree.SubElement(root, "filename").text = shot.name
    _fields(ElementTree.SubElement(root, "size"), width=shot.scene.size, height=shot.scene.size, depth=3)
    whole = ElementTree.SubElement(root, "object")
    _fields(whole, name=numbers[SCENE], scene=1, nobndbox=0)
    for index, thing in enumerate(shot.scene.things):
        left, top, width, height = thing.box
        _box(root, numbers[thing.kind], left, top, width, height)
        if thing.kind == "person":  # shirts and dresses are around the middle
            _box(root, numbers[clothes_of(index)], left, top + height * 3 // 10, width, height * 2 // 5)
    return ElementTree.tostring(root, encoding="unicode")


def _box(root: ElementTree.Element, entity: int, left: int, top: int, width: int, height: int) -> None:
    found = ElementTree.SubElement(root, "object")
    _fields(found, name=entity)
    box = ElementTree.SubElement(found, "bndbox")
    _fields(box, xmin=left + 1, ymin=top + 1, xmax=left + width, ymax=top + height)


def _fields(node: ElementTree.Element, **values: int | str) -> None:
    for name, value in values.items():
        ElementTree.SubElement(node, name).text = str(value)
