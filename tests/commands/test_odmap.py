"""The command on a built project: all its files, what it refuses, and that a refusal leaves nothing."""

import csv
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests.commands.test_difficulty import Outline
from tests.decorrelation.benchmark.benchmark_project import Words, texts_of, write_hugging_face, write_project
from tests.decorrelation.tiny_models import write_base
from tests.prompting.loopback_endpoint import Loopback, said
from trivium.commands import cli
from trivium.page.leaderboard import FILES

DOCS = Path(__file__).parents[2] / "docs" / "odmap.md"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = write_project(tmp_path_factory.mktemp("project"))
    write_hugging_face("clip", folder / "models/my_clip", texts_of(folder))
    write_base("clip", folder / "models/other")
    return folder


@pytest.fixture
def project(built, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(built, tmp_path / "project"))
    return tmp_path / "project"


def test_a_local_clip_stands_on_the_leaderboard(project, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr("trivium.decorrelation.benchmark.leaderboard.pick_device", lambda: torch.device("cpu"))
    cli.main(["odmap", "--model", "./models/my_clip", "--model", "second=models/other", "--out", "board"])
    said = capsys.readouterr().out
    assert re.match(r"No GPU: a model encodes \d+ captions, then 13 pictures, unless", said)
    assert "Page: board/index.html" in said
    assert {path.name for path in (project / "board").iterdir()} == set(FILES)
    found = json.loads((project / "board/leaderboard.json").read_text("utf-8"))
    assert {row["model"] for row in found["models"]} == {"my_clip", "second"}
    assert found["failed"] == {}
    assert len(found["set"]) == 64
    with (project / "board/leaderboard.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert set(rows[0]) == set(found["models"][0])
    for row, right in zip(rows, found["models"], strict=True):
        assert float(row["odmap@1"]) == right["odmap@1"]
        assert row["set"] == found["set"]
    page = Outline((project / "board/index.html").read_text("utf-8"))
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    assert {link for link in page.links if not link.startswith(("#", "data:"))} == set(FILES) - {"index.html"}
    assert {"board", "pairs", "looks", "recall", "strata", "known", "asked"} <= set(page.ids)
    assert "The pictures and captions of this set are invented" in page.text
    assert found["set"] in page.text


def test_a_set_is_asked_from_any_folder(project, tmp_path, monkeypatch, capsys):
    """Without a project: the same figures, and what is asked in words beside them."""
    cli.run("odmap", ["--export", "set.parquet"])
    cli.run("odmap", ["--model", "models/my_clip", "--out", "board"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # what the command sets goes with the test
    chosen = ["--set", str(project / "set.parquet"), "--device", "cpu", "--cache", "kept"]
    with Loopback(lambda number, payload: said("yes")) as loopback:
        words = ["--endpoint", loopback.address, "--vlm", "tiny", "--questions", "2", "--requests-per-minute", "100000"]
        cli.run("odmap", [*chosen, "--model", str(project / "models/my_clip"), "--out", "board", *words])
    assert "tiny: 6 of 6 answers say yes or no" in capsys.readouterr().out
    here, there = (
        json.loads((folder / "board/leaderboard.json").read_text("utf-8")) for folder in (elsewhere, project)
    )
    assert here["set"] == there["set"]
    assert here["models"] == there["models"]
    assert here["vlms"][0]["yes_ratio"] == 1
    lines = (elsewhere / "board/queries.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 9
    assert set(json.loads(lines[0])["models"]) == {"my_clip"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "tpu"], "no such device; got 'tpu'; expected cpu, cuda or cuda:N"),
        (["--device", "cuda:99"], "no such GPU here"),
        (["--set", "nowhere.parquet"], "field '--set': no such file; got 'nowhere.parquet'"),
        (["--set", "nobody/nowhere"], "cannot be had from the hub"),
    ],
)
def test_devices_and_sets_that_are_not_there(project, arguments, message, monkeypatch, capsys):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(SystemExit):
        cli.run("odmap", [*arguments, "--model", "models/my_clip", "--out", "board"])
    assert message in capsys.readouterr().err


def test_names_are_shown_and_never_run(project, capsys):
    cli.run("odmap", ["--model", "<script>|x=models/my_clip", "--out", "board"])
    assert re.search(r"^random order +(\d+\.\d *){4}$", capsys.readouterr().out, re.MULTILINE)
    assert "<script" not in (project / "board/index.html").read_text("utf-8")


def test_a_model_that_fails_is_said_and_the_others_stand(project, capsys):
    (project / "models/other/open_clip_model.safetensors").write_bytes(b"cut off")
    with pytest.raises(SystemExit) as left:
        cli.run("odmap", ["--model", "models/my_clip", "--model", "models/other", "--out", "board"])
    assert left.value.code == 1
    assert "odmap: other was not asked: " in capsys.readouterr().err
    assert "Not asked" in (project / "board/index.html").read_text("utf-8")
    assert list(json.loads((project / "board/leaderboard.json").read_text("utf-8"))["failed"]) == ["other"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda matrix: np.where(np.arange(len(matrix))[:, None] == 2, np.nan, matrix), "captions.npy:3: NaN or infinite"),
        (lambda matrix: matrix[:-1], "another count of embeddings than of ids; got 68; expected 69"),
    ],
    ids=["nan", "count"],
)  # fmt: skip
def test_embeddings_that_cannot_be_used_are_named_before_a_model_is_asked(project, edit, message, capsys):
    cli.run("odmap", ["--inputs", "inputs"])
    for part in ("pictures", "captions"):
        count = len((project / f"inputs/{part}.jsonl").read_text("utf-8").splitlines())
        np.save(project / f"inputs/{part}.npy", np.random.default_rng(0).normal(size=(count, 4)))
    cli.run("odmap", ["--model", "npy:inputs", "--out", "before"])
    np.save(project / "inputs/captions.npy", edit(np.load(project / "inputs/captions.npy")))
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        cli.run("odmap", ["--model", "models/my_clip", "--model", "npy:inputs", "--out", "board"])
    assert left.value.code == 1
    assert message in capsys.readouterr().err
    assert not (project / "board").exists()


