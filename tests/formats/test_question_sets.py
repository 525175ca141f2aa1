"""Question sets in every form: the same questions come out, what cannot be asked is counted, the rest is refused."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trivium.core.errors import BadInput
from trivium.formats.framed_texts import Span
from trivium.formats.question_sets import read_question_set

CONTEXT = "Le roi Évrard assiégea Orvel en 412. Le roi partit."
FLAT = [
    {"id": "a", "title": "Orvel", "context": CONTEXT, "question": "Qui ?",
     "answers": {"text": ["Évrard", "le roi Évrard"], "answer_start": [7, 0]}},
    {"id": "b", "title": "Orvel", "context": CONTEXT, "question": "Quand ?",
     "answers": {"text": ["412"], "answer_start": [32]}},
    {"id": "c", "title": "Orvel", "context": CONTEXT, "question": "Pourquoi ?",
     "answers": {"text": [], "answer_start": []}},
]  # fmt: skip


def tree(*, offsets=True, titles=True):
    def answers(record):
        pairs = zip(record["answers"]["text"], record["answers"]["answer_start"], strict=True)
        return [{"text": text, **({"answer_start": start} if offsets else {})} for text, start in pairs]

    qas = [
        {"id": each["id"], "question": each["question"], "answers": answers(each)}
        | ({} if each["answers"]["text"] else {"is_impossible": True, "plausible_answers": []})
        for each in FLAT
    ]
    return {
        "version": "v2.0",
        "data": [{"paragraphs": [{"context": CONTEXT, "qas": qas}]} | ({"title": "Orvel"} if titles else {})],
    }


def lines(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def write(path, text):
    path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return path


def test_every_form_has_the_same_questions(tmp_path):
    pq.write_table(pa.Table.from_pylist(FLAT), tmp_path / "set.parquet")
    forms = {
        "SQuAD’s tree": write(tmp_path / "tree.json", tree()),
        "flat JSON lines": write(tmp_path / "flat.jsonl", lines(FLAT)),
        "flat JSON": write(tmp_path / "flat.json", FLAT),
        "flat Parquet": tmp_path / "set.parquet",
    }
    read = {form: read_question_set(path) for form, path in forms.items()}
    assert {form: each.form for form, each in read.items()} == {form: form for form in forms}
    first = read["SQuAD’s tree"]
    assert [each.id for each in first.questions] == ["a", "b"]
    assert first.questions[0].answers == ("Évrard", "le roi Évrard")
    assert first.questions[0].place == Span(7, 13)
    assert [each.id for each in first.unanswerable] == ["c"]
    assert first.unanswerable[0].answers == ()
    for each in read.values():
        assert (each.questions, each.unanswerable) == (first.questions, first.unanswerable)
        assert each.ids == ["a", "b", "c"]
        assert each.counts == {"searched": 0, "moved": 0, "nowhere": 0}


def test_answers_without_places_are_searched(tmp_path):
    read = read_question_set(write(tmp_path / "s.json", tree(offsets=False)))
    assert [each.place for each in read.questions] == [Span(7, 13), Span(32, 35)]
    assert read.counts == {"searched": 2, "moved": 0, "nowhere": 0}
    records = [
        {"id": 1, "context": CONTEXT, "question": "Qui ?", "answers": ["évrard", "Roi"]},
        {"id": 2, "context": CONTEXT, "question": "Qui ?", "answer": "Le roi"},
        {"id": 3, "context": CONTEXT, "question": "Qui ?", "answers": {"text": ["une reine"], "answer_start": [-1]}},
        {"id": 4, "context": CONTEXT, "question": "Qui ?", "answers": [{"text": "Le roi", "answer_start": 40}]},
        {"id": 5, "context": CONTEXT, "question": "Où ?", "answers": {"text": ["Orvel"], "answer_start": [-1]}},
        *({"id": n, "context": CONTEXT, "question": "Où ?", "answers": {"text": ["Orvel"]}} for n in range(6, 11)),
    ]
    read = read_question_set(write(tmp_path / "t.jsonl", lines(records)))
    assert [each.id for each in read.questions] == [str(number) for number in range(1, 11)]
    places = [Span(7, 13), Span(0, 6), None, Span(37, 43), *[Span(23, 28)] * 6]
    assert [each.place for each in read.questions] == places
    assert read.questions[0].answers == ("Évrard", "Roi")  # as it stands in the context
    assert read.counts == {"searched": 8, "moved": 1, "nowhere": 1}
    assert {each.title for each in read.questions} == {""}


@pytest.mark.parametrize(
    ("context", "answer", "place"),
    [
        ("aah", "a", Span(0, 1)),
        ("orvel, puis Orvel", "Orvel", Span(12, 17)),  # another case counts only where none is the same
        ("À ORVEL", "Orvel", Span(2, 7)),
        ("İ ORVEL", "Orvel", Span(2, 7)),  # longer in lower case
    ],
)
def test_the_first_occurrence_counts(tmp_path, context, answer, place):
    record = {"id": "a", "context": context, "question": "Où ?", "answer": answer}
    (question,) = read_question_set(write(tmp_path / "s.json", [record])).questions
    assert question.place == place


def test_what_cannot_be_asked_is_left_out_by_reason(tmp_path):
    qas = [
        {"id": "good", "question": "Qui ?", "answers": [{"text": "Orvel", "answer_start": 23}]},
        {"id": "hidden", "question": "Qui ?", "answers": []},
        {"id": "unasked", "question": " ", "answers": [{"text": "Orvel", "answer_start": 23}]},
        {"id": "blank", "question": "Qui ?", "answers": [{"text": " ", "answer_start": 2}]},
    ]
    read = read_question_set(write(tmp_path / "s.json", {"data": [{"paragraphs": [{"context": CONTEXT, "qas": qas}]}]}))
    assert [each.id for each in read.questions] == ["good"]
    assert read.left_out == {"no_answer": ("hidden",), "empty_question": ("unasked",), "empty_answer": ("blank",)}
    assert (read.dropped, len(read.unanswerable)) == (3, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (FLAT[2:], "no question with an answer"),
        ([FLAT[0], FLAT[0]], r"\[1\]\.id': id twice, the first in \[0\]; got 'a'"),
        ([{"id": "a", "question": "Qui ?"}], r"field '\[0\]\.context': missing"),
        ([FLAT[0] | {"answers": {"text": ["a"], "answer_start": [1, 2]}}], "not as many places as texts"),
        ([FLAT[0] | {"is_impossible": "no"}], "not true or false"),
        ({"a": 1}, "field 'data': missing"),
        ("", "not JSON"),
    ],
)
def test_other_files_are_refused_with_their_place(tmp_path, content, message):
    with pytest.raises(BadInput, match=message):
        read_question_set(write(tmp_path / "s.json", content))


@pytest.mark.real
def test_piaf_whole(real):
    read = read_question_set(real("piaf") / "piaf-v1.0.json")
    assert (len(read.questions), len(read.unanswerable), read.dropped) == (3835, 0, 0)
    assert read.counts == {"searched": 0, "moved": 2, "nowhere": 0}


SENTENCE = "Le botaniste Célestin Ardouin décrivit l'orchidée à Mâcon."


def written(path, *records):
    path.write_text(lines(records), encoding="utf-8")
    return path


def test_fquad_as_the_hub_has_it(tmp_path):
    """The features in the card: https://huggingface.co/datasets/illuin/fquad (its tree is SQuAD's, test_squad.py)."""
    record = {"context": SENTENCE, "questions": ["Qui ?", "Où ?"],
              "answers": {"texts": ["Célestin Ardouin", "Mâcon"], "answers_starts": [13, 52]}}  # fmt: skip
    read = read_question_set(written(tmp_path / "s.jsonl", record, record))
    assert read.form == "FQuAD’s contexts, JSON lines"
    assert read.ids == ["1.1", "1.2", "2.1", "2.2"]
    assert [each.place.of(SENTENCE) for each in read.questions] == ["Célestin Ardouin", "Mâcon"] * 2
    assert not any(read.counts.values())
    shorter = {**record, "questions": ["Qui ?"]}
    with pytest.raises(BadInput, match="s.jsonl:2: field 'answers': not as many answers as questions"):
        read_question_set(written(tmp_path / "s.jsonl", record, shorter))


