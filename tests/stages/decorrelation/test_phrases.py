"""Stage `phrases` on tiny raw folders of COCO and Flickr30k."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from stages.decorrelation.phrases import PhrasesParameters, main
from tests.decorrelation.tiny_corpus import SCENES, scene_captions, write_coco, write_flickr
from trivium.core.engine import LocalEngine
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import read_table
from trivium.core.tracking import Tracker
from trivium.decorrelation.captions.phrases import Row, Settings, read_shard
from trivium.formats.corpus_table import load_corpus, write_corpus
from trivium.formats.pictures import Caption, Phrase

PARAMETERS = PhrasesParameters(matching="strict", chunker="rules", spacy_model="en_core_web_sm", chunk=16)


@spacy.Language.component("parser_of_articles")
def parse_articles(document: Doc) -> Doc:
    """A stand-in for a parser: an article and the word after it are the object of all."""
    for token in document:
        token.dep_, token.pos_, token.head = "ROOT", "X", token
    for token in document[:-1]:
        if token.lower_ in ("a", "an", "the"):
            noun = document[token.i + 1]
            token.dep_, token.pos_, token.head = "det", "DET", noun
            noun.dep_, noun.pos_ = "ROOT", "NOUN"
    return document


def run(raw: Path, out: Path, **changes: object) -> dict[str, float]:
    context = Context(tracker=Tracker(), work=out, engine=LocalEngine(1))
    parameters = PARAMETERS.model_copy(update=changes)
    return main(
        parameters, context, dataset="coco", raw=raw, out=out / "phrases.parquet", out_classes=out / "classes.csv"
    )


def test_every_caption_of_coco_has_its_phrases_and_classes(tmp_path):
    metrics = run(write_coco(tmp_path / "raw"), tmp_path)
    rows = read_table(tmp_path / "phrases.parquet").to_pylist()
    assert [row["caption"] for row in rows] == list(range(60))
    assert metrics["captions"] == 60
    assert metrics["named_precision"] == metrics["named_recall"] == 1
    assert "chunker_f1" not in metrics
    for row in rows:
        assert set(row["classes"]) == {name for name, _ in SCENES[row["picture"]][1]}
        assert row["text"] == scene_captions(row["picture"])[row["caption"] % 5]
    first = rows[0]
    found = [(first["text"][each["start"] : each["end"]], each["classes"]) for each in first["phrases"]]
    assert found == [("A dog", ["dog"]), ("a frisbee", ["frisbee"])]


def test_the_table_of_classes_agrees_with_the_metrics(tmp_path):
    run(write_coco(tmp_path / "raw"), tmp_path)
    rows = {row["class"]: row for row in csv.DictReader((tmp_path / "classes.csv").open())}
    assert rows["dog"]["captions_naming"] == rows["dog"]["both"] == "30"
    assert rows["hot dog"]["precision"] == "1.0000"


def test_annotated_phrases_are_taken_and_the_chunker_is_measured_on_them(tmp_path):
    metrics = run(write_flickr(tmp_path / "raw"), tmp_path)
    rows = read_table(tmp_path / "phrases.parquet").to_pylist()
    assert metrics["captions_annotated"] == 60
    for row in rows:
        types = {"person": "people", "cat": "animals", "dog": "animals", "car": "vehicles", "bicycle": "vehicles"}
        assert row["classes"] == sorted({types[name] for name, _ in SCENES[row["picture"]][1] if name in types})
    assert metrics["chunker_recall"] == 1
    assert 0.5 < metrics["chunker_precision"] < 1  # "this picture" is no annotated phrase


def test_shards_and_workers_do_not_change_the_table(tmp_path):
    raw = write_coco(tmp_path / "raw")
    tables = []
    for chunk in (1, 7, 100):
        run(raw, tmp_path / str(chunk), chunk=chunk)
        tables.append(read_table(tmp_path / str(chunk) / "phrases.parquet").to_pylist())
    assert tables[0] == tables[1] == tables[2]


def test_odd_captions_are_counted():
    texts = ("", "...", "Ein Hund läuft über Gras", "A dog.", "running fast")
    rows = [Row(Caption(number, text), 1, "train", ("dog",)) for number, text in enumerate(texts)]
    batch, counts = read_shard(Settings(("dog",), "strict", "rules", "none"), rows)
    assert batch.num_rows == 5
    assert counts["captions_empty"] == 1
    assert counts["captions_not_ascii"] == 1
    assert counts["captions_not_english"] == 2  # the one without a letter, too
    assert counts["captions_without_class"] == 4
    assert (counts["named dog"], counts["agreed dog"], counts["present dog"]) == (1, 1, 5)


def test_a_caption_without_annotation_is_read_by_words():
    annotated = Row(Caption(0, "A man.", (Phrase(0, 5, ("people", "other")),)), 1, "train", ("people",))
    plain = Row(Caption(1, "A dog and a man."), 1, "train", ("people",))
    batch, _ = read_shard(Settings(("people", "animals"), "strict", "rules", "none"), [annotated, plain])
    assert batch["classes"].to_pylist() == [["people"], ["animals", "people"]]


def test_a_class_without_words_is_refused(tmp_path):
    raw = write_coco(tmp_path / "raw")
    corpus = load_corpus(raw)
    write_corpus(raw, replace(corpus, classes=("unicorn", *corpus.classes[1:])))
    with pytest.raises(BadInput, match="class without words"):
        run(raw, tmp_path)
    assert not (tmp_path / "phrases.parquet").exists()


def test_a_missing_pipeline_of_spacy_is_refused(tmp_path):
    with pytest.raises(BadInput, match="spaCy's pipeline cannot be loaded"):
        run(write_coco(tmp_path / "raw"), tmp_path, chunker="spacy", spacy_model="no_such_pipeline")


def test_auto_chunks_by_rules_where_no_pipeline_is_installed_and_says_so(tmp_path):
    raw = write_coco(tmp_path / "raw")
    by_rules, auto = run(raw, tmp_path / "rules"), run(raw, tmp_path / "auto", chunker="auto", spacy_model="none_there")
    assert auto == by_rules
    assert auto["chunker_spacy"] == 0


def test_auto_chunks_by_spacy_where_its_pipeline_is_and_says_so(tmp_path):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("parser_of_articles", name="parser")
    pipeline.to_disk(tmp_path / "pipeline")
    metrics = run(write_coco(tmp_path / "raw"), tmp_path, chunker="auto", spacy_model=str(tmp_path / "pipeline"))
    assert metrics["chunker_spacy"] == 1
    found = read_table(tmp_path / "phrases.parquet").to_pylist()[0]
    assert [found["text"][each["start"] : each["end"]] for each in found["phrases"]] == ["A dog", "a frisbee"]


def test_auto_refuses_a_pipeline_that_is_there_and_cannot_chunk(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(BadInput, match="has no parser"):
        run(write_coco(tmp_path / "raw"), tmp_path, chunker="auto", spacy_model=str(tmp_path / "blank"))
