"""Public formats: Karpathy's split file, COCO's instances, Flickr30k Entities' archive."""

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sample.scenes.catalogue import KINDS
from sample.scenes.scene import Scene, Thing
from sample.scenes.wording import MENTION, SCENE, clothes_of, plain


@dataclass(frozen=True)
class Shot:
    """Photograph of a scene.

    Attributes:
        number: Karpathy's `imgid`.
        dataset: name of its data set.
        split: `train`, `restval`, `val` or `test`, as in Karpathy's file.
        scene, captions: the scene, and its captions with marks.
    """

    number: int
    dataset: str
    split: str
    scene: Scene
    captions: tuple[str, ...]

    @property
    def coco_id(self) -> int:
        """The id in COCO, the number at the end of the file's name; ids have gaps as COCO's do."""
        return 9 + 37 * self.number

    @property
    def folder(self) -> str:
        """The folder of the picture in COCO."""
        return "train2014" if self.split == "train" else "val2014"

    @property
    def name(self) -> str:
        """The file name of the picture."""
        if self.dataset == "flickr30k":
            return f"{1000092795 + 7919 * self.number}.jpg"
        return f"COCO_{self.folder}_{self.coco_id:012d}.jpg"


def karpathy(shots: Sequence[Shot]) -> dict[str, Any]:
    """Make Karpathy's split file; COCO's sets have `cocoid` and `filepath`."""
    dataset = "flickr30k" if shots[0].dataset == "flickr30k" else "coco"
    images, sentence = [], 0
    for shot in shots:
        sentences = []
        for text in map(plain, shot.captions):
            tokens = [word.strip(".,").lower() for word in text.split()]
            sentences.append({"tokens": tokens, "raw": text, "imgid": shot.number, "sentid": sentence})
            sentence += 1
        image: dict[str, Any] = {
            "filename": shot.name,
            "imgid": shot.number,
            "split": shot.split,
            "sentids": [one["sentid"] for one in sentences],
            "sentences": sentences,
        }
        images.append(image | ({"cocoid": shot.coco_id, "filepath": shot.folder} if dataset == "coco" else {}))
    return {"dataset": dataset, "images": images}


def outline(thing: Thing) -> list[float]:
    """Return the polygon around an object, row by row from its first to its last visible pixel (x, y, x, y, …)."""
    visible = np.asarray(thing.picture().getchannel("A")) > 0
    y = np.repeat(np.arange(len(visible) + 1), 2)[1:-1]  # of both ends of each row's sides
    lefts, rights = visible.argmax(axis=1), visible.shape[1] - visible[:, ::-1].argmax(axis=1)
    down, up = np.stack([np.repeat(rights, 2), y]), np.stack([np.repeat(lefts, 2), y])[:, ::-1]
    points = np.add(np.concatenate([down, up], axis=1).T, (thing.left, thing.top), dtype=np.float64)
    x = points[:, 0]
    corners: list[float] = points[(x != np.roll(x, 1)) | (x != np.roll(x, -1))].ravel().tolist()
    return corners


def instances(shots: Sequence[Shot], kinds: Sequence[str]) -> dict[str, Any]:
    """Make COCO's instances file: boxes (left, top, width, height) and polygons in pixels."""
    categories = {name: number for number, name in enumerate(kinds, 1)}
    things = [(shot, thing) for shot in shots for thing in shot.scene.things]
    return {
        "images": [
            {"id": shot.coco_id, "file_name": shot.name, "width": shot.scene.size, "height": shot.scene.size}
            for shot in shots
        ],
        "annotations": [
            {
                "id": number,
                "image_id": shot.coco_id,
                "category_id": categories[thing.kind],
                "bbox": [float(value) for value in thing.box],
                "area": float(thing.width * thing.height),
                "iscrowd": 0,
                "segmentation": [outline(thing)],
            }
            for number, (shot, thing) in enumerate(things, 1)
        ],
        "categories": [
            {"id": number, "name": name, "supercategory": KINDS[name].type} for name, number in categories.items()
        ],
    }


def entities(shots: Sequence[Shot]) -> bytes:
    """Make Flickr30k Entities' archive: for each picture an XML file with boxes and a file of annotated sentences."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for shot in shots:
            stem = shot.name.removesuffix(".jpg")
            worn = [clothes_of(index) for index in range(len(shot.scene.things))]
            numbers = {entity: 20 * shot.number + n for n, entity in enumerate((SCENE, *shot.scene.kinds, *worn), 1)}
            sentences = "".join(_annotate(caption, numbers) + "\n" for caption in shot.captions)
            # A ZipInfo has no time of writing, so the bytes are always the same.
            archive.writestr(zipfile.ZipInfo(f"Annotations/{stem}.xml"), _boxes(shot, numbers))
            archive.writestr(zipfile.ZipInfo(f"Sentences/{stem}.txt"), sentences)
    return buffer.getvalue()


def _annotate(caption: str, numbers: dict[str, int]) -> str:
    """Annotate a caption: `[/EN#1/people A man] rides [/EN#2/animals a horse] .`"""
    text = MENTION.sub(lambda match: f"[/EN#{numbers[match[1]]}/{match[2]} {match[3]}]", caption)
    return text.replace(",", " ,").removesuffix(".") + " ."


def _boxes(shot: Shot, numbers: dict[str, int]) -> str:
    """Make the XML of boxes as Flickr30k Entities has them: pixels counted from 1, both ends included."""
    boxes = []
    for index, thing in enumerate(shot.scene.things):
        left, top, width, height = thing.box
        boxes.append((numbers[thing.kind], left, top, width, height))
        if thing.kind == "person":  # shirts and dresses are around the middle
            boxes.append((numbers[clothes_of(index)], left, top + height * 3 // 10, width, height * 2 // 5))
    size = shot.scene.size
    objects = [
        f"<object><name>{entity}</name><bndbox><xmin>{left + 1}</xmin><ymin>{top + 1}</ymin>"
        f"<xmax>{left + width}</xmax><ymax>{top + height}</ymax></bndbox></object>"
        for entity, left, top, width, height in boxes
    ]
    return (
        f"<annotation><filename>{shot.name}</filename>"
        f"<size><width>{size}</width><height>{size}</height><depth>3</depth></size>"
        f"<object><name>{numbers[SCENE]}</name><scene>1</scene><nobndbox>0</nobndbox></object>"
        f"{''.join(objects)}</annotation>"
    )
