"""The stage `complexity-world`: one layout whatever the source, leaks between splits, sets that are given on request."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sample.french.french_world import write_calor, write_fquad
from stages.complexity.world import SourcedWorldParameters, main
from tests.sources.small_french import annotated, small_french
from trivium.core.errors import BadInput
from trivium.core.stage import execute
from trivium.core.tables import read_json, read_table
from trivium.formats.conllu import read_conllu
from trivium.formats.frame_corpora import read_examples, read_texts, write_texts
from trivium.formats.framed_texts import AnnotatedText
from trivium.formats.squad import SquadQuestion, read_squad, write_squad
from trivium.sources.brought import sha256_of
from trivium.sources.complexity.raw import FQUAD_SPLITS, FRAME_SPLITS, validate_complexity
from trivium.sources.pins import REQUESTED, Pins

SIZES = {"seed": 0, "train": 2, "validation": 1, "evaluation": 2, "frame_texts": 2,
         "crossed": {"train": 9, "facts": 2, "assigned_facts": 2}}  # fmt: skip


def run(folder: Path, fquad: str = "sample", calor: str = "sample", *, out: str = "raw", **local: Any) -> dict:
    folder.mkdir(parents=True, exist_ok=True)
    parameters = folder / "params.yaml"
    folders = {name: str(local.get(f"local_{name}", "")) for name in ("fquad", "calor")}
    tree = {
        "run": {"workers": 1, "mlflow": False},
        "world": {"fquad": fquad, "calor": calor, "local": folders},
        "complexity": {"world": SIZES},
    }
    parameters.write_text(yaml.safe_dump(tree))
    arguments = ["--params", str(parameters)]
    arguments += ["--out-fquad", str(folder / out / "fquad"), "--out-calor", str(folder / out / "calor")]
    arguments += ["--out-crossed", str(folder / out / "crossed")]
    return execute(main, "complexity.world", SourcedWorldParameters, arguments)


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stages.complexity.world.build_french", small_french)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A user's folders `fquad` and `calor`."""
    write_fquad(small_french(), tmp_path / "mine" / "fquad")
    write_calor(small_french(), tmp_path / "mine" / "calor")
    return tmp_path / "mine"


def brought(mine: Path) -> dict[str, Any]:
    return {"local_fquad": mine / "fquad", "local_calor": mine / "calor"}


def raw_of(mine: Path) -> tuple[Any, ...]:
    fquad = {split: mine / "fquad" / f"{split}.json" for split in FQUAD_SPLITS}
    frames = {split: mine / "calor" / "frames" / f"{split}.jsonl" for split in FRAME_SPLITS}
    return fquad, mine / "calor" / "questions.jsonl", frames, mine / "calor" / "syntax.conllu"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_sample_is_written_in_the_public_formats(tmp_path: Path):
    metrics = run(tmp_path)
    assert files(tmp_path / "raw") == {
        "fquad/train.json", "fquad/validation.json", "calor/questions.jsonl", "calor/frames/train.jsonl",
        "calor/frames/validation.jsonl", "calor/frames/test.jsonl", "calor/syntax.conllu",
        "crossed/a/train.json", "crossed/b/train.json", "crossed/facts.parquet",
    }  # fmt: skip
    world = small_french()
    raw = tmp_path / "raw"
    assert list(read_squad(raw / "fquad" / "train.json").questions) == world.fquad["train"]
    assert read_examples(raw / "calor" / "questions.jsonl", raw / "calor" / "frames" / "test.jsonl") == world.examples
    stored = {text.id: text.text for text in world.texts["test"]}
    assert read_conllu(raw / "calor" / "syntax.conllu", stored).sentences == world.syntax
    expected = {
        "fquad_train_questions": 2, "fquad_train_contexts": 1, "fquad_validation_questions": 1,
        "fquad_train_dropped_wrong_offset": 0, "fquad_train_dropped_impossible": 0, "fquad_train_wrong_answers": 0,
        "fquad_contexts_in_train_and_validation": 0, "calor_questions": 2, "calor_questions_with_chain": 0,
        "calor_train_texts": 2, "calor_train_frames": 2, "calor_train_elements": 4, "calor_test_texts": 2,
        "calor_train_frame_types": 1, "calor_syntax_sentences": 2, "calor_questions_without_syntax": 0,
        "calor_texts_in_train_and_test": 0, "calor_test_texts_in_fquad": 0, "calor_questions_frame_not_in_train": 0,
    }  # fmt: skip
    assert expected.items() <= metrics.items()
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics


def test_local_takes_the_same_files(mine: Path, tmp_path: Path):
    metrics = run(tmp_path, "local", "local", **brought(mine))
    assert metrics | {"facts": 10} == run(tmp_path, out="made")
    assert len(read_table(tmp_path / "raw" / "crossed" / "facts.parquet")) == metrics["facts"] == 0
    for part in ("fquad", "calor"):
        raw = tmp_path / "raw" / part
        assert files(raw) == files(mine / part) | {"provenance.json"}
        recorded = read_json(raw / "provenance.json")
        assert recorded == {name: sha256_of(mine / part / name) for name in files(mine / part)}
        assert not any((raw / name).samefile(mine / part / name) for name in recorded)


