"""Every reader of files with a valid file of its own, and what makes a record that it gives valid."""

import dataclasses
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.decorrelation.tiny_corpus import entities_members, instances_tree, karpathy_tree, write_coco
from tests.formats import (
    test_conllu,
    test_frame_corpora,
    test_framenet_conll,
    test_framenet_xml,
    test_triviaqa,
    test_visual_questions,
)
from tests.fuzz.mutation import Cases, dump_lines, json_cases, text_cases, zip_bytes, zip_cases
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_json, read_json_lines, read_table
from trivium.formats.answer_files import read_answers
from trivium.formats.coco_instances import read_instances
from trivium.formats.conllu import load_conllu
from trivium.formats.corpus_table import CORPUS, load_captions, load_corpus, write_corpus
from trivium.formats.encyclopedic_vqa import read_encyclopedic_vqa
from trivium.formats.flickr_entities import EntitiesArchive
from trivium.formats.frame_corpora import load_examples, read_texts, write_examples, write_texts
from trivium.formats.framenet_conll import read_framenet_conll
from trivium.formats.framenet_xml import read_core_types, read_framenet
from trivium.formats.infoseek import read_infoseek
from trivium.formats.karpathy import read_karpathy
from trivium.formats.kilt_articles import read_articles
from trivium.formats.label_studio import read_export
from trivium.formats.ok_vqa import read_ok_vqa
from trivium.formats.picture_corpora import ENTITY_TYPES, read_corpus
from trivium.formats.predictions import read_predictions
from trivium.formats.question_sets import read_question_set
from trivium.formats.questions import read_questions
from trivium.formats.segmentations import rasterise_segmentation
from trivium.formats.squad import read_squad, write_squad
from trivium.formats.trec import read_qrels, read_run, write_run
from trivium.formats.triviaqa import read_triviaqa
from trivium.formats.visual_questions import VisualQuestion
from trivium.formats.wikidata import WikidataFile
from trivium.measures.runs import Qrels, Run


@dataclass(frozen=True)
class Reader:
    """A reader: the name of the file that it reads, cases of that file, and reading it to the end.

    `read` gets the path, and gives all that was read; what stands beside the file it writes itself.
    """

    file: str
    cases: Cases
    read: Callable[[Path], Any]


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
            check(list(value))
            check(list(value.values()))
        case list() | tuple() | set() | frozenset():
            for part in value:
                check(part)
        case Run():
            check([value.name, list(value.queries)])
            assert np.isfinite(value.scores[value.documents >= 0]).all()
        case Qrels():
            check(list(value.queries))
        case np.ndarray():
            assert value.dtype.kind in "biuf"
        case _:
            assert dataclasses.is_dataclass(value), type(value)
            check([getattr(value, field.name) for field in dataclasses.fields(value)])


def _again(read: Callable[[Path], Any], path: Path) -> Any:
    """What our own writer wrote of a record that a reader gave: the reader must take it."""
    try:
        return read(path)
    except BadInput as error:
        raise AssertionError("the record cannot be read once it is written") from error


def _run(path: Path) -> Any:
    run = read_run(path)
    write_run(path.with_name("again.trec"), run)
    assert _again(read_run, path.with_name("again.trec")).queries == run.queries
    return run


def _wikidata(path: Path) -> Any:
    file = WikidataFile(path)
    found = [file.get(name) for name in ("Q1", "Q5", "Q12", "")]
    return found, [(entity.image(), entity.human, entity.deceased) for entity in found if entity], file.label("Q1")


def _instances(path: Path) -> Any:
    read = read_instances(path)
    for picture, objects in read.objects.items():
        width, height = read.sizes[picture]
        for thing in objects:
            if thing.segmentation is not None and width * height <= 10**5:
                assert rasterise_segmentation(thing.segmentation, height, width).shape == (height, width)
    return read


def _entities(path: Path) -> Any:
    with EntitiesArchive(path, ENTITY_TYPES) as archive:
        return archive.read("1"), archive.counts


def _corpus(path: Path) -> Any:
    (path.parent / "karpathy.json").write_bytes(_bytes_of(_SPLITS))
    (path.parent / "entities.zip").write_bytes(_ARCHIVE)
    return read_corpus(path.parent)


def _corpus_table(path: Path) -> Any:
    read = load_corpus(path.parent)
    again = path.with_name("again")
    again.mkdir(exist_ok=True)
    write_corpus(again, read)
    assert _again(load_corpus, again) == read
    return read, load_captions(path.parent)


def _distinct(questions: list[VisualQuestion]) -> list[VisualQuestion]:
    assert len({question.id for question in questions}) == len(questions)
    assert all(question.range is None or question.range[0] <= question.range[1] for question in questions)
    return questions


