"""Removals: the rules on scenes small enough for paper, invariances, real pictures against a brute-force count."""

import csv
import json
import random
from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pytest
from pycocotools import mask as coco

from stages.decorrelation import removals as stage
from stages.decorrelation.removals import main
from tests.decorrelation.tiny_corpus import instances_tree, write_coco
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_json, write_table
from trivium.core.tracking import Tracker
from trivium.decorrelation.removals import (
    REASONS,
    RemovalsParameters,
    box_regions,
    empty_box,
    find_empty_boxes,
    find_removals,
    read_removals,
    segmentation_regions,
)
from trivium.formats.masks import decode
from trivium.formats.pictures import Caption, Object, Picture


def parameters(**changes):
    values = {"region": "box", "delta1": 0.4, "delta2": 0.8, "delta3": 0.7, "training": "one", "prefer_named": True}
    return RemovalsParameters(**{**values, "empty_tries": 50, "seed": 0, **changes})


def scene(*objects, split="test", identifier=1, size=(100, 100)):
    """A picture of (class, box) or (class, box, crowd)."""
    found = tuple(Object(name, box, crowd=bool(crowd)) for name, box, *crowd in objects)
    return Picture(identifier, f"{identifier}.jpg", split, *size, found, (Caption(identifier, "a scene"),))


def outcome(picture, **changes):
    """({class: removal}, {class: reason})."""
    tally = Counter()
    found = find_removals([picture], {}, parameters(**{"training": "all", "prefer_named": False, **changes}), tally)
    removals = {removal.class_name: removal for removal in found}
    rejected = {name: column[9:] for (_, name, column) in tally if column.startswith("rejected_")}
    return removals, rejected


DOG, FRISBEE = ("dog", (0, 0, 20, 20)), ("frisbee", (50, 50, 10, 10))


def test_objects_apart_can_both_go():
    removals, rejected = outcome(scene(DOG, FRISBEE))
    assert rejected == {}
    assert removals["dog"].id == "1_dog"
    assert removals["dog"].removed == ("dog",)
    assert removals["dog"].remaining == ("frisbee",)
    assert removals["dog"].share == 0.04
    expected = np.zeros((100, 100), dtype=bool)
    expected[50:60, 50:60] = True
    assert (decode(removals["frisbee"].mask, 100, 100) == expected).all()


@pytest.mark.parametrize(("shift", "kept"), [(6.5, True), (6, False), (5, False)])
def test_a_class_that_stays_must_be_covered_by_less_than_delta1(shift, kept):
    # The removed box covers (10 - shift) / 10 of the other: 0.35, exactly 0.4, 0.5.
    removals, rejected = outcome(scene(("dog", (0, 0, 20, 10)), ("cat", (10 + shift, 0, 10, 10))))
    assert ("dog" in removals) == kept
    assert rejected.get("dog") == (None if kept else "overlap")


@pytest.mark.parametrize(("shift", "together"), [(1.5, True), (2, False)])
def test_a_class_covered_by_more_than_delta2_goes_too(shift, together):
    removals, rejected = outcome(scene(("dog", (0, 0, 20, 10)), ("tie", (10 + shift, 0, 10, 10)), FRISBEE))
    if together:  # 0.85 of the tie
        assert removals["dog"].removed == ("dog", "tie")
        assert removals["dog"].remaining == ("frisbee",)
        assert removals["dog"].share == (20 + shift) * 10 / 10_000
        assert decode(removals["dog"].mask, 100, 100).sum() == 10 * 22
    else:  # exactly 0.8: it stays, and is covered by too much
        assert rejected["dog"] == "overlap"


def test_a_class_that_stays_is_held_against_all_that_goes():
    # The dog covers nothing of the cat, but 0.9 of the tie; the tie covers 0.5 of the cat.
    cat, tie = ("cat", (20, 0, 2, 10)), ("tie", (11, 0, 10, 10))
    assert "dog" in outcome(scene(("dog", (0, 0, 20, 10)), cat))[0]
    assert outcome(scene(("dog", (0, 0, 20, 10)), cat, tie))[1]["dog"] == "overlap"


