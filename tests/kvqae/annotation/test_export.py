"""Label Studio's export: what annotators decided is read, everything else is refused by file, task and field."""

import pytest

from tests.kvqae.annotated_world import annotation, exported, record, write_export, write_generated
from trivium.kvqae.annotation.project import Annotation, read_annotations

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