def test_frames_may_come_as_framenet_xml(mine: Path, tmp_path: Path):
    train = mine / "calor" / "frames" / "train"
    (mine / "calor" / "frames" / "train.jsonl").unlink()
    train.mkdir()
    (train / "guerre.xml").write_text(
        '<fullTextAnnotation xmlns="http://framenet.icsi.berkeley.edu"><sentence paragNo="1">'
        "<text>Aldric perdit.</text>"
        '<annotationSet frameName="Losing" luName="perdre.v" status="MANUAL">'
        '<layer rank="1" name="Target"><label start="7" end="12" name="Target"/></layer>'
        '<layer rank="1" name="FE"><label start="0" end="5" name="Owner"/></layer>'
        "</annotationSet></sentence></fullTextAnnotation>"
    )
    metrics = run(tmp_path, "local", "local", **brought(mine))
    (text,) = read_texts(tmp_path / "raw" / "calor" / "frames" / "train.jsonl")
    assert (text.id, text.frames[0].lexical_unit.span.of(text.text)) == ("guerre", "perdit")
    assert metrics["calor_train_elements_of_unknown_core_type"] == 1
    assert "frames/train/guerre.xml" in read_json(tmp_path / "raw" / "calor" / "provenance.json")

    core = mine / "calor" / "frames" / "frame"
    core.mkdir()
    (core / "Losing.xml").write_text('<frame name="Losing"><FE name="Owner" coreType="Peripheral"/></frame>')
    metrics = run(tmp_path, "local", "local", **brought(mine))
    assert (
        read_texts(tmp_path / "raw" / "calor" / "frames" / "train.jsonl")[0].frames[0].elements[0].core == "peripheral"
    )
    assert metrics["calor_train_elements_of_unknown_core_type"] == 0


@pytest.mark.parametrize("name", ["fquad", "calor"])
def test_hub_says_where_to_ask_and_what_to_do(tmp_path: Path, name: str):
    page = Pins(REQUESTED).source(name).page
    with pytest.raises(
        BadInput, match=rf"world\.{name}.*on request only.*{page}.*world.local.{name}.*world.{name}: local"
    ):
        run(tmp_path, **{name: "hub"})
    assert not (tmp_path / "raw").exists()


def test_leaks_between_splits_are_counted(mine: Path):
    world = small_french()
    train = world.fquad["train"][0]
    same = replace(
        train, id="v", context="  " + train.context, answers=((train.answers[0][0], train.answers[0][1] + 2),)
    )
    write_squad(mine / "fquad" / "validation.json", [*world.fquad["validation"], same])
    seen = world.texts["test"][0]
    write_texts(mine / "calor" / "frames" / "train.jsonl", [*world.texts["train"], replace(seen, id="autre")])
    write_texts(mine / "calor" / "frames" / "validation.jsonl", [seen])
    counts = validate_complexity(*raw_of(mine))
    assert counts["fquad_contexts_in_train_and_validation"] == 1
    assert counts["calor_texts_in_train_and_test"] == 1
    assert counts["calor_texts_in_validation_and_test"] == 1
    assert counts["calor_texts_in_train_and_validation"] == 1


def test_texts_joined_from_paragraphs_that_readers_learn_from_are_leaks(mine: Path):
    raw = fquad, _, frames, _ = raw_of(mine)
    contexts = [" ".join(f"mot{number}x{place}" for place in range(30)) + "." for number in range(20)]
    asked = [SquadQuestion(f"q{number}", "", text, "Qui ?", ((text[:5], 0),)) for number, text in enumerate(contexts)]
    write_squad(fquad["train"], asked)
    joined = [AnnotatedText(f"j{n}", "", f"{contexts[2 * n]} {contexts[2 * n + 1].upper()}", (), ()) for n in range(10)]
    write_texts(frames["test"], [*read_texts(frames["test"]), *joined])
    write_texts(frames["train"], [*read_texts(frames["train"]), replace(joined[0], id="k", text=contexts[1])])
    counts = validate_complexity(*raw)
    assert counts["calor_test_texts_in_fquad"] == 10
    assert counts["calor_texts_in_train_and_test"] == 1
    assert counts["calor_texts_in_train_and_validation"] == counts["calor_texts_in_validation_and_test"] == 0


def test_one_id_for_two_things_is_refused(mine: Path):
    world = small_french()
    raw = fquad, _, frames, _ = raw_of(mine)
    write_texts(frames["validation"], [annotated("test-0", "Quelqu'un")])
    with pytest.raises(
        BadInput, match=r"test\.jsonl: field 'id': id of another text in validation\.jsonl; got 'test-0'"
    ):
        validate_complexity(*raw)
    write_texts(frames["validation"], world.texts["validation"])
    write_squad(fquad["validation"], [replace(world.fquad["validation"][0], id="train-1")])
    with pytest.raises(BadInput, match=r"validation\.json: field 'id': question id also in train\.json; got 'train-1'"):
        validate_complexity(*raw)
