"""Many questions of a table: answers, and why there is none."""

from argparse import Namespace

import pytest

from tests.kvqae.asking.own_folder import open_asker, settings, write_folder
from tests.kvqae.asking.test_building import make, no_foreign
from tests.prompting.loopback_endpoint import Loopback, Response, said
from trivium.commands.ask_batch import answer_all, read_questions
from trivium.commands.kb_models import reader_of
from trivium.core.errors import BadInput
from trivium.core.tables import read_csv
from trivium.kvqae.asking import endpoints
from trivium.kvqae.asking.answer import Answer, RecognisedEntry, Support
from trivium.kvqae.asking.endpoints import EMPTY


def answered(question, image, entries, file):
    if not question.strip():
        raise BadInput("the question is empty")
    entries = [] if image is None else [RecognisedEntry(image.decode(), 2.0, 0.75, True)]
    support = Support(1, "Mill", "It stands in Bern.", 1.0, {}, None, None)
    return Answer("Bern", 0.5, [support], None, ["A note.", "Another."], 0.1, entries=entries)


def answer(ask, folder):
    """Answer q.csv of a folder into a.csv; returns how many questions could not be asked."""
    return answer_all(ask, read_questions(folder / "q.csv"), folder / "q.csv", folder / "a.csv")["problems"]


def test_every_row_has_an_answer_or_a_reason(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"The mill")
    (tmp_path / "q.csv").write_text("ID,question,image\n1,where?,.\\a.jpg\n2,when?,\n3,where?,b.jpg\n4,,\n", "utf-8")
    assert answer(answered, tmp_path) == 2
    header, *rows = [row for _, row in read_csv(tmp_path / "a.csv")]
    found = [dict(zip(header, row, strict=True)) for row in rows]
    assert [each["question"] for each in found] == ["where?", "when?", "where?", ""]
    assert [each["answer"] for each in found] == ["Bern", "Bern", "", ""]
    assert [each["entry"] for each in found] == ["The mill", "", "", ""]
    assert found[0]["entry_probability"] == "0.75"
    assert found[0]["notes"] == "A note. Another."
    assert "b.jpg: no such file" in found[2]["problem"]
    assert found[3]["problem"] == "the question is empty"


def test_a_question_has_one_picture_that_is_a_file(tmp_path):
    for name in ("a.jpg", "b.jpg", "c;d.jpg"):
        (tmp_path / name).write_bytes(b"The mill")
    rows = ["a.jpg;b.jpg", "https://example.org/a.jpg", "c;d.jpg"]
    (tmp_path / "q.csv").write_text("question,image\n" + "".join(f"where?,{row}\n" for row in rows), "utf-8")
    assert answer(answered, tmp_path) == 2
    problems = [row[-1] for _, row in read_csv(tmp_path / "a.csv")][1:]
    assert problems[0].endswith("a.jpg;b.jpg: no such file")
    assert problems[1].endswith("example.org/a.jpg: no such file")
    assert problems[2] == ""


def test_nothing_is_written_where_nothing_was_answered(tmp_path):
    (tmp_path / "q.csv").write_text("question,image\nwhere?,b.jpg\n", "utf-8")
    with pytest.raises(BadInput, match=r"no question could be answered, the first: .*b.jpg"):
        answer(answered, tmp_path)
    assert not (tmp_path / "a.csv").exists()


def test_an_endpoint_that_goes_down_costs_no_answer_that_it_gave(tmp_path, monkeypatch):
    monkeypatch.setitem(endpoints.PACE, "backoff_s", 0.01)
    told = settings(tmp_path, write_folder(tmp_path / "museum", 3))
    make(tmp_path, told)
    (tmp_path / "q.csv").write_text(
        "question\n" + "".join(f"How old is tower 0{each}?\n" for each in range(3)), "utf-8"
    )

    def answers(server):
        named = Namespace(reader=server.address, reader_model="tiny", key_variable=None)
        with open_asker(tmp_path / "base", no_foreign, reader_of(named, tmp_path / "answers")) as asker:
            told = answer(asker.ask, tmp_path)
        header, *rows = [row for _, row in read_csv(tmp_path / "a.csv")]
        return told, [dict(zip(header, row, strict=True)) for row in rows]

    with Loopback(lambda number, payload: Response(None) if number else said("1800")) as server:
        told, rows = answers(server)
        assert told == 2
        assert [each["answer"] for each in rows] == ["1800", "", ""]
        assert all("the endpoint fails: gave up after 4 requests" in each["problem"] for each in rows[1:])
        before = len(server.requests)
        assert before == 1 + 4, "the third question does not wait for an endpoint that is down"
        server.behave = lambda number, payload: said("1801")
        told, rows = answers(server)
        assert told == 0
        assert [each["answer"] for each in rows] == ["1800", "1801", "1801"]
        assert len(server.requests) == before + 2, "what was answered is not asked again"


def test_answers_that_are_empty_are_counted(tmp_path):
    def answers(question, image, entries, file):
        return Answer("", None, [], None, [f"tiny read: {EMPTY}."], 0.1)

    (tmp_path / "q.csv").write_text("question\nwhere?\nwhen?\n", "utf-8")
    counts = answer_all(answers, read_questions(tmp_path / "q.csv"), tmp_path / "q.csv", tmp_path / "a.csv")
    assert counts == {"questions": 2, "answered": 0, "problems": 0, "empty_answers": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,image\na,b\n", "missing columns: question; got ..text"),
        ("question\na,b\n", "q.csv:2: another number of cells than the first row has"),
        ("question\n", "no question"),
    ],
)
def test_tables_that_are_refused(tmp_path, content, message):
    (tmp_path / "q.csv").write_text(content, "utf-8")
    with pytest.raises(BadInput, match=message):
        read_questions(tmp_path / "q.csv")
