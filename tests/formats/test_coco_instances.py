import json
from collections import Counter

import pytest

from tests.decorrelation.tiny_corpus import HEIGHT, SCENES, WIDTH, instances_tree
from trivium.core.errors import BadInput
from trivium.formats.coco_instances import fit_box, read_instances


@pytest.fixture
def read(tmp_path):
    """Reads the tiny instances after a change to them; `many` good copies of one object make few bad ones bearable."""

    def run(change=lambda tree: None, many=0):
        tree = instances_tree()
        last = tree["annotations"][-1]
        tree["annotations"] += [last | {"id": last["id"] + 1 + index} for index in range(many)]
        change(tree)
        (tmp_path / "instances.json").write_text(json.dumps(tree))  # NaN, which `write_json` refuses, too
        return read_instances(tmp_path / "instances.json")

    return run


def put(**fields):
    return lambda tree: tree["annotations"][0].update(fields)


def test_objects_by_picture(read):
    instances = read()
    assert set(instances.sizes.values()) == {(WIDTH, HEIGHT)}
    found = {
        key: [(thing.class_name, thing.box) for thing in things if not thing.crowd]
        for key, things in instances.objects.items()
    }
    assert found == {
        index + 1: [(name, tuple(box)) for name, box in objects] for index, (_, objects) in enumerate(SCENES)
    }
    (crowd,) = (thing for things in instances.objects.values() for thing in things if thing.crowd)
    assert (crowd.class_name, crowd.segmentation["size"]) == ("car", [HEIGHT, WIDTH])
    assert instances.classes == ("person", "bicycle", "car", "cat", "dog", "frisbee", "hot dog")
    assert not any(instances.counts.values())


@pytest.mark.parametrize(
    ("box", "fitted", "counted"),
    [
        ((0.0, 0.0, 64.0, 48.0), (0.0, 0.0, 64.0, 48.0), None),
        ((-0.5, 40.0, 10.0, 9.0), (0.0, 40.0, 9.5, 8.0), "boxes_clipped"),
        ((60.0, 10.0, 5.0, 5.0), (60.0, 10.0, 4.0, 5.0), "boxes_clipped"),
        ((60.0, 10.0, 5.01, 5.0), None, "objects_box_outside"),
        ((-1.5, 0.0, 5.0, 5.0), None, "objects_box_outside"),
        ((4.0, 4.0, 0.0, 5.0), None, "objects_without_area"),
    ],
)
def test_boxes_are_clipped_by_a_rounding_and_no_more(box, fitted, counted):
    counts = Counter()
    assert fit_box(box, (64, 48), counts) == fitted
    assert counts == ({counted: 1} if counted else {})


def test_many_unusable_boxes_are_another_format(read):
    def corners(tree):
        for annotation in tree["annotations"]:
            left, top, width, height = annotation["bbox"]
            annotation["bbox"] = [left + 20, top + 20, left + width + 20, top + height + 20]

    with pytest.raises(BadInput, match=r"instances\.json:annotation 1: field 'bbox': 2\d of 2\d boxes"):
        read(corners)


@pytest.mark.parametrize(
    ("shape", "kept", "counted"),
    [
        ([[1, 1, 5, 5], [4, 20, 24, 20, 24, 40]], [[4, 20, 24, 20, 24, 40]], {"polygons_too_short": 1}),
        ([[1, 1, 5, 1, 5, 5, 7]], None, {"polygons_too_short": 1}),
        ({"counts": [48 * 64], "size": [64, 48]}, None, {"masks_of_another_size": 1}),
        ({"counts": [48 * 64], "size": [48, 64]}, {"counts": [48 * 64], "size": [48, 64]}, {}),
        ({"counts": [48 * 64 - 1], "size": [48, 64]}, None, {"masks_of_another_size": 1}),
        # Compressed: a run of 0 and one of 3 · 32² = 48 · 64 pixels; then 2 · 32² + 31 · 32 + 31, one fewer.
        ({"counts": "0PP3", "size": [48, 64]}, {"counts": "0PP3", "size": [48, 64]}, {"boxes_unlike_polygons": 1}),
        ({"counts": "0oo2", "size": [48, 64]}, None, {"masks_of_another_size": 1}),
        ([[4, 20, 24.5, 20, 24, 39.75]], [[4, 20, 24.5, 20, 24, 39.75]], {}),
        ([], None, {}),
    ],
)
def test_broken_outlines_are_left_out_and_their_object_stays(read, shape, kept, counted):
    instances = read(put(segmentation=shape), many=100)
    thing = instances.objects[1][0]
    assert (thing.class_name, thing.box, thing.segmentation) == ("dog", (4.0, 20.0, 20.0, 20.0), kept)
    assert {name: number for name, number in instances.counts.items() if number} == counted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            put(category_id=1.5),
            r"annotation 1: field 'category_id': not a whole number; got 1.5; expected a whole number",
        ),
        (put(category_id=9), r"annotation 1: field 'category_id': unknown category; got 9.*choices: 1, 2, 3, 17"),
        (put(image_id=99), r"annotation 1: field 'image_id': no such picture in images; got 99"),
        (put(id=2), r"annotation 2: field 'id': stands twice; got 2"),
        (put(bbox=[1, 2, 3]), r"annotation 1: field 'bbox': not a box; got \[1, 2, 3\]"),
        (lambda tree: tree["images"][2].update(id=1), r" field 'images\[2\].id': stands twice; got 1"),
        (lambda tree: tree["categories"][1].update(id=1), r" field 'categories\[1\]': category twice"),
        (lambda tree: tree["categories"][1].update(name=None), r" field 'categories\[1\].name': missing"),
    ],
)
def test_errors_name_file_record_and_field(read, change, message):
    with pytest.raises(BadInput, match=r"instances\.json:" + message):
        read(change)


def _polygon(box):
    left, top, width, height = box
    return [[left, top, left + width, top, left + width, top + height, left, top + height]]


@pytest.mark.parametrize(
    ("meant", "write"),
    [
        ("corners", lambda x, y, w, h: [x, y, x + w, y + h]),
        ("shares", lambda x, y, w, h: [x / WIDTH, y / HEIGHT, w / WIDTH, h / HEIGHT]),
        ("the centre", lambda x, y, w, h: [x + w / 2, y + h / 2, w, h]),
        ("mirrored", lambda x, y, w, h: [WIDTH - x - w, y, w, h]),
    ],
)
def test_boxes_that_are_not_around_their_polygons_are_refused_with_the_likely_reason(read, meant, write):
    def change(tree):
        for annotation in tree["annotations"]:
            box = [32, 3, 12, 16]
            annotation |= {"bbox": write(*box), "segmentation": _polygon(box), "iscrowd": False}

    with pytest.raises(BadInput, match=rf"annotation 1: .*27 of 27 boxes are not around .*they look like .*{meant}"):
        read(change)


def test_a_few_boxes_unlike_their_polygons_are_counted(read):
    outline = put(segmentation=_polygon([40, 2, 8, 9]))
    assert read(lambda tree: [each.update(segmentation=_polygon(each["bbox"])) for each in tree["annotations"]]).counts[
        "boxes_unlike_polygons"
    ] == 0  # fmt: skip

    def change(tree):
        for annotation in tree["annotations"]:
            annotation |= {"segmentation": _polygon(annotation["bbox"])}
        outline(tree)

    assert read(change, many=100).counts["boxes_unlike_polygons"] == 1