def _infoseek_types(path: Path) -> Any:
    asked = path.with_name("asked.jsonl")
    asked.write_bytes(dump_lines(_SEEK, False))
    return _distinct(read_infoseek(asked))


def _ok_vqa(path: Path) -> Any:
    told = {_OK_QUESTIONS: test_visual_questions.OK_QUESTIONS, _OK_ANNOTATIONS: test_visual_questions.OK_ANNOTATIONS}
    for name in told.keys() - {path.name}:
        path.with_name(name).write_bytes(_bytes_of(told[name]))
    return _distinct(read_ok_vqa(path.with_name(_OK_QUESTIONS)))


def _squad(path: Path) -> Any:
    read = read_squad(path)
    for question in read.questions:
        for text, start in question.answers:
            assert question.context[start : start + len(text)] == text
    write_squad(path.with_name("again.json"), read.questions)
    assert _again(read_squad, path.with_name("again.json")).questions == read.questions
    return read


def _question_set(path: Path) -> Any:
    read = read_question_set(path)
    for question in read.questions:
        assert any(answer.strip() for answer in question.answers)
        if question.place is not None:
            assert question.place.of(question.context) == question.answers[0]
    assert len(set(read.ids)) == len(read.ids)
    return read


def _answers(path: Path) -> Any:
    read = read_answers(path, ["q1", "q2", "q3"])
    assert read.answers.keys() <= {"q1", "q2", "q3"}
    return read


def _syntax(path: Path) -> Any:
    read = load_conllu(path, {"t": test_conllu.TEXT, "u": "Fin."})
    for sentences in read.sentences.values():
        for sentence in sentences:
            assert all(0 <= token.span.start < token.span.end <= len(test_conllu.TEXT) for token in sentence.tokens)
    return read


def _annotated(path: Path) -> Any:
    texts, counts = (read_framenet_conll if path.suffix == ".conll" else read_framenet)(path)
    write_texts(path.with_name("texts.jsonl"), texts)
    assert _again(read_texts, path.with_name("texts.jsonl")) == texts
    return texts, counts


def _texts(path: Path) -> Any:
    texts = read_texts(path)
    write_texts(path.with_name("again.jsonl"), texts)
    assert _again(read_texts, path.with_name("again.jsonl")) == texts
    return texts


def _examples(path: Path) -> Any:
    path.with_name("texts.jsonl").write_bytes(dump_lines([test_frame_corpora.text_record()], False))
    read = load_examples(path, read_texts(path.with_name("texts.jsonl")))
    write_examples(path.with_name("again.jsonl"), read.examples)
    texts = list({example.text.id: example.text for example in read.examples}.values())
    assert _again(lambda again: load_examples(again, texts), path.with_name("again.jsonl")).examples == read.examples
    return read


def _shards(path: Path) -> Any:
    images = Images(path.parent)
    streamed = dict(images.stream())
    assert images.names == list(streamed)
    assert [images.read(name) for name in images.names] == list(streamed.values())
    return streamed


def _table(path: Path) -> Any:
    return {name: column.to_pylist() for name, column in zip("ab", read_table(path, ["a", "b"]).columns, strict=True)}


def _matrix(path: Path) -> Any:
    matrix = read_matrix(path)
    assert len(matrix.tobytes()) == matrix.nbytes  # every page is there
    return matrix


def _bytes_of(value: Any) -> bytes:
    return dump_lines([value], False)


def _parquet(columns: dict[str, list[Any]], **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, write_page_checksum=True, **options)
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.arange(12, dtype=np.float16).reshape(4, 3))
    return stream.getvalue()


def _written_corpus() -> bytes:
    with TemporaryDirectory() as folder:
        return (write_coco(Path(folder)) / CORPUS).read_bytes()


def _claim(value: Any, rank: str = "normal") -> dict[str, Any]:
    return {"rank": rank, "mainsnak": {"snaktype": "value", "property": "P1", "datavalue": {"value": value}}}


def _named(*names: str) -> list[dict[str, str]]:
    return [{"language": "en", "value": name} for name in names]


