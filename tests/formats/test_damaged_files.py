"""No file, whatever is in it, makes a reader fail in any way but `BadInput`, and no reader gives records that are invalid."""

import dataclasses
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.decorrelation.tiny_corpus import entities_members, instances_tree, karpathy_tree
from tests.formats import (
    test_conllu,
    test_frame_corpora,
    test_framenet_xml,
    test_triviaqa,
    test_visual_questions,
)
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_json, read_json_lines, read_table
from trivium.formats.answer_files import read_answers, read_predictions
from trivium.formats.coco_instances import read_instances
from trivium.formats.conllu import read_conllu
from trivium.formats.frame_corpora import load_examples, read_texts
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.formats.kilt_articles import read_articles
from trivium.formats.label_studio import read_export
from trivium.formats.picture_corpora import ENTITY_TYPES, EntitiesArchive, read_corpus, read_karpathy
from trivium.formats.question_sets import read_question_set
from trivium.formats.questions import read_questions
from trivium.formats.squad import read_squad
from trivium.formats.trec import read_qrels, read_run
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.visual_questions import read_encyclopedic_vqa, read_infoseek
from trivium.formats.wikidata import WikidataFile
from trivium.measures.runs import Qrels, Run

DAMAGED = Path(__file__).parent / "damaged"  # cases that once failed, by reader
CASES = 60


class Reader(NamedTuple):
    """A reader, the name of its file and a valid one; a tree or list is JSON, and may be changed as such."""

    file: str
    valid: Any
    read: Callable[[Path], Any]


def dump(valid: Any, file: str) -> bytes:
    """What a valid file holds: text and bytes as they are, other values as JSON."""
    if isinstance(valid, str | bytes):
        return valid.encode() if isinstance(valid, str) else valid
    return dump_json(valid, file)


def dump_json(tree: Any, file: str) -> bytes:
    """A value as JSON; one of a list's items a line where the file's name says so."""
    rows = tree if file.endswith(".jsonl") and isinstance(tree, list) else [tree]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _zip(members: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _parquet(columns: dict[str, list[Any]]) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, write_page_checksum=True, row_group_size=2)
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(12, dtype=np.float16).reshape(4, 3))
    return stream.getvalue()


def _wikidata(path: Path) -> Any:
    entities = [entity for name in ("Q1", "Q12") if (entity := WikidataFile(path).get(name))]
    return [(entity, entity.image(), entity.human, entity.deceased) for entity in entities]


def _entities(path: Path) -> Any:
    with EntitiesArchive(path, ENTITY_TYPES) as archive:
        return archive.read("1"), archive.counts


def _pictures(path: Path) -> Any:
    path.with_name("karpathy.json").write_bytes(dump(karpathy_tree("flickr30k"), "karpathy.json"))
    path.with_name("entities.zip").write_bytes(_zip(entities_members()))
    return read_corpus(path.parent)


def _examples(path: Path) -> Any:
    texts = path.with_name("texts.jsonl")
    texts.write_bytes(dump([test_frame_corpora.text_record()], texts.name))
    return load_examples(path, read_texts(texts))


def _claim(value: Any) -> dict[str, Any]:
    return {"rank": "normal", "mainsnak": {"snaktype": "value", "property": "P1", "datavalue": {"value": value}}}


QUESTION = {
    "id": "q1", "input": "Which river?", "image": "bridge.jpg", "wikidata_id": "Q12", "kilt_id": "77", "url": "",
    "original_question": "Which?", "output": {"original_answer": "Vell", "answer": ["Vell"]}, "meta": {},
}  # fmt: skip
ARTICLE = {
    "wikipedia_id": "10", "wikipedia_title": "Ada", "text": ["Ada\n", "She was.\n"], "anchors": [],
    "wikidata_info": {"wikidata_id": "Q1", "aliases": ["A", "B"]},
}  # fmt: skip
ENTITY = {
    "id": "Q1", "type": "item", "labels": {"en": {"language": "en", "value": "One"}}, "aliases": {},
    "claims": {"P18": [_claim("one.jpg")], "P31": [_claim({"id": "Q5"})], "P570": [_claim({"time": "+1910-01-01T00:00:00Z"})]},
}  # fmt: skip
EXPORT = [{"id": 12, "data": {"id": "q1"}, "predictions": [], "annotations": [
    {"id": 7, "completed_by": {"id": 3}, "was_cancelled": False,
     "result": [{"from_name": "verdict", "value": {"choices": ["correct"]}}]},
]}]  # fmt: skip
CONTEXT = "Le roi Évrard assiégea la ville d'Orvel en 412 avec 10\u00a0000 hommes."
SQUAD = {"version": "1.1", "data": [{"title": "Orvel", "paragraphs": [{"context": CONTEXT, "qas": [
    {"id": "a", "question": "Qui ?", "answers": [{"text": "Évrard", "answer_start": 7}], "is_impossible": False},
    {"id": 7, "question": "Quand ?", "answers": [{"text": "412", "answer_start": 43}]},
]}]}]}  # fmt: skip
ROWS = [
    {"id": "a", "title": "O", "context": CONTEXT, "question": "Qui ?", "answers": {"text": ["Évrard"], "answer_start": [7]}},
    {"id": "b", "title": "O", "context": CONTEXT, "question": "Où ?", "answers": {"text": ["ville"], "answer_start": [-1]}},
]  # fmt: skip
SAMPLES = [
    {"doc_id": 0, "doc": {"id": "q1"}, "filter": "none", "filtered_resps": ["a"]},
    {"doc_id": 1, "doc": {"id": "q2"}, "filter": "none", "filtered_resps": [["é"], [-1.5, False]]},
]  # fmt: skip
FRAME = """<?xml version="1.0"?><frame cBy="x" name="Losing" ID="2" xmlns="http://framenet.icsi.berkeley.edu">
<definition>d</definition><FE coreType="Core" abbrev="own" name="Owner" ID="1"><definition/></FE></frame>"""