def test_fquad_2_writes_answers_start(tmp_path):
    """Flat records, as https://huggingface.co/datasets/manu/fquad2_test has them."""
    record = {"id": "a", "context": SENTENCE, "question": "Où ?", "answers": {"text": ["Mâcon"], "answers_start": [52]}}
    (question,) = read_question_set(written(tmp_path / "s.jsonl", record)).questions
    assert question.place.start == 52


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_mrqa(tmp_path, pack):
    record = {"id": "", "context": "A mill was built in 1731.", "qas": [
        {"qid": "q1", "question": "When?", "answers": ["in 1731"], "detected_answers": [{"text": "1731", "char_spans": [[20, 23]]}]},
        {"qid": "q2", "question": "What?", "answers": ["A mill"], "detected_answers": []},
    ]}  # fmt: skip
    path = written(tmp_path / "dev.jsonl", {"header": {"dataset": "Mills"}}, record)
    path.write_bytes(pack(path.read_bytes()))
    read = read_question_set(path)
    assert (read.form, read.ids) == ("MRQA’s lines", ["q1", "q2"])
    assert [(each.answers, each.place.start) for each in read.questions] == [(("1731",), 20), (("A mill",), 0)]
    assert read_question_set(written(tmp_path / "without-header.jsonl", record)).ids == ["q1", "q2"]
    record["qas"][1]["qid"] = "q1"
    for number, place in ((1, r"qas\[0\]"), (2, r"row 1, qas\[0\]")):
        with pytest.raises(BadInput, match=rf"qas\[1\]\.id': id twice, the first in {place}; got 'q1'"):
            read_question_set(written(tmp_path / "twice.jsonl", *[record] * number))


