"""Stage kvqae-annotation_tasks: interface and tasks fit together, texts stay data, work is shared out evenly."""

import base64
import io
import re

import numpy as np
import pytest
from defusedxml import ElementTree
from PIL import Image

from stages.kvqae.annotation_tasks import AnnotationTasksParameters, main
from tests.kvqae.annotated_world import picture, record, write_generated, write_pictures
from trivium.core.image_shards import write_images
from trivium.core.tables import read_json
from trivium.kvqae.annotation.project import (
    CONTROLS,
    DECISION,
    DISCARD_REASONS,
    IMAGE,
    KEEP,
    QUESTION,
    TEMPLATES,
    balanced_sample,
)

HOSTILE = "\"><script>alert(1)</script> & 'or' $question ]]> {{x}}"


def parameters(**changes):
    values = {"questions": 100, "largest_share": 0.6, "annotators": 7, "overlap_questions": 3, "overlap_annotators": 3}
    values |= {"image_side": 32, "image_address": None, "seed": 0}
    return AnnotationTasksParameters(**(values | changes))


def run(root, records, *, references=None, **changes):
    """Run the stage; every reference is at hand unless `references` has its bytes. Returns metrics and tasks."""
    generated = root / "generated.jsonl"
    write_generated(generated, records)
    images, base = write_pictures(root, records)
    if references is not None:
        write_images(base, (references or {"other.jpg": b"x"}).items())
    metrics = main(parameters(**changes), generated=generated, images=images, references=base, out=root / "out")
    return metrics, read_json(root / "out" / "tasks.json")


def address_of(markup):
    """Of the picture; what is shown is one element and nothing in it."""
    element = ElementTree.fromstring(markup)
    assert (element.tag, set(element.attrib), list(element), element.text) == ("span", {"class", "style"}, [], None)
    return re.fullmatch(r'background-image: url\("([^"]*)"\)', element.get("style"))[1]


def test_the_interface_shows_what_tasks_hold(tmp_path):
    _, tasks = run(tmp_path, [record(n) for n in range(8)])
    root = ElementTree.fromstring((tmp_path / "out" / "config.xml").read_text("utf-8"))
    names = [element.get("name") for element in root.iter() if element.get("name")]
    assert len(set(names)) == len(names)
    assert {name for name in names if name in CONTROLS} == set(CONTROLS)
    assert {element.get("toName") for element in root.iter() if element.get("toName")} <= set(names)
    used = {element.get("value")[1:] for element in root.iter() if (element.get("value") or "").startswith("$")}
    shown = {"original_question", "answer", "mentions", "reference", "question", "images"}
    assert used == shown
    for task in tasks:
        assert set(task["data"]) == shown | {"project", "id", "annotators"}
    decision = next(element for element in root.iter("Choices") if element.get("name") == DECISION)
    assert tuple(choice.get("value") for choice in decision) == (KEEP, *DISCARD_REASONS)
    assert {e.get("name") for e in root.iter("TextArea")} == {QUESTION}
    assert {e.get("name") for e in root.iter("Choices")} == {DECISION, IMAGE}
    (asked,) = [view for view in root.iter("View") if view.get("whenTagName") == DECISION]
    assert asked.get("whenChoiceValue") == KEEP
    for reason in DISCARD_REASONS:
        assert f"*{reason}*" in (TEMPLATES / "annotation_instructions.md").read_text("utf-8")


def test_tasks_hold_the_question_and_pictures_in_the_order_of_candidates(tmp_path):
    metrics, tasks = run(tmp_path, [record(n) for n in range(8)])
    data = {task["data"]["id"]: task["data"] for task in tasks}["tc_5_10"]
    assert data["question"] == "This man is from the 1705s. Where was this man seen?"
    assert data["original_question"] == record(5)["original_question"]
    assert (data["answer"], data["mentions"]) == ("Place 0", "he · this writer")
    assert [image["value"] for image in data["images"]] == record(5)["images"]
    assert [image["selected"] for image in data["images"]] == [True, False, False]
    for address in map(address_of, (data["reference"], *(image["html"] for image in data["images"]))):
        kind, _, content = address.partition(",")
        assert kind == "data:image/jpeg;base64"
        assert Image.open(io.BytesIO(base64.b64decode(content))).size == (32, 16)  # not cropped
    assert metrics["tasks"] == 8
    assert metrics["images_unreadable"] == metrics["images_broken_exif"] == 0


