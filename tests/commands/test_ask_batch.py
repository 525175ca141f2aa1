"""Many questions of a table: answers, and why there is none."""

import pytest

from trivium.commands.ask_batch import answer_all, read_questions
from trivium.errors import BadInput
from trivium.files.tables import read_csv
from trivium.kvqae.asking.answered_question import Answer, Recognised, Support


def answered(question, image):
    if not question.strip():
        raise BadInput("the question is empty")
    entries = [] if image is None else [Recognised(image.decode(), 2.0, 0.75, True)]
    support = Support(1, "Mill", "It stands in Bern.", 1.0, {}, None, None)
    return Answer("Bern", 0.5, [support], None, ["A note.", "Another."], {}, entries=entries)


def test_every_row_has_an_answer_or_a_reason(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"The mill")
    (tmp_path / "q.csv").write_text("id,question,image\n1,where?,a.jpg\n2,where?,\n3,where?,b.jpg\n4,,\n", "utf-8")
    assert answer_all(answered, tmp_path / "q.csv", tmp_path / "a.csv") == (4, 2)
    header, *rows = [row for _, row in read_csv(tmp_path / "a.csv")]
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [each["id"] for each in found] == ["1", "2", "3", "4"]
    assert [each["answer"] for each in found] == ["Bern", "Bern", "", ""]
    assert [each["entry"] for each in found] == ["The mill", "", "", ""]
    assert found[0]["entry_probability"] == "0.75"
    assert found[0]["notes"] == "A note. Another."
    assert "b.jpg: no such file" in found[2]["problem"]
    assert found[3]["problem"] == "the question is empty"


def test_nothing_is_written_where_nothing_was_answered(tmp_path):
    (tmp_path / "q.csv").write_text("question,image\nwhere?,b.jpg\n", "utf-8")
    with pytest.raises(BadInput, match=r"no question could be answered, the first: .*b.jpg"):
        answer_all(answered, tmp_path / "q.csv", tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,image\na,b\n", "the table has no column of questions"),
        ("question,answer\na,b\n", "the table has columns that the answers would overwrite"),
        ("question\na,b\n", "q.csv:2: the row has a different number of cells than the first one"),
        ("question\n", "no question"),
    ],
)
def test_tables_that_are_refused(tmp_path, content, message):
    (tmp_path / "q.csv").write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message):
        read_questions(tmp_path / "q.csv")