def test_areas_are_of_unions_not_sums():
    # Two dogs at the same place cover 0.3 of the cat, and the share of one dog.
    dog = ("dog", (0, 0, 13, 10))
    removals, _ = outcome(scene(dog, dog, ("cat", (10, 0, 10, 10))))
    assert removals["dog"].share == 0.013
    # A class's own region is a union, too: the dog covers all of one cat, a third of both.
    removals, _ = outcome(scene(("dog", (0, 0, 10, 10)), ("cat", (0, 0, 10, 10)), ("cat", (50, 50, 20, 10))))
    assert removals["dog"].removed == ("dog",)


def test_what_goes_is_smaller_than_delta3():
    large, larger = ("bed", (0, 0, 100, 69)), ("bed", (0, 0, 100, 70))
    assert "bed" in outcome(scene(large, ("cat", (0, 80, 10, 10))))[0]
    assert outcome(scene(larger, ("cat", (0, 80, 10, 10))))[1] == {"bed": "size"}


def test_one_class_must_remain_and_two_are_needed():
    assert outcome(scene(DOG)) == ({}, {"dog": "single_class"})
    assert outcome(scene(DOG, DOG)) == ({}, {"dog": "single_class"})
    removals, rejected = outcome(scene(("dog", (0, 0, 20, 20)), ("tie", (5, 5, 2, 2))))
    assert rejected == {"dog": "nothing_remains"}
    assert removals["tie"].remaining == ("dog",)
    assert outcome(scene()) == ({}, {})


def test_a_crowd_is_present_and_never_removed():
    crowd = ("person", (0, 0, 10, 10), True)
    removals, rejected = outcome(scene(crowd, ("person", (30, 0, 10, 10)), FRISBEE))
    assert rejected == {"person": "crowd"}
    assert removals["frisbee"].remaining == ("person",)
    # Covered by more than δ2 it would have to go as well.
    assert outcome(scene(("bus", (0, 0, 20, 20)), crowd, FRISBEE))[1] == {"bus": "crowd_covered", "person": "crowd"}
    # Its box belongs to the class's region: the bus covers half of the persons, not all.
    assert outcome(scene(("bus", (50, 0, 10, 10)), ("person", (50, 0, 10, 10)), crowd))[1]["bus"] == "overlap"


def test_order_of_objects_and_pictures_changes_nothing():
    rng = random.Random(0)
    pictures = [random_scene(rng, number) for number in range(60)]
    shuffled = [replace(each, objects=tuple(rng.sample(each.objects, len(each.objects)))) for each in pictures]
    rng.shuffle(shuffled)
    first, second = (
        sorted(find_removals(some, {5: {"cat"}}, parameters(seed=3), Counter()), key=lambda r: r.id)
        for some in (pictures, shuffled)
    )
    assert len(first) > 50
    assert first == second
    boxes, again = (
        sorted(find_empty_boxes(some, tries=20, seed=3, tally=Counter()), key=lambda r: r.id)
        for some in (pictures, shuffled)
    )
    assert len(boxes) > 20
    assert boxes == again


def random_scene(rng, number):
    objects = []
    for _ in range(rng.randint(0, 6)):
        left, top = rng.uniform(0, 80), rng.uniform(0, 80)
        box = (left, top, rng.uniform(1, 100 - left), rng.uniform(1, 100 - top))
        objects.append((rng.choice(["cat", "dog", "cup", "bed"]), box))
    return scene(*objects, split="train", identifier=number)


def drawn(picture, *, named, **options):
    found = find_removals([picture], named, parameters(**options), Counter())
    return {removal.class_name for removal in found if removal.drawn}