def test_hostile_texts_and_names_stay_data(tmp_path):
    texts = {"input": HOSTILE, "original_question": HOSTILE, "other_mentions": [HOSTILE], "images": [HOSTILE, "b"]}
    made = [record(n, **texts, reference=HOSTILE) for n in (0, 2)]
    _, tasks = run(tmp_path, made, image_address="https://example.org/{name}?width=320", references={})
    data = tasks[0]["data"]
    assert data["question"] == data["original_question"] == HOSTILE
    for address in map(address_of, (data["reference"], data["images"][0]["html"])):
        assert re.fullmatch(r"https://example\.org/[\w%.~-]+\?width=320", address)
    assert HOSTILE not in (TEMPLATES / "annotation_config.xml").read_text("utf-8")


# What ViQuAE's authors call the images of their knowledge base; Commons has no file of such a name.
PREVIEWS = {
    "512px-Ada_Lark.jpg": "Ada%20Lark.jpg",
    "512px-Flag_of_Dor.svg.png": "Flag%20of%20Dor.svg",
    "lossy-page1-512px-Map.tif.jpg": "Map.tif",
}


@pytest.mark.parametrize("preview", PREVIEWS)
def test_the_knowledge_bases_own_picture_is_in_the_task_wherever_candidates_are(tmp_path, preview):
    made = [record(n, reference=preview) for n in (0, 2)]
    address = "https://example.org/{name}?width=320"
    metrics, (task, _) = run(tmp_path / "a", made, image_address=address, references={preview: picture(7)})
    content = address_of(task["data"]["reference"]).removeprefix("data:image/jpeg;base64,")
    assert Image.open(io.BytesIO(base64.b64decode(content))).size == (32, 16)
    assert address_of(task["data"]["images"][0]["html"]).startswith("https://example.org/Photo%20")
    assert (metrics["references_not_at_hand"], metrics["images_unreadable"]) == (0, 0)
    # Where it is not at hand, or gives no picture, its file's address stands for it.
    for place, references, expected in (("b", {}, (2, 0)), ("c", {preview: b"<svg/>"}, (0, 1))):
        metrics, (task, _) = run(tmp_path / place, made, image_address=address, references=references)
        assert address_of(task["data"]["reference"]) == f"https://example.org/{PREVIEWS[preview]}?width=320"
        assert (metrics["references_not_at_hand"], metrics["images_unreadable"]) == expected


@pytest.mark.parametrize(
    ("persons", "others", "most", "share", "number", "expected_persons"),
    [
        (10, 10, 100, 0.5, 20, 10),
        (30, 10, 100, 0.6, 25, 15),  # 10 / (1 - 0.6) = 25
        (30, 10, 20, 0.6, 20, 12),  # 3 in 4 would be 15; 12 is the most
        (12, 8, 10, 0.9, 10, 6),  # the share that they have
        (5, 0, 100, 0.9, 0, 0),
    ],
)
def test_balance(tmp_path, persons, others, most, share, number, expected_persons):
    records = [record(n, id=f"p{n}_1", human=True) for n in range(persons)]
    records += [record(n, id=f"o{n}_1", human=False) for n in range(others)]
    questions = list(write_generated(tmp_path / "g.jsonl", records).values())
    chosen = balanced_sample(questions, most, share, np.random.default_rng(0))
    assert len(chosen) == len({each.id for each in chosen}) == number
    assert sum(each.human for each in chosen) == expected_persons
    assert {each.id for each in chosen} <= {each.id for each in questions}
