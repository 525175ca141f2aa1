from pathlib import Path

import pytest

from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS
from trivium.commands.claim_runs import TARGETS, TRAINED, ClaimRun, as_in, behind, claim_runs, outdated, record
from trivium.commands.thorough import write_parameters
from trivium.core.code.digest import Code, code_root
from trivium.core.code.pipeline import Pipeline
from trivium.core.parameters import read_parameters

ROOT = Path(__file__).parents[2]
LOCK = {
    "world": {"outs": [{"path": "data/raw"}], "params": {"params.yaml": {"toy.world": {"seed": 3}}}},
    "train@a": {
        "deps": [{"path": "data/raw/train.jsonl"}],
        "outs": [{"path": "models/cells/a"}],
        "params": {"code.yaml": {"train@a": "0a"}, "params.yaml": {"toy.steps": 4}},
    },
    "ask": {"deps": [{"path": "models/cells"}], "outs": [{"path": "data/rawest"}]},
    "show": {"deps": [{"path": "data/rawest"}]},
}


def test_every_pipeline_has_its_worlds_and_trainings():
    runs = claim_runs(CLAIMS)
    assert len(runs) == len(set(runs)) == len(CLAIMS) * len(WORLDS) * len(TRAININGS)
    assert {run.training for run in runs[: len(CLAIMS) * len(WORLDS)]} == {0}
    assert TARGETS.keys() == CLAIMS.keys()


@pytest.mark.parametrize("run", [run for run in claim_runs(CLAIMS) if run.world == 4 and run.training], ids=str)
def test_every_run_is_a_pipeline_that_can_be_run(run):
    with as_in(ROOT, lambda params: write_parameters(run, ROOT, params)) as folder:
        tree = read_parameters(folder / "params.yaml")
        assert tree[run.pipeline]["world"]["seed"] == run.world
        assert set(TARGETS[run.pipeline]) <= Pipeline(folder).cells.keys()
        assert {key: value for key, value in tree.items() if key != run.pipeline} == {
            key: value for key, value in read_parameters(ROOT / "params.yaml").items() if key != run.pipeline
        }
        if run.pipeline == "decorrelation":
            cells = tree["decorrelation"]["cells"]
            assert cells
            assert {name.rpartition("_")[2] for name in cells} == {str(run.training)}


def test_kvqae_trains_as_long_as_the_scale_says_with_each_seed():
    told = read_parameters(ROOT / "scales" / "claims.yaml")["kvqae"]
    first, second = (ClaimRun("kvqae", training, 4).changes(ROOT, ROOT / "params.yaml")["kvqae"] for training in (0, 1))
    assert {stage: values for stage, values in first.items() if stage in told} == told
    assert second == told | {
        "world": {"seed": 4},
        "read": {"seeds": [1]},
        **{stage: told.get(stage, {}) | {"seed": 1} for stage in TRAINED},
    }


def test_what_stands_behind_a_stage():
    assert behind(LOCK, ["ask"]) == ["ask", "train@a", "world"]
    assert behind(LOCK, ["world"]) == ["world"]
    assert behind(LOCK, ["show"]) == ["ask", "show", "train@a", "world"]


def test_what_stages_came_from():
    assert record(LOCK, ["train@a", "world"]) == {
        "code": {"train@a": "0a"},
        "parameters": {"toy.steps": 4, "toy.world": {"seed": 3}},
    }


def test_what_has_changed_is_told(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: {show: {cmd: python -m stages.page.headline}}\n")
    (tmp_path / "params.yaml").write_text("toy: {steps: 4, cells: [{size: 2}]}\nrun: {portable: intel}\n")
    code = Code(code_root())
    now = Pipeline(tmp_path).parts(code, "show").digest
    same = {"code": {"show": now}, "parameters": {"toy.steps": 4, "toy.cells.0": {"size": 2}}}
    assert outdated(same, tmp_path, code) == []
    other = {"code": {"show": "other", "gone": now}, "parameters": {"toy.steps": 5, "toy.less": 1, "toy.cells": []}}
    assert outdated(other, tmp_path, code) == [
        *("the code of show", "gone is no more"),
        *("toy.steps", "toy.less", "toy.cells"),
    ]
    assert outdated(other, tmp_path, code, lambda old, new: (old, new) == ("other", now))[0] == "gone is no more"
