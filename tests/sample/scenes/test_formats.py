"""The public formats, read with other code than wrote them."""

import io
import re
import zipfile
from xml.etree import ElementTree

import numpy as np
from pycocotools import mask as coco_mask

from sample.scenes.catalogue import COCO, FLICKR30K
from sample.scenes.formats import Shot, entities, instances, karpathy, outline
from sample.scenes.wording import plain

MARKED = re.compile(r"\[/EN#(\d+)/(\w+) ([^\]]+)\]")


def test_outlines_cover_what_is_visible(many: list[Shot]):
    for shot in many[:60]:
        for thing in shot.scene.things:
            filled = coco_mask.decode(coco_mask.frPyObjects([outline(thing)], 48, 48))[:, :, 0] > 0
            visible = np.zeros((48, 48), bool)
            alpha = np.asarray(thing.picture().getchannel("A")) > 0
            visible[thing.top : thing.top + thing.height, thing.left : thing.left + thing.width] = alpha
            # Filled in a little: gaps between legs belong to the outline, the edges are pycocotools' half pixels.
            assert (visible & ~filled).sum() <= 0.08 * visible.sum()
            assert filled.sum() <= thing.width * thing.height


def test_instances_hold_every_object(many: list[Shot]):
    written = instances(many, COCO.kinds)
    names = {category["id"]: category["name"] for category in written["categories"]}
    by_picture: dict[int, list[tuple[str, tuple[float, ...]]]] = {}
    for annotation in written["annotations"]:
        by_picture.setdefault(annotation["image_id"], []).append(
            (names[annotation["category_id"]], tuple(annotation["bbox"]))
        )
    assert len({annotation["id"] for annotation in written["annotations"]}) == len(written["annotations"])
    for shot in many:
        assert by_picture[shot.coco_id] == [(thing.kind, thing.box) for thing in shot.scene.things]


def test_karpathy_ids_and_splits(many: list[Shot], flickr: list[Shot]):
    written = karpathy(many)["images"]
    assert [image["imgid"] for image in written] == list(range(len(many)))
    sentences = [sentence for image in written for sentence in image["sentences"]]
    assert [sentence["sentid"] for sentence in sentences] == list(range(5 * len(many)))
    assert {image["split"] for image in written} == {"train", "restval", "val", "test"}
    assert all(image["filename"].endswith(f"{image['cocoid']:012d}.jpg") for image in written)
    assert all(sentence["tokens"] == re.findall(r"\w+", sentence["raw"].lower()) for sentence in sentences)
    assert all("cocoid" not in image for image in karpathy(flickr)["images"])


def test_entities_are_the_captions_with_boxes(flickr: list[Shot]):
    with zipfile.ZipFile(io.BytesIO(entities(flickr))) as archive:
        types = set()
        for shot in flickr:
            stem = shot.name.removesuffix(".jpg")
            lines = archive.read(f"Sentences/{stem}.txt").decode().splitlines()
            for line, caption in zip(lines, shot.captions, strict=True):
                assert re.sub(r" ([.,])", r"\1", MARKED.sub(r"\3", line)) == plain(caption)
            root = ElementTree.fromstring(archive.read(f"Annotations/{stem}.xml"))
            found = {item.findtext("name"): item for item in root.findall("object")}
            for number, type_, _ in MARKED.findall("\n".join(lines)):
                assert (found[number].find("bndbox") is None) == (type_ == "scene")
                types.add(type_)
            corners = [[int(side.text) for side in box] for box in root.iter("bndbox")]
            boxes = {(left - 1, top - 1, right - left + 1, bottom - top + 1) for left, top, right, bottom in corners}
            assert {thing.box for thing in shot.scene.things} <= boxes
            assert all(1 <= left <= right <= 48 and 1 <= top <= bottom <= 48 for left, top, right, bottom in corners)
    assert types == {"people", "animals", "vehicles", "instruments", "other", "clothing", "scene"}
    assert set(FLICKR30K.kinds) == {kind for shot in flickr for kind in shot.scene.kinds}