def test_one_removal_a_training_picture_is_drawn_and_all_of_a_test_picture():
    objects = (DOG, FRISBEE, ("cup", (80, 80, 5, 5)))
    one = {"training": "one", "named": {}, "prefer_named": True}
    seen = Counter(chain.from_iterable(drawn(scene(*objects, split="train"), **one, seed=s) for s in range(300)))
    assert sum(seen.values()) == 300
    assert all(70 < count < 130 for count in seen.values())
    assert drawn(scene(*objects), **one, seed=0) == {"dog", "frisbee", "cup"}
    assert drawn(scene(*objects, split="train"), **{**one, "training": "all"}, seed=0) == {"dog", "frisbee", "cup"}


def test_a_class_that_a_caption_names_is_drawn_where_there_is_one():
    picture = scene(DOG, FRISBEE, ("cup", (80, 80, 5, 5)), split="train")
    for named, expected in (({"frisbee", "dog"}, {"frisbee", "dog"}), ({"kite"}, {"cup", "dog", "frisbee"})):
        options = {"training": "one", "named": {1: named}}
        seen = [drawn(picture, **options, prefer_named=True, seed=seed) for seed in range(40)]
        assert set().union(*seen) == expected
    seen = [drawn(picture, **options, prefer_named=False, seed=seed) for seed in range(40)]
    assert set().union(*seen) == {"cup", "dog", "frisbee"}


def test_areas_of_boxes_are_exact_whatever_their_fractions():
    rng = np.random.default_rng(1)
    for _ in range(20):
        quarters = np.concatenate([rng.integers(0, 60, (8, 2)), rng.integers(1, 40, (8, 2))], axis=1)
        names = ["cat", "dog", *rng.choice(["cat", "dog", "cup"], 6).tolist()]
        fine = {name: np.zeros((100, 100), dtype=bool) for name in names}  # in quarters of pixels
        for name, (left, top, width, height) in zip(names, quarters.tolist(), strict=True):
            fine[name][top : top + height, left : left + width] = True
        objects = [(name, tuple(box)) for name, box in zip(names, (quarters / 4).tolist(), strict=True)]
        regions = box_regions(scene(*objects))
        assert regions.classes == tuple(sorted(fine))
        assert [regions.area(cells) for cells in regions.cells] == [fine[name].sum() / 16 for name in regions.classes]
        covered = [(fine[name] & fine["cat"]).sum() / fine[name].sum() for name in regions.classes]
        assert regions.coverage(regions.cells[regions.classes.index("cat")]).tolist() == covered


def test_regions_may_be_segmentations():
    triangle = Object("dog", (0, 0, 20, 20), segmentation=[[0, 0, 20, 0, 0, 20]])
    tiny = Object("cup", (50.2, 50.2, 0.2, 0.2), segmentation=[[50.2, 50.2, 50.4, 50.2, 50.4, 50.4]])
    picture = replace(scene(), objects=(triangle, tiny))
    regions = segmentation_regions(picture)
    assert regions.area(regions.cells[regions.classes.index("cup")]) == 1
    assert regions.area(regions.cells[regions.classes.index("dog")]) == pytest.approx(200, abs=15)
    removals, _ = outcome(picture, region="segmentation")
    assert removals["dog"].share == decode(removals["dog"].mask, 100, 100).sum() / 10_000


def test_an_empty_box_is_as_large_as_an_object_and_touches_none():
    rng = random.Random(2)
    sizes = Counter()
    for number in range(200):
        picture = random_scene(rng, number)
        boxes = [each.box for each in picture.objects]
        found = empty_box(boxes, 100, 100, tries=50, seed=(0, number)) if boxes else None
        if found is None:
            continue
        left, top, width, height = map(int, found)
        sizes[any((width, height) == (np.ceil(box[2]), np.ceil(box[3])) for box in boxes)] += 1
        touched = np.zeros((100, 100), dtype=bool)
        for box in boxes:
            rows, columns = (slice(int(a), int(np.ceil(a + b))) for a, b in ((box[1], box[3]), (box[0], box[2])))
            touched[rows, columns] = True
        assert found == (left, top, width, height)
        assert 0 <= left <= 100 - width
        assert 0 <= top <= 100 - height
        assert not touched[top : top + height, left : left + width].any()
    assert set(sizes) == {True}
    assert sizes[True] > 50