READERS = {
    "trec_run": Reader("r.trec", "q1 Q0 12 1 3.5 t\nq1 Q0 7 2 -1e-3 t\nq2 Q0 0 1 0 t\n", read_run),
    "trec_qrels": Reader("q.qrels", "q1 0 12 1\nq1 0 7 0\nq2 0 -1 0\n", read_qrels),
    "kilt_questions": Reader("q.jsonl", [QUESTION, QUESTION | {"id": "q2"}], read_questions),
    "kilt_articles": Reader("a.jsonl", [ARTICLE, ARTICLE | {"wikipedia_id": "11"}], lambda path: list(read_articles(path))),
    "wikidata": Reader("w.jsonl", [ENTITY, ENTITY | {"id": "Q12", "claims": []}], _wikidata),
    "triviaqa": Reader(
        "t.json", {"Version": 1.0, "Data": [test_triviaqa.RECORD], "Domain": "Web"}, lambda path: list(read_triviaqa(path))
    ),
    "coco_instances": Reader("i.json", instances_tree(), read_instances),
    "karpathy": Reader("k.json", karpathy_tree("flickr30k"), read_karpathy),
    "flickr_entities": Reader("e.zip", _zip(entities_members()), _entities),
    "picture_corpora": Reader("entity_types.json", ["people", "animals"], _pictures),
    "infoseek": Reader("v.jsonl", [test_visual_questions.SEEK, test_visual_questions.TALL], read_infoseek),
    "encyclopedic_vqa": Reader(
        "v.csv", test_visual_questions.ENCYCLOPEDIC + 'What?,oak|the oak,landmarks,a1|b2,templated,x\n', read_encyclopedic_vqa
    ),
    "squad": Reader("s.json", SQUAD, read_squad),
    "conllu": Reader("s.conllu", test_conllu.SYNTAX, lambda path: read_conllu(path, {"t": test_conllu.TEXT})),
    "framenet_full_text": Reader("f.xml", test_framenet_xml.GOOD, read_framenet),
    "framenet_lexical_unit": Reader("lu1.xml", test_framenet_xml.UNIT, read_framenet),
    "framenet_frame": Reader("Losing.xml", FRAME, lambda path: list(read_core_types(path.parent).items())),
    "frame_texts": Reader("t.jsonl", [test_frame_corpora.text_record()], read_texts),
    "frame_questions": Reader("q.jsonl", test_frame_corpora.question_records(), _examples),
    "label_studio": Reader("e.json", EXPORT, lambda path: read_export(path, {"verdict": "choices"}, others=True)),
    "predictions": Reader("p.jsonl", [{"id": "q1", "prediction": "a"}], lambda path: read_predictions(path, ["q1", "q2"])),
    "question_tree": Reader("s.json", SQUAD, read_question_set),
    "question_lines": Reader("s.jsonl", ROWS, read_question_set),
    "question_parquet": Reader("s.parquet", _parquet({key: [row[key] for row in ROWS] for key in ROWS[0]}), read_question_set),
    "answers_by_id": Reader("m.json", {"q1": "a", "q2": "é"}, lambda path: read_answers(path, ["q1", "q2"])),
    "answers_of_squad": Reader("m.json", [{"id": "q1", "prediction_text": "a"}], lambda path: read_answers(path, ["q1"])),
    "answers_of_harness": Reader("m.jsonl", SAMPLES, lambda path: read_answers(path, ["q1", "q2"])),
    "json": Reader("v.json", {"a": [1, 2.5, "x", None], "b": {"c": True}}, read_json),
    "json_lines": Reader("v.jsonl", [{"a": 1}, {"b": ["x"]}], lambda path: list(read_json_lines(path))),
    "image_shards": Reader(
        "shard-00000.parquet", _parquet({"name": ["a.jpg", "b.jpg"], "data": [b"one", b""]}), lambda path: dict(Images(path.parent).stream())
    ),
    "parquet": Reader(
        "t.parquet", _parquet({"a": [1, 2, 3], "b": [["x"], [], ["y"]]}), lambda path: read_table(path, ["a", "b"]).to_pydict()
    ),
    "matrix": Reader("m.npy", _npy(), lambda path: np.array(read_matrix(path))),
}  # fmt: skip