def test_mrqas_stretch_without_a_place_is_refused(tmp_path):
    detected = [{"text": "1731", "char_spans": [[]]}]
    record = {"context": "A mill was built in 1731.", "qas": [
        {"qid": "q1", "question": "When?", "answers": ["1731"], "detected_answers": detected}]}  # fmt: skip
    with pytest.raises(BadInput, match=r"s\.jsonl.*char_spans\[0\]': no place; got \[\]; expected \[first, last\]"):
        read_question_set(written(tmp_path / "s.jsonl", {"header": {}}, record))


def test_answers_that_cannot_be_right_are_refused(tmp_path):
    record = {
        "id": "a",
        "context": SENTENCE,
        "question": "Qui ?",
        "answers": "{'text': ['Mâcon'], 'answer_start': [52]}",
    }
    for told, kind in (
        (record["answers"], "dictionary"),
        ("{'text': array(['Mâcon'], dtype=object), 'answer_start': array([52])}", "dictionary"),
        (json.dumps({"text": ["Mâcon"]}), "dictionary"),
        ("['Mâcon']", "list"),
        (["{'text': 'Mâcon'}"], "dictionary"),
        ({"text": ["{'text': 'Mâcon'}"]}, "dictionary"),
    ):
        with pytest.raises(BadInput, match=f"s.jsonl.*field 'answers.*': the text of a {kind}"):
            read_question_set(written(tmp_path / "s.jsonl", record | {"answers": told}, record | {"id": "b"}))
    bracketed = record | {"answers": "{Mâcon} [1]", "context": "{Mâcon} [1]"}
    assert len(read_question_set(written(tmp_path / "s.jsonl", bracketed)).questions) == 1
    free = [{"id": str(number), "context": SENTENCE, "question": "Qui ?", "answer": "un homme" if number < 3 else "Mâcon"}
            for number in range(20)]  # fmt: skip
    with pytest.raises(BadInput, match="3 of 20 answers are not in their contexts; the first; got 'un homme'"):
        read_question_set(written(tmp_path / "s.jsonl", *free))
    assert read_question_set(written(tmp_path / "s.jsonl", *free[2:])).counts["nowhere"] == 1
    with pytest.raises(BadInput, match="1 of 9 answers are not in their contexts"):
        read_question_set(written(tmp_path / "s.jsonl", *free[2:11]))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ({"data": [{"story": "A mill.", "questions": [], "answers": []}]}, "CoQA"),
        ({"p1": {"passage": "A mill.", "qa_pairs": []}}, "DROP"),
        ([{"context_text": "磨坊", "qas": []}], "CMRC 2018"),
        ({"Data": [], "Version": "1"}, "TriviaQA"),
        ({"passage": "A mill.", "question": "?", "answer": True}, "BoolQ"),
        ({"data": [{"passage": "A mill.", "question": "?", "answers_spans": {"spans": ["a"]}}]}, "DROP"),
    ],
)
def test_a_form_that_is_not_read_is_named(tmp_path, content, name):
    with pytest.raises(BadInput, match=f"form of {name}"):
        read_question_set(write(tmp_path / "s.json", content))


def test_an_answer_that_quac_marks_as_none_is_none(tmp_path):
    context = "Ada wrote. CANNOTANSWER"
    asked = [{"id": name, "question": "?", "answers": [{"text": text, "answer_start": context.find(text)}]}
             for name, text in (("a", "Ada"), ("b", "CANNOTANSWER"))]  # fmt: skip
    found = read_question_set(
        write(tmp_path / "s.json", {"data": [{"paragraphs": [{"context": context, "qas": asked}]}]})
    )
    assert ([each.id for each in found.questions], [each.id for each in found.unanswerable]) == (["a"], ["b"])