def test_an_empty_box_holds_nothing_of_no_class_either():
    tally = Counter()
    left = ((0.0, 0.0, 50.0, 60.0),)
    pictures = [replace(scene(DOG, identifier=number), others=left) for number in range(40)]
    found = list(find_empty_boxes(pictures, tries=200, seed=0, tally=tally))
    assert len(found) == 40
    for each in found:
        assert not decode(each.mask, 100, 100)[:60, :50].any()
        assert each.share == 0.04  # still as large as the dog
    everywhere = replace(scene(DOG), others=((0.0, 0.0, 100.0, 100.0),))
    assert list(find_empty_boxes([everywhere], tries=200, seed=0, tally=tally)) == []
    assert tally == {("test", "", "empty_no_place"): 1}


# The stage, from files to files


def write_world(folder):
    """Pictures, and what their captions name; returns the raw folder."""
    raw = write_coco(folder / "raw")
    rows = [(image["imgid"], image["split"]) for image in read_json(raw / "karpathy.json")["images"]]
    named = [["dog"] if number % 2 else ["frisbee"] for number, _ in rows]
    write_table(folder / "phrases.parquet", pa.table({"picture": [number for number, _ in rows], "classes": named}))
    return raw


@pytest.fixture
def raw(tmp_path):
    return write_world(tmp_path)


def run(raw, context=None, out=None, **changes):
    """The stage's metrics; here it writes beside the raw folder."""
    folder = raw.parent
    return main(
        parameters(**changes), context or here(folder), dataset="coco", raw=raw, phrases=folder / "phrases.parquet",
        out=(out or folder) / "out", out_classes=(out or folder) / "classes.csv",
        out_painted=(out or folder) / "none", out_pairs=(out or folder) / "none_none.parquet",
    )  # fmt: skip


def here(folder, workers=1):
    return Context(tracker=Tracker(), work=folder / "work", engine=LocalEngine(workers))


