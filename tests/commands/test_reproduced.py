"""A run is signed with what made it: the commit, the scale, real data; anything else is refused, and nothing is written."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from trivium.commands import cli
from trivium.core.tables import write_json

ROOT = Path(__file__).parents[2]


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.email=a@example.org", "-c", "user.name=A", *words], check=True, capture_output=True
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "tests" / "published", "tests/published")
    worlds = dict.fromkeys(("kvqae", "decorrelation_models", "complexity_models"), "hub")
    worlds |= dict.fromkeys(("coco", "calor"), "sample")
    parameters = {"world": worlds, "kvqae": {"depth": 7, "rows": None}}
    Path("params.yaml").write_text(yaml.safe_dump(parameters))
    Path("scales").mkdir()
    Path("scales/small.yaml").write_text(
        yaml.safe_dump({"world": {"kvqae": "hub"}, "kvqae": {"depth": 7, "gone": None}})
    )
    Path("code.py").write_text("1\n")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "One")
    write_json(Path("metrics/kvqae/evaluate.json"), {"passage_bm25_mrr": 0.19, "questions": 5})
    write_json(Path("metrics/decorrelation/evaluate.json"), {"coco_clip_ours_synthetic_odmap@1": 0.7})
    return tmp_path


def run(*words: str) -> None:
    cli.run("reproduced", ["--scale", "small", "--by", "Ada | Lovelace", *words])


def test_an_entry_has_the_numbers_of_real_pipelines_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("params.yaml").write_text(Path("params.yaml").read_text() + "\n# a person's note\n")
    run("--note", "one GPU lost")
    (file,) = (project / "reproductions").glob("*.json")
    entry = json.loads(file.read_text())
    assert entry["values"] == {"kvqae/evaluate.json:passage_bm25_mrr": 19.0}  # COCO is the sample's
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert (entry["commit"], entry["scale"], entry["note"]) == (head, "small", "one GPU lost")
    assert "cores" in entry["machine"]
    assert file.name.endswith(f"-small-{head[:8]}.json")
    assert "1 numbers of kvqae" in capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        run(*words)
    assert ended.value.code == 1
    assert not Path("reproductions").exists()
    return capsys.readouterr().err


def test_edited_code_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "code.py").write_text("2\n")
    assert "edited since the commit" in refused(capsys)


def test_other_parameters_are_refused_with_both_values(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (project / "params.yaml").read_text()
    (project / "params.yaml").write_text(text.replace("depth: 7", "depth: 8"))
    said = refused(capsys)
    assert "kvqae.depth" in said
    assert "8" in said
    assert "make scale S=small" in said


def test_the_sample_world_is_refused(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("params.yaml", "scales/small.yaml"):
        (project / name).write_text((project / name).read_text().replace("kvqae: hub", "kvqae: sample"))
    git("commit", "-qam", "Two")
    assert "the sample world reproduces no paper" in refused(capsys)


def test_an_unknown_scale_and_a_run_without_numbers_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "choices: small" in refused(capsys, "--scale", "other")
    (project / "metrics/kvqae/evaluate.json").unlink()
    assert "no number of the papers yet" in refused(capsys)