def test_a_model_without_a_text_tower_is_refused_by_name(project, capsys):
    vision = transformers.CLIPModel.from_pretrained("models/my_clip").vision_model
    vision.save_pretrained("models/vision")
    with pytest.raises(SystemExit) as left:
        cli.run("odmap", ["--model", "models/vision", "--out", "board"])
    assert left.value.code == 1
    assert "models/vision/config.json: field 'model_type': a model without a text tower" in capsys.readouterr().err
    assert not (project / "board").exists()


def test_the_example_of_the_docs_runs(project):
    """As pasted, but for what stands for a model of one's own, and a model that would be downloaded."""
    (code,) = re.findall(r"^```python\n(.*?)^```", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    code = code.replace("open_clip:ViT-B-32/openai", "models/other")
    code = code.replace('released="coco_lama.parquet"', 'project="."')
    for method in ("images", "texts"):
        code = re.sub(
            rf"(encode_{method}\(self, {method}\):.*\n +return) \.\.\.", rf"\1 Words().encode_{method}({method})", code
        )
    names = {"Words": Words}
    exec(code, names)
    assert {row.model for row in names["board"].rows} == {"mine", "clip"}
    assert (project / "leaderboard/index.html").exists()


def test_a_file_in_the_place_of_the_folder_is_refused_before_anything_is_asked(project, capsys):
    Path("board").write_text("mine", encoding="utf-8")
    for words in (["--model", "models/my_clip", "--out", "board"], ["--inputs", "board"]):
        with pytest.raises(SystemExit):
            cli.run("odmap", words)
        assert f"trivium odmap: field '{words[-2]}': not a folder; got 'board'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "open_clip:ViT-B-33/openai"], "choices: ViT-B-32"),
        (["--model", "models/my_clip", "--dataset", "flickr"], "no set, or several"),
        (["--model", "models/my_clip", "--model", "my_clip=models/other"], "two models of one name"),
    ],
)
def test_what_cannot_be_is_one_clear_line_and_leaves_nothing(project, arguments, message, capsys):
    with pytest.raises(SystemExit) as left:
        cli.run("odmap", [*arguments, "--out", "board"])
    assert left.value.code == 1
    said = capsys.readouterr().err
    assert said.splitlines()[-1].startswith("trivium odmap: ")
    assert message in said
    assert not (project / "board").exists()