_RUN = "q1 Q0 12 1 3.5 t\nq1 Q0 7 2 -1e-3 t\nq2 Q0 0 1 0 t\n"
_QUESTION = {
    "id": "q1", "input": "Which river?", "image": "bridge.jpg", "wikidata_id": "Q12", "kilt_id": "77", "url": "",
    "original_question": "Which?", "output": {"original_answer": "Vell", "answer": ["Vell", "River Vell"]}, "meta": {},
}  # fmt: skip
_ARTICLE = {
    "wikipedia_id": "10", "wikipedia_title": "Ada", "text": ["Ada\n", "She was.\n"], "anchors": [],
    "wikidata_info": {"wikidata_id": "Q1", "aliases": ["A", "B"]},
}  # fmt: skip
_ENTITY = {
    "id": "Q1", "type": "item", "labels": {"en": _named("One")[0], "mul": _named("Un")[0]},
    "aliases": {"en": _named("A", "B")},
    "claims": {
        "P18": [_claim("one.jpg"), _claim("two.jpg", "preferred")], "P31": [_claim({"id": "Q5"})],
        "P106": [_claim({"numeric-id": 7})], "P570": [_claim({"time": "+1910-01-01T00:00:00Z"})],
    },
}  # fmt: skip
_SEEK = [test_visual_questions.SEEK, test_visual_questions.TALL]
_SEEK_TYPES = [
    {"data_id": each["data_id"], "question_type": kind} for each, kind in zip(_SEEK, ("Time", "Numerical"), strict=True)
]
_OK_QUESTIONS, _OK_ANNOTATIONS = "OpenEnded_mscoco_val2014_questions.json", "mscoco_val2014_annotations.json"
_PICTURED = (
    test_visual_questions.ENCYCLOPEDIC
    + 'What?,oak|the oak,landmarks,a1|b2,templated,x\nWho?,owl&&fox,,7,multi_answer,"y"\n'
)
_SPLITS = karpathy_tree("flickr30k")
_MEMBERS = {name: text.encode() for name, text in entities_members().items()}
_ARCHIVE = zip_bytes(_MEMBERS)
_EXPORT = [
    {
        "id": 12, "data": {"id": "q1"}, "predictions": [],
        "annotations": [
            {"id": 7, "completed_by": {"id": 3, "email": "a@b.c"}, "was_cancelled": False, "result": [
                {"from_name": "verdict", "value": {"choices": ["correct"]}}, {"from_name": "note", "value": {"text": "t"}},
            ]},
            {"id": 8, "completed_by": 1, "was_cancelled": True, "result": []},
        ],
    }
]  # fmt: skip
_CONTEXT = "Le roi \u00c9vrard assi\u00e9gea la ville d'Orvel en 412 avec 10\u00a0000 hommes."
_SQUAD = {
    "version": "1.1",
    "data": [{"title": "Orvel", "paragraphs": [{"context": _CONTEXT, "qas": [
        {"id": "a", "question": "Qui ?", "answers": [{"text": "\u00c9vrard", "answer_start": 7}], "is_impossible": False},
        {"id": 7, "question": "Quand ?", "answers": [{"text": "412", "answer_start": 43}]},
    ]}]}],
}  # fmt: skip
_FLAT = [
    {"id": "a", "title": "Orvel", "context": _CONTEXT, "question": "Qui ?",
     "answers": {"text": ["\u00c9vrard"], "answer_start": [7]}},
    {"id": "b", "title": "Orvel", "context": _CONTEXT, "question": "Quand ?", "answers": {"text": [], "answer_start": []}},
    {"id": "c", "title": "Orvel", "context": _CONTEXT, "question": "O\u00f9 ?",
     "answers": {"text": ["orvel", "ville"], "answer_start": [-1, 3]}},
]  # fmt: skip
_SAMPLES = [
    {"doc_id": 0, "doc": {"id": "q1"}, "filter": "none", "filtered_resps": ["a"]},
    {"doc_id": 0, "doc": {"id": "q1"}, "filter": "strict", "filtered_resps": ["b"]},
    {"doc_id": 1, "doc": {"id": "q2"}, "filter": "none", "filtered_resps": [["\u00e9"], [-1.5, False]]},
]
_KILT = [{"id": "q1", "output": [{"provenance": []}, {"answer": "a"}]}, {"id": "q2", "output": [{"answer": "\u00e9"}]}]
_FRAME = """<?xml version="1.0"?><frame cBy="x" name="Losing" ID="2" xmlns="http://framenet.icsi.berkeley.edu">
<definition>d</definition><FE coreType="Core" abbrev="own" name="Owner" ID="1"><definition/></FE>
<FE coreType="Extra-Thematic" name="Possession" ID="3"/><lexUnit name="perdre.v" ID="9"/></frame>"""
_SYNTAX = (
    test_conllu.SYNTAX
    + "# newdoc id = u\n1\tFin\tfin\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\tTokenRange=3:4\n\n"
)
_TRIVIA = {
    "Version": 1.0,
    "Data": [test_triviaqa.RECORD, test_triviaqa.RECORD | {"QuestionId": "tc_2"}],
    "Domain": "Web",
}
_IMAGES = _parquet({"name": ["a.jpg", "b.jpg", "c.jpg"], "data": [b"one", b"two" * 50, b""]}, row_group_size=2)
_CORPUS = _written_corpus()
_COLUMNS = _parquet({"a": list(range(40)), "b": [["x" * 9], []] * 20}, compression="zstd", row_group_size=20)