NASTY: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**63, 10**400, 0.5, 1e308, math.nan, math.inf, "", " ", "\n", "\x00", "\ufeff", "\ud800", "é", "e\u0301"),
    *("x" * 5000, "1", "-1", "Q1", "../x", [], {}, [[]], [None], {"": None}, {"\udc80": 1}, [{}]),
)  # fmt: skip
WORDS = (
    *(b"", b" ", b"\t", b"\n", b"\r", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"-1", b"1.5", b"9" * 5000),
    *(b"nan", b"1e999", b"\\ud800", b'"', b"[" * 5000, b"<a>" * 5000, b"<", b"&x;", b'<!DOCTYPE a [<!ENTITY x "y">]>', b"3:1", b"[/EN#1/ ]"),
)  # fmt: skip


@st.composite
def changed_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file with up to three stretches removed or replaced."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(valid)))
        end = draw(st.sampled_from((start, start + 1, start + 10, len(valid))))
        valid = valid[:start] + draw(st.sampled_from(WORDS) | st.binary(max_size=4)) + valid[end:]
    return valid


@st.composite
def changed_trees(draw: st.DrawFn, valid: Any) -> Any:
    """A valid JSON value with one of its parts replaced or removed."""
    if not isinstance(valid, dict | list) or not valid or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(NASTY))
    key = draw(st.sampled_from(sorted(valid) if isinstance(valid, dict) else range(len(valid))))
    changed = valid.copy()
    if draw(st.integers(0, 3)) == 0:
        del changed[key]
    else:
        changed[key] = draw(changed_trees(valid[key]))
    return changed


def check(value: Any) -> None:
    """Fail unless every text fits UTF-8, every whole number 64 bits, and every other number is finite."""
    match value:
        case None | bool() | bytes() | Path():
            pass
        case str():
            value.encode("utf-8")
        case int():
            assert -(2**63) <= value < 2**63
        case float():
            assert math.isfinite(value)
        case Mapping():
            check([*value, *value.values()])
        case list() | tuple() | set() | frozenset():
            for part in value:
                check(part)
        case Run():
            assert np.isfinite(value.scores[value.documents >= 0]).all()
        case Qrels():
            check(list(value.queries))
        case np.ndarray():
            assert value.dtype.kind in "biuf"
        case _:
            assert dataclasses.is_dataclass(value), type(value)
            check([getattr(value, field.name) for field in dataclasses.fields(value)])


def try_case(reader: Reader, data: bytes, folder: Path) -> None:
    """Fail unless the file is refused with its name, or read as valid records."""
    path = folder / reader.file
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    try:
        with redirect_stdout(io.StringIO()):
            check(reader.read(path))
    except BadInput as error:
        named = str(folder) in str(error)
    else:
        return
    assert named, "the message names no file"


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_refused_by_name_or_gives_valid_records(name, tmp_path):
    reader = READERS[name]
    valid = reader.valid
    cases = changed_bytes(dump(valid, reader.file)) | st.binary(max_size=200)
    if not isinstance(valid, str | bytes):
        cases |= changed_trees(valid).map(lambda tree: dump_json(tree, reader.file))

    @hypothesis.seed(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]))
    @settings(
        max_examples=CASES, database=None, deadline=None, phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(cases)
    def run(data: bytes) -> None:
        try_case(reader, data, tmp_path)

    try_case(reader, dump(valid, reader.file), tmp_path)
    run()


@pytest.mark.parametrize("file", sorted(DAMAGED.iterdir()), ids=lambda path: path.name)
def test_what_failed_once_stays_mended(file, tmp_path):
    try_case(READERS[file.name.rpartition("-")[0]], file.read_bytes(), tmp_path)