def test_the_stage_writes_removals_boxes_and_counts(raw, tmp_path):
    metrics = run(raw)
    removals, empty = (read_removals(tmp_path / "out" / f"{name}.parquet") for name in ("removals", "empty"))
    assert metrics["removals_train"] == sum(removal.split == "train" for removal in removals) > 0
    assert metrics["removals_test"] == sum(removal.split == "test" for removal in removals) > 0
    assert metrics["drawn_train"] == len({removal.picture for removal in removals if removal.split == "train"})
    assert (
        metrics["empty_boxes"] == len(empty) == 4 - sum(metrics[f"rejected_empty_no_{n}"] for n in ("object", "place"))
    )
    assert {removal.split for removal in removals} == {"train", "test"}
    assert {removal.split for removal in empty} == {"test"}
    assert all(removal.drawn for removal in removals if removal.split == "test")
    assert metrics["rejected_crowd"] == 1  # the cars of the fifth picture
    for removal in removals:
        assert decode(removal.mask, removal.height, removal.width).mean() == pytest.approx(removal.share)
    with (tmp_path / "classes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(instances_tree()["categories"])
    for row in rows:
        outcomes = int(row["removals"]) + sum(int(row[f"rejected_{reason}"]) for reason in REASONS)
        assert outcomes == int(row["pictures"])
    assert sum(int(row["removals"]) for row in rows) == len(removals)


def test_shards_and_workers_do_not_change_a_byte(raw, tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("out/removals.parquet", "out/empty.parquet", "classes.csv")]
    whole = run(raw), [file.read_bytes() for file in files]
    assert len(read_removals(files[0])) > len(read_removals(files[1])) > 1
    for size, workers in ((1, 1), (5, 1), (5, 2)):
        monkeypatch.setattr(stage, "PICTURES", size)
        assert (run(raw, here(tmp_path, workers)), [file.read_bytes() for file in files]) == whole


# Real pictures


@pytest.fixture(scope="module")
def real_pictures(real):
    tree = json.loads((real("coco_mini") / "annotations" / "instances_train2017.json").read_text())
    names = {each["id"]: each["name"] for each in tree["categories"]}
    objects = {image["id"]: [] for image in tree["images"]}
    for each in tree["annotations"]:
        name, shape = names[each["category_id"]], each["segmentation"]
        objects[each["image_id"]].append(Object(name, tuple(each["bbox"]), shape, bool(each["iscrowd"])))
    return [
        Picture(image["id"], image["file_name"], "test", image["width"], image["height"], tuple(found), ())
        for image, found in ((image, objects[image["id"]]) for image in tree["images"])
    ]


def brute_force(picture, shapes, scale):
    """The rules by pycocotools on a picture `scale` times as large: {class: (removed, share) or reason}, margin."""
    height, width = picture.height * scale, picture.width * scale
    by_class = {}
    for each, shape in zip(picture.objects, shapes, strict=True):
        by_class.setdefault(each.class_name, []).append(shape)
    union = {name: coco.merge(found) for name, found in by_class.items()}
    crowded = {each.class_name for each in picture.objects if each.crowd}
    closest = 1.0

    def covered(region, name):
        return coco.area(coco.merge([region, union[name]], intersect=True)) / coco.area(union[name])

    found = {}
    for name in union:
        others = [other for other in union if other != name]
        ratios = {other: covered(union[name], other) for other in others}
        going = [name, *(other for other in others if ratios[other] > 0.8)]
        staying = [other for other in others if other not in going]
        region = coco.merge([union[other] for other in going])
        against = [covered(region, other) for other in staying]
        share = coco.area(region) / (height * width)
        closest = min(
            [closest, abs(share - 0.7), *(abs(r - 0.8) for r in ratios.values()), *(abs(r - 0.4) for r in against)]
        )
        if not others:
            found[name] = "single_class"
        elif name in crowded:
            found[name] = "crowd"
        elif crowded & set(going):
            found[name] = "crowd_covered"
        elif not staying:
            found[name] = "nothing_remains"
        elif any(ratio >= 0.4 for ratio in against):
            found[name] = "overlap"
        else:
            found[name] = "size" if share >= 0.7 else (tuple(sorted(going)), tuple(sorted(staying)), share)
    return found, closest


def ours(picture, region):
    removals, rejected = outcome(picture, region=region)
    return {name: (r.removed, r.remaining, r.share) for name, r in removals.items()} | rejected


@pytest.mark.real
def test_removals_of_real_pictures_agree_with_pycocotools_on_a_fine_raster(real_pictures):
    total = Counter()
    for picture in real_pictures:
        scale = 8
        boxes = np.round(np.array([each.box for each in picture.objects]) * scale)
        shapes = coco.frPyObjects(boxes, picture.height * scale, picture.width * scale)
        expected, closest = brute_force(picture, shapes, scale)
        found = ours(picture, "box")
        if closest < 0.002:  # the raster itself decides
            total["close"] += 1
            continue
        assert found.keys() == expected.keys()
        for name, decision in expected.items():
            total[decision if isinstance(decision, str) else "removals"] += 1
            if isinstance(decision, str):
                assert found[name] == decision
            else:
                assert found[name][:2] == decision[:2]
                assert found[name][2] == pytest.approx(decision[2], abs=0.005)
    assert total["close"] <= 1
    assert total["removals"] > 30


@pytest.mark.real
def test_removals_by_segmentation_agree_with_pycocotools(real_pictures):
    total = 0
    for picture in real_pictures:
        height, width = picture.height, picture.width
        shapes = []
        for each in picture.objects:
            code = coco.frPyObjects(each.segmentation, height, width)
            shapes.append(coco.merge(code) if isinstance(code, list) else code)
        expected, _ = brute_force(picture, shapes, 1)
        assert ours(picture, "segmentation") == expected
        total += sum(not isinstance(decision, str) for decision in expected.values())
    assert total > 30
