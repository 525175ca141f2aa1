import io
import json
from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.formats import triviaqa
from trivium.formats.triviaqa import TriviaQuestion, parse_triviaqa, read_triviaqa

RECORD = {
    "QuestionId": "tc_1",
    "Question": "Where was Ada Lark's “father” born?",
    "Answer": {"Value": "Tarn", "Aliases": ["Tarn", "Tarn, Dor", " "], "Type": "FreeForm"},
    "EntityPages": [{"DocSource": "TagMe", "Title": "Ada Lark", "Filename": "Ada_Lark.txt"}],
    "SearchResults": [],
}


def write(path, *records, **around):
    path.write_text(json.dumps({"Data": list(records), "Domain": "Web", **around}, ensure_ascii=False), "utf-8")
    return path


def test_a_question_is_read_with_its_aliases_and_links(tmp_path):
    (question,) = read_triviaqa(write(tmp_path / "t.json", RECORD))
    expected = TriviaQuestion("tc_1", RECORD["Question"], "Tarn", ("Tarn", "Tarn, Dor"), ("Ada Lark",))
    assert question == expected


@pytest.mark.parametrize("chunk", [32, 64, 10**6])
def test_the_size_of_the_window_changes_nothing(monkeypatch, chunk):
    monkeypatch.setattr(triviaqa, "_CHUNK", chunk)
    records = [RECORD | {"QuestionId": f"tc_{number}"} for number in range(20)]
    data = json.dumps({"Version": 1.0, "Data": records, "Domain": "Wéb"}, indent=2, ensure_ascii=False).encode()
    assert [each.id for each in parse_triviaqa(io.BytesIO(data), Path("t"))] == [each["QuestionId"] for each in records]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (RECORD | {"QuestionId": "a b"}, "field 'QuestionId': white space"),
        (
            {key: value for key, value in RECORD.items() if key != "Answer"},
            "no answer: TriviaQA's test questions have none",
        ),
        (RECORD | {"Answer": {"Value": "x", "Aliases": "y"}}, "field 'Answer.Aliases': not a list"),
        (RECORD | {"EntityPages": [{"DocSource": "TagMe"}]}, "field 'EntityPages\\[0\\].Title'"),
        ([], "not an object"),
    ],
)
def test_a_bad_record_is_named(tmp_path, record, message):
    with pytest.raises(BadInput, match=f"t.json:2: {message}"):
        list(read_triviaqa(write(tmp_path / "t.json", RECORD | {"QuestionId": "tc_0"}, record)))
