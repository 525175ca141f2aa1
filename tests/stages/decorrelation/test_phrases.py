"""Stage `phrases` on tiny raw folders of COCO and Flickr30k."""

from pathlib import Path

from stages.decorrelation.phrases import PhrasesParameters, main
from tests.decorrelation.tiny_corpus import SCENES, scene_captions, write_coco, write_flickr
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tables import read_table
from trivium.core.tracking import Tracker
from trivium.decorrelation.captions.phrases import Row, Settings, read_shard
from trivium.formats.pictures import Caption, Phrase

PARAMETERS = PhrasesParameters(matching="strict", chunker="rules", spacy_model="en_core_web_sm", chunk=16)


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
