"""Label Studio's export: what annotators decided is read, everything else is refused by file, task and field."""

import pytest

from tests.kvqae.annotated_world import annotation, exported, record, write_export, write_generated
from trivium.core.errors import BadInput
from trivium.kvqae.annotation.export import Annotation, read_annotations

FIRST, SECOND = record(0), record(3)
KEPT = {"question": "Where was he seen?", "image": "Photo 0 2.jpg"}


@pytest.fixture
def questions(tmp_path):
    return write_generated(tmp_path / "g.jsonl", [FIRST, SECOND, record(4)])


def test_decisions_are_read_in_the_order_of_their_numbers(tmp_path, questions):
    anne = {"id": 3, "email": "anne@example.org", "first_name": ""}
    skipped = annotation(11, 8, "", question="") | {"was_cancelled": True, "result": []}
    tasks = [
        exported(FIRST, annotation(9, 2, "overspecified"), annotation(4, anne, **KEPT), skipped),
        exported(SECOND),
    ]
    tasks[0]["annotations"][1]["result"][1]["value"]["text"] = "Where  was he \nseen? "  # one submission is a text
    annotations, counts = read_annotations(write_export(tmp_path / "e.json", tasks), questions)
    assert annotations == {
        FIRST["id"]: [
            Annotation(4, "anne@example.org", None, "Where was he seen?", "Photo 0 2.jpg"),
            Annotation(9, "2", "overspecified", None, None),
        ]
    }
    assert counts == {"tasks": 2, "annotations": 2, "cancelled_annotations": 1, "unannotated_tasks": 1}


def other_control():
    made = annotation(1, **KEPT)
    made["result"][0]["from_name"] = "verdict"
    return made


def twice(control=0):
    made = annotation(1, **KEPT)
    made["result"].append(made["result"][control])
    return made


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ({"tasks": []}, r"e\.json: not a list of tasks"),
        ([{"data": 1}], r"e\.json:1: field 'data': not an object"),
        ([exported(FIRST, project="chess")], r"e\.json:1: field 'data\.project': an export of another project; got 'ch"),
        ([exported(FIRST), exported(FIRST)], r"e\.json:2: field 'data\.id': task twice, first at 1"),
        ([exported(FIRST, id="tc_77_1")], r"field 'data\.id': unknown question; got 'tc_77_1'"),
        ([exported(FIRST, question="Who?")], r"field 'data\.question': annotators were given something else"),
        ([exported(FIRST, annotation("7", **KEPT))], r"field 'annotations\[0\]\.id': not a whole number"),
        ([exported(FIRST, annotation(1, None, **KEPT))], r"'annotations\[0\]\.completed_by': missing"),
        ([exported(FIRST, other_control())], r"'annotations\[0\]\.result\[0\]\.from_name': not a control.*got 'verdict'"),
        ([exported(FIRST, twice())], r"result\.decision': several values; got \['keep', 'keep'\]"),
        (
            [exported(SECOND), exported(FIRST, annotation(1, 5, **KEPT), annotation(2, 5, "overspecified"))],
            r"e\.json:2: field 'annotations\[1\]\.completed_by': annotator '5' annotated this task twice, first in annot",
        ),
        ([exported(FIRST, annotation(1, **KEPT, decision="maybe"))], r"result\.decision': unknown decision; got 'maybe'"),
        ([exported(FIRST, annotation(1, image=KEPT["image"]))], r"result\.question': annotator '1' left it empty"),
        (
            [exported(FIRST, annotation(1, **KEPT | {"image": "Photo 1 0.jpg"}))],
            r"result\.image': not among the candidates; got 'Photo 1 0\.jpg' \(choices: Photo 0 0\.jpg",
        ),
    ],
)  # fmt: skip
def test_bad_exports(tmp_path, questions, tasks, message):
    with pytest.raises(BadInput, match=message):
        read_annotations(write_export(tmp_path / "e.json", tasks), questions)
