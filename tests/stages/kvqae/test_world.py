"""The stage `kvqae-world`: raw files in the public formats, the same bytes whatever the number of workers."""

import hashlib
from pathlib import Path

import pytest
import yaml

from stages.kvqae import triviaqa
from stages.kvqae.world import KvqaeWorldParameters, main
from trivium.core.stage import execute
from trivium.core.tables import read_json_lines

TINY = {
    "seed": 0,
    "articles": 60,
    "imageless": 10,
    "sentences": 8,
    "questions": {"train": 12, "validation": 8, "test": 8},
    "triviaqa": 50,
    "picture_size": 64,
    "difficulty": {
        "identity_spread": 1.0, "pose": 0.5, "crop": 0.5, "light": 0.5, "noise": 0.5, "occlusion": 0.1, "disguise": 0.3,
        "faceless": 0.1, "company": 0.1,
    },
}  # fmt: skip


def run(folder: Path, *, workers: int = 1, source: str = "sample", local: str = "", **changes: object) -> dict:
    folder.mkdir(parents=True, exist_ok=True)
    parameters = folder / "params.yaml"
    tree = {"run": {"workers": workers, "mlflow": False}, "world": {"local": {"kvqae": local}}}
    tree["kvqae"] = {"world": {**TINY, "local": local, **changes}, "triviaqa": {}}
    parameters.write_text(yaml.safe_dump(tree))
    arguments = ["--params", str(parameters), "--source", source, "--out", str(folder / "raw")]
    return execute(main, "kvqae.world", KvqaeWorldParameters, arguments)


def run_triviaqa(folder: Path, source: str = "sample") -> dict:
    """TriviaQA beside the raw files that are there."""
    arguments = ["--params", str(folder / "params.yaml"), "--source", source, "--viquae", str(folder / "raw/viquae")]
    arguments += ["--out", str(folder / "raw" / "triviaqa")]
    return execute(triviaqa.main, "kvqae.triviaqa", triviaqa.TriviaqaParameters, arguments)


@pytest.fixture(autouse=True)
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run(folder)
        run_triviaqa(folder)
    return folder / "raw"


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_same_bytes_with_two_workers(raw: Path, tmp_path: Path):
    run(tmp_path, workers=2)
    run_triviaqa(tmp_path)
    assert digests(tmp_path / "raw") == digests(raw)


def test_no_answer_of_viquae_is_taught_about_its_entity(raw: Path):
    """In the files, without the generator's own relations: (entity's article, answer) pairs are disjoint."""
    pages = {
        record["wikidata_info"]["wikidata_id"]: record["wikipedia_id"]
        for _, record in read_json_lines(raw / "articles.jsonl")
    }
    taught = set()
    for _, record in read_json_lines(raw / "triviaqa" / "train.jsonl"):
        page = record["output"]["provenance"][0]["wikipedia_id"][0]
        taught.add((page, record["output"]["original_answer"]))
    for split in TINY["questions"]:
        for _, record in read_json_lines(raw / "viquae" / f"{split}.jsonl"):
            assert (pages[record["wikidata_id"]], record["output"]["original_answer"]) not in taught


def test_local_takes_a_sample_world_back(raw: Path, tmp_path: Path):
    run(tmp_path, source="local", local=str(raw))
    run_triviaqa(tmp_path, source="local")
    for name in ("articles.jsonl", "viquae/test.jsonl", "triviaqa/train.jsonl"):
        assert (tmp_path / "raw" / name).read_bytes() == (raw / name).read_bytes()