READERS = {
    "trec_run": Reader("r.trec", text_cases(_RUN), _run),
    "trec_qrels": Reader("q.qrels", text_cases("q1 0 12 1\nq1 0 7 0\nq2 0 -1 0\n"), read_qrels),
    "kilt_questions": Reader("q.jsonl", json_cases([_QUESTION, _QUESTION | {"id": "q2"}], dump_lines), read_questions),
    "kilt_articles": Reader(
        "a.jsonl", json_cases([_ARTICLE, _ARTICLE | {"wikipedia_id": "11"}], dump_lines), lambda path: list(read_articles(path))
    ),
    "wikidata": Reader("w.jsonl", json_cases([_ENTITY, _ENTITY | {"id": "Q12", "claims": []}], dump_lines), _wikidata),
    "triviaqa": Reader("t.json", json_cases(_TRIVIA), lambda path: list(read_triviaqa(path))),
    "coco_instances": Reader("i.json", json_cases(instances_tree()), _instances),
    "karpathy": Reader("k.json", json_cases(_SPLITS), read_karpathy),
    "flickr_entities": Reader("e.zip", zip_cases({name: _MEMBERS[name] for name in sorted(_MEMBERS) if "/1." in name}), _entities),
    "picture_corpora": Reader("entity_types.json", json_cases(["people", "animals"]), _corpus),
    "corpus_table": Reader(CORPUS, text_cases(_CORPUS), _corpus_table),
    "infoseek": Reader("v.jsonl", json_cases(_SEEK, dump_lines), lambda path: _distinct(read_infoseek(path))),
    "infoseek_types": Reader("asked_qtype.jsonl", json_cases(_SEEK_TYPES, dump_lines), _infoseek_types),
    "ok_vqa_questions": Reader(_OK_QUESTIONS, json_cases(test_visual_questions.OK_QUESTIONS), _ok_vqa),
    "ok_vqa_annotations": Reader(_OK_ANNOTATIONS, json_cases(test_visual_questions.OK_ANNOTATIONS), _ok_vqa),
    "encyclopedic_vqa": Reader("v.csv", text_cases(_PICTURED), lambda path: _distinct(read_encyclopedic_vqa(path))),
    "squad": Reader("s.json", json_cases(_SQUAD), _squad),
    "conllu": Reader("s.conllu", text_cases(_SYNTAX), _syntax),
    "framenet_full_text": Reader("f.xml", text_cases(test_framenet_xml.GOOD), _annotated),
    "framenet_lexical_unit": Reader("lu1.xml", text_cases(test_framenet_xml.UNIT), _annotated),
    "framenet_tables": Reader("s.conll", text_cases(test_framenet_conll.GOOD), _annotated),
    "framenet_frame": Reader("Losing.xml", text_cases(_FRAME), lambda path: list(read_core_types(path.parent).items())),
    "frame_texts": Reader("t.jsonl", json_cases([test_frame_corpora.text_record()], dump_lines), _texts),
    "frame_questions": Reader("q.jsonl", json_cases(test_frame_corpora.question_records(), dump_lines), _examples),
    "label_studio": Reader("e.json", json_cases(_EXPORT), lambda path: read_export(path, {"verdict": "choices"}, others=True)),
    "predictions": Reader(
        "p.jsonl",
        json_cases([{"id": "q1", "prediction": "a"}, {"id": "q2", "prediction": "\u00e9"}], dump_lines),
        lambda path: read_predictions(path, ["q1", "q2", "q3"]),
    ),
    "question_tree": Reader("s.json", json_cases(_SQUAD), _question_set),
    "question_lines": Reader("s.jsonl", json_cases(_FLAT, dump_lines), _question_set),
    "question_parquet": Reader("s.parquet", text_cases(_parquet({key: [row[key] for row in _FLAT] for key in _FLAT[0]})), _question_set),
    "answers_by_id": Reader("m.json", json_cases({"q1": "a", "q2": "\u00e9"}), _answers),
    "answers_of_squad": Reader("m.json", json_cases([{"id": "q1", "prediction_text": "a"}, {"id": "q2", "prediction_text": ""}]), _answers),
    "answers_of_harness": Reader("m.jsonl", json_cases(_SAMPLES, dump_lines), _answers),
    "answers_of_kilt": Reader("m.jsonl", json_cases(_KILT, dump_lines), _answers),
    "json": Reader("v.json", json_cases({"a": [1, 2.5, "x", None], "b": {"c": True}}), read_json),
    "json_lines": Reader("v.jsonl", json_cases([{"a": 1}, {"b": ["x"]}], dump_lines), lambda path: list(read_json_lines(path))),
    "image_shards": Reader("shard-00000.parquet", text_cases(_IMAGES), _shards),
    "parquet": Reader("t.parquet", text_cases(_COLUMNS), _table),
    "matrix": Reader("m.npy", text_cases(_npy()), _matrix),
}  # fmt: skip
