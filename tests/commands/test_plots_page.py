"""`dvc plots show` finds the data of every plot of metrics/dvc.yaml and of the curves of trainings."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.stage_paths import module_of, published
from tests.tiny_project import ROOT, run, start
from trivium.commands.plots_page import main
from trivium.core.curves import COLUMNS

PLOTS = yaml.safe_load((ROOT / "metrics" / "dvc.yaml").read_text(encoding="utf-8"))["plots"]
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
NAMES = [name for plot in PLOTS for name in plot]
TEMPLATES = ROOT / ".dvc" / "plots"
# File of a plot: its columns, and rows as a stage writes them.
TABLES = {
    "kvqae/bm25_grid.csv": ("k1,b,mrr", ["0.0,0.0,0.1", "0.9,0.0,0.2", "0.0,0.4,0.3", "0.9,0.4,0.4"]),
    # Two weights of each of two systems in one fusion, and one of a third in another.
    "kvqae/weightings.csv": (
        "row,arcface,bm25,mrr",
        ["a,0.1,0.9,0.2", "a,0.9,0.1,0.3", "a,0.9,0.1,0.2", "b,1.0,,0.1"],
    ),
    "kvqae/passages_read.csv": ("row,passages,em,f1", ["x,1,0.1,0.2", "x,2,0.2,0.3", "y,1,0.1,0.1"]),
    "odmap.csv": ("training,seed,k,odmap", ["coco_clip_ours,0,1,0.5", "coco_clip_ours,1,1,0.6"]),
    "complexity/difficulty/evaluation/effects.csv": (
        "model,factor,delta,low,high",
        ["a,long,1.5,-1,3", "a,far,-2,-3,-1", "b,far,0,-1,1"],
    ),
    "complexity/frame_scores.csv": ("model,frame,rouge_l", ["a,Origin,0.3", "a,Killing,0.4", "b,Origin,0.5"]),
}

# What two trainings and one that trains nothing leave.
CURVES = {
    "base": ["clip_loss,0,0.9", "cnn_loss,0,0.7", "cnn_loss,10,0.5"],
    "finetune": ["loss,1,0.9", "loss,2,0.5", "gradient_norm,1,3.0", "gradient_norm,2,2.0", "validation_mrr,2,0.3"],
    "published": [],
}


def plots_of_trainings() -> dict[str, dict[str, str]]:
    """Each table of curves in dvc.yaml, and how it is drawn."""
    stages = [stage.get("do", stage) for stage in STAGES.values()]
    return {path: how for stage in stages for plot in stage.get("plots", []) for path, how in plot.items()}


def write_curves(folder: Path) -> None:
    """As stages do: run by DVC, which keeps the tables."""
    (how,) = {json.dumps(how) for how in plots_of_trainings().values()}
    stages = {}
    for name, rows in CURVES.items():
        (folder / f"{name}.csv").write_text("\n".join([",".join(COLUMNS), *rows, ""]))
        made = f"metrics/kvqae/curves/{name}.csv"
        stages[name] = {"cmd": f"cp {name}.csv {made}", "deps": [f"{name}.csv"], "plots": [{made: json.loads(how)}]}
    (folder / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    (folder / "metrics/kvqae/curves").mkdir(parents=True, exist_ok=True)
    run("dvc", "repro", "--quiet", folder=folder)


def write_tables(folder: Path) -> None:
    """The tables of metrics/."""
    for name, (columns, rows) in TABLES.items():
        path = folder / "metrics" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([columns, *rows, ""]))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with our plots and tables."""
    config = (ROOT / ".dvc" / "config").read_text(encoding="utf-8")
    assert "html_template = ../.venv/plots.html" in config
    files = {".gitignore": "/.venv/\n", "metrics/dvc.yaml": (ROOT / "metrics" / "dvc.yaml").read_text(encoding="utf-8")}
    folder = start(tmp_path / "project", files, monkeypatch)
    shutil.copytree(TEMPLATES, folder / ".dvc" / "plots")
    (folder / ".dvc" / "config").write_text(config)
    (folder / ".venv").mkdir()
    main(folder / ".venv" / "plots.html")
    write_tables(folder)
    write_curves(folder)
    return folder


def test_nothing_is_wrong_with_the_definitions(project):
    told = json.loads(run("dvc", "plots", "show", "--json", folder=project))
    assert "errors" not in told
    assert len(told["data"]) == len(NAMES) + len(CURVES) == len(TABLES) + len(CURVES)


def test_plots_load_nothing_from_elsewhere():
    for file in TEMPLATES.glob("*.json"):
        assert set(json.loads(file.read_text(encoding="utf-8"))["data"]) <= {"values", "format"}


def test_every_stage_that_is_told_where_curves_go_has_its_plot():
    commands = [str(stage.get("do", stage)["cmd"]) for name, stage in STAGES.items() if name not in ("code", "track")]
    curves = [published(module_of(command)).get("curves") for command in commands]
    given = [re.sub(r"\{(\w+)\}", "*", path) for path in curves if path]
    assert given == [re.sub(r"\$\{[\w.]+\}", "*", path) for path in plots_of_trainings()]
