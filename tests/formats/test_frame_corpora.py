"""Annotated texts and questions about them: round trip, and every bad record refused with file, line and field."""

import copy
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from trivium.core.errors import BadInput
from trivium.formats.frame_corpora import load_examples, read_examples, read_texts, write_examples, write_texts
from trivium.formats.framed_texts import Span
from trivium.formats.squad import read_squad

TEXT = "Les armées d'Orvel perdirent la bataille. Elles signèrent la reddition à Évrac."


def at(part: str, **more: Any) -> dict[str, Any]:
    start = TEXT.index(part)
    return {**more, "start": start, "end": start + len(part)}


def text_record() -> dict[str, Any]:
    losing = {
        "frame": "Losing",
        "lexical_unit": at("perdirent", lemma="perdre", part_of_speech="verb"),
        "elements": [
            at("Les armées d'Orvel", name="Owner", core="core"),
            at("la bataille", name="Possession", core="core"),
        ],
    }
    signing = {
        "frame": "Sign_agreement",
        "lexical_unit": at("signèrent", lemma="signer", part_of_speech="verb"),
        "elements": [
            at("la reddition", name="Agreement", core="core"),
            at("Elles", name="Signatory", core="core"),
            at("à Évrac", name="Place", core="peripheral"),
        ],
    }
    chains = [[at("Les armées d'Orvel"), at("Elles")]]
    return {"id": "t1", "title": "Orvel", "text": TEXT, "frames": [losing, signing], "chains": chains}


def question_records() -> list[dict[str, Any]]:
    return [
        {
            "id": "q1", "text_id": "t1", "question": "Que perdirent les armées d'Orvel ?",
            "answer": at("la bataille", text="la bataille"), "frame": 0, "answer_element": "Possession",
            "context_elements": ["Owner"], "chain": [],
        },
        {
            "id": "q2", "text_id": "t1", "question": "Qui capitula à Évrac ?",
            "answer": at("Les armées d'Orvel", text="Les armées d'Orvel"), "frame": 1, "answer_element": "Signatory",
            "context_elements": ["Place", "Agreement"], "chain": [at("Elles"), at("Les armées d'Orvel")],
        },
    ]  # fmt: skip


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def changed(record: dict[str, Any], where: str, value: Any) -> dict[str, Any]:
    """A copy with one field (dots and numbers) set, or removed when the value is `...`."""
    record = copy.deepcopy(record)
    *parents, last = [int(step) if step.isdecimal() else step for step in where.split(".")]
    inside: Any = record
    for step in parents:
        inside = inside[step]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return record


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return lines(tmp_path / "texts.jsonl", text_record())


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return lines(tmp_path / "questions.jsonl", *question_records())


def test_texts_are_read(texts: Path):
    (text,) = read_texts(texts)
    assert (text.id, text.title, text.text) == ("t1", "Orvel", TEXT)
    losing, signing = text.frames
    assert (losing.frame, losing.lexical_unit.name) == ("Losing", "perdre.verb")
    assert losing.lexical_unit.span.of(TEXT) == "perdirent"
    assert [(element.name, element.core, element.span.of(TEXT)) for element in signing.elements] == [
        ("Signatory", "core", "Elles"),  # in the order of the text, whatever the file's
        ("Agreement", "core", "la reddition"),
        ("Place", "peripheral", "à Évrac"),
    ]
    assert [mention.of(TEXT) for mention in text.chains[0]] == ["Les armées d'Orvel", "Elles"]


def test_questions_are_read(texts: Path, questions: Path):
    plain, chained = read_examples(questions, texts)
    assert plain.answer_text == "la bataille"
    assert plain.frame.frame == "Losing"
    assert plain.chain == ()
    assert plain.context_elements == ("Owner",)
    assert chained.answer_text == "Les armées d'Orvel"
    assert chained.frame == chained.text.frames[1]
    assert [mention.of(TEXT) for mention in chained.chain] == ["Elles", "Les armées d'Orvel"]


def test_round_trip(texts: Path, questions: Path, tmp_path: Path):
    examples = read_examples(questions, texts)
    write_texts(tmp_path / "again.jsonl", read_texts(texts))
    write_examples(tmp_path / "asked.jsonl", examples)
    assert read_examples(tmp_path / "asked.jsonl", tmp_path / "again.jsonl") == examples


def test_offsets_survive_forms_and_spaces(tmp_path: Path):
    """A decomposed text with a non-breaking space; the answer's copy is composed, with a plain space."""
    text = unicodedata.normalize("NFD", "L'été, Évrac perdit 10\u00a0000 hommes.")

    def place(part: str, **more: Any) -> dict[str, Any]:
        stored = unicodedata.normalize("NFD", part)
        return {**more, "start": text.index(stored), "end": text.index(stored) + len(stored)}

    elements = [place("Évrac", name="Owner", core="core"), place("10\u00a0000 hommes", name="Possession", core="core")]
    unit = place("perdit", lemma="perdre", part_of_speech="verb")
    frame = {"frame": "Losing", "lexical_unit": unit, "elements": elements}
    stored = {"id": "t", "title": "", "text": text, "frames": [frame], "chains": []}
    asked = {
        "id": "q", "text_id": "t", "question": "Combien ?", "frame": 0, "answer_element": "Possession",
        "answer": place("10\u00a0000 hommes", text="10 000 hommes"), "context_elements": [], "chain": [],
    }  # fmt: skip
    who = asked | {"id": "who", "answer_element": "Owner", "answer": place("Évrac", text="Évrac")}
    texts = read_texts(lines(tmp_path / "t.jsonl", stored))
    read = load_examples(lines(tmp_path / "q.jsonl", asked, who), texts)
    assert texts[0].text == text
    assert read.unified == 2
    assert [example.answer_text for example in read.examples] == ["10\u00a0000 hommes", "E\u0301vrac"]


def test_answer_beside_its_element_is_counted(texts: Path, tmp_path: Path):
    record = question_records()[0] | {"answer": at("bataille", text="bataille")}
    read = load_examples(lines(tmp_path / "q.jsonl", record), read_texts(texts))
    assert (read.beside_element, read.examples[0].answer_text) == (1, "bataille")


BAD_TEXTS = [
    ("frames.0.lexical_unit", ..., r"frames\[0\]': frame without trigger"),
    ("frames.0.frame", "", r"frames\[0\]\.frame': empty"),
    ("frames.0.lexical_unit.part_of_speech", "verbe", "unknown; got 'verbe'.*choices: verb, noun"),
    ("frames.1.elements.2.end", 400, r"elements\[2\]': span is not in the text; got \(71, 400\)"),
    ("frames.1.elements.2.start", 78, "empty span"),
    ("frames.1.elements.2.start", "71", r"elements\[2\]\.start': not a whole number; got '71'"),
    ("frames.1.elements.2.name", ..., r"elements\[2\]\.name': missing"),
    ("frames.1.elements", {}, r"frames\[1\]\.elements': not a list"),
    ("frames.0.lexical_unit.more", [{"start": 0, "end": 2}], r"lexical_unit.more\[0\]': not after the previous part"),
    ("frames.0.elements.0.layer", 0, r"elements\[0\].layer': no layer"),
    ("chains.0.1", ..., r"chains\[0\]': chain of fewer than two mentions.*two mentions or more"),
    ("chains.0.1", at("Les armées d'Orvel"), "mention twice in one chain"),
    ("id", 4, "field 'id': not a text; got 4"),
]


@pytest.mark.parametrize(("where", "value", "message"), BAD_TEXTS)
def test_bad_text_is_refused_with_line_and_field(tmp_path: Path, where: str, value: Any, message: str):
    path = lines(tmp_path / "texts.jsonl", text_record(), changed(text_record() | {"id": "t2"}, where, value))
    with pytest.raises(BadInput, match=rf"texts\.jsonl:2: .*({message})"):
        read_texts(path)


def test_overlapping_elements_layers_and_triggers_in_parts_are_kept(tmp_path: Path):
    record = changed(text_record(), "frames.0.elements.0.end", 30)
    record["frames"][0]["lexical_unit"]["more"] = [{"start": 40, "end": 41}]
    record["frames"][0]["elements"][1]["layer"] = 2
    (text,) = texts = read_texts(lines(tmp_path / "texts.jsonl", record))
    assert text.frames[0].lexical_unit.more == (Span(40, 41),)
    assert [element.layer for element in text.frames[0].elements] == [1, 2]
    write_texts(tmp_path / "again.jsonl", texts)
    assert read_texts(tmp_path / "again.jsonl") == texts
    written = json.loads((tmp_path / "again.jsonl").read_text())["frames"]
    assert written[0] == record["frames"][0]
    assert not any("more" in frame["lexical_unit"] for frame in written[1:])
    assert not any("layer" in element for frame in written[1:] for element in frame["elements"])


BAD_QUESTIONS = [
    ("text_id", "t9", "field 'text_id': no such text; got 't9'.*'t1'"),
    ("frame", 2, "field 'frame': no such frame; got 2; expected 0 to 1"),
    ("answer_element", "Victim", "field 'answer_element': unknown; got 'Victim'.*choices: Signatory, Agreement, Place"),
    ("context_elements", ["Owner"], r"context_elements\[0\]': unknown; got 'Owner'.*choices: Signatory"),
    (
        "context_elements",
        ["Place", "Signatory"],
        "an element stands twice, or is the answer element.*others than 'Signatory'",
    ),
    ("answer.text", "les armées", r"answer\.text': not the text of its span; got 'les armées'; expected"),
    ("chain", [], "the answer is not in its element, and no chain leads to it.*42:47"),
    ("chain.0", at("la bataille"), "chain does not begin in the answer element"),
    ("chain.1", at("la bataille"), "chain does not end in the answer"),
    ("chain.1", at("armées"), "not two or more mentions of one chain of the text"),
    ("id", "q1", "question twice, the first in row 1"),
]


@pytest.mark.parametrize(("where", "value", "message"), BAD_QUESTIONS)
def test_bad_question_is_refused_with_line_and_field(tmp_path: Path, texts: Path, where: str, value: Any, message: str):
    plain, chained = question_records()
    path = lines(tmp_path / "questions.jsonl", plain, changed(chained, where, value))
    with pytest.raises(BadInput, match=rf"questions\.jsonl:2: .*{message}"):
        read_examples(path, texts)


def test_examples_of_the_documentation_are_right(tmp_path: Path):
    guide = (Path(__file__).parents[2] / "docs" / "complexity-formats.md").read_text(encoding="utf-8")
    squad, text, question = map(json.loads, re.findall(r"```json\n(.*?)```", guide, re.DOTALL))
    (tmp_path / "set.json").write_text(json.dumps(squad))
    assert len(read_squad(tmp_path / "set.json").questions) == 1
    (example,) = read_examples(lines(tmp_path / "q.jsonl", question), lines(tmp_path / "t.jsonl", text))
    assert [frame.lexical_unit.span.of(example.text.text) for frame in example.text.frames] == ["perdirent", "fuirent"]
    assert example.chain[0].of(example.text.text) == "Elles"
