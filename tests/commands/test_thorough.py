"""`make thorough` on a project of one stage: every run works in a copy, and results are kept with what they came from."""

import json
import subprocess

import pytest

from tests import tiny_project
from tests.claims.invented import evidence
from tests.tiny_project import ROOT, commit, run
from trivium.claims.verdicts import CLAIMS, read_evidence
from trivium.commands import cli, thorough
from trivium.commands.thorough import TARGETS, TRAINED, Result, claim_runs, list_changes
from trivium.complexity.prompting import JOURNAL
from trivium.core.code.digest import read_stages
from trivium.core.lock import ancestors_of, value_in
from trivium.core.parameters import flatten, read_parameters
from trivium.prompting.answer_cache import AnswerCache, Reply

STAGE = """stages:
  kvqae-echo:
    cmd: python echo.py
    deps: [echo.py]
    params: [kvqae.world, kvqae.read]
    outs:
    - metrics/report/parts/kvqae/retrieval.json
    metrics:
    - metrics/kvqae/echo.json: {cache: false}
"""
ECHO = """import json, pathlib, yaml
kvqae = yaml.safe_load(open("params.yaml"))["kvqae"]
folder = pathlib.Path("metrics/kvqae")
folder.mkdir(parents=True, exist_ok=True)
(folder / "echo.json").write_text(json.dumps({"seed": kvqae["world"]["seed"], **kvqae["read"]}))
(folder / "rows.json").write_text('[{"row": 1}]')  # a table beside the metrics, and one with names
(folder / "table.json").write_text('{"rows": {"a": 1}, "published": 2}')
parts = pathlib.Path("metrics/report/parts/kvqae")
parts.mkdir(parents=True, exist_ok=True)
sections = dict.fromkeys(("claim", "table-2", "table-3", "table-4"), str(kvqae["world"]["seed"]))
(parts / "retrieval.json").write_text(json.dumps({"world": "sample", "sections": sections}))
"""

# A question is answered at a cost, which the metric counts; then it breaks off unless a file is there.
PROMPT = """
import json, pathlib, sys, yaml
from trivium.complexity.prompting import JOURNAL
from trivium.prompting.answer_cache import AnswerCache, Reply
from trivium.core.tracking import project_root
seed = yaml.safe_load(open("params.yaml"))["complexity"]["world"]["seed"]
cache = AnswerCache(project_root() / JOURNAL)
asked = [key for key in ("same", f"world {seed}") if cache.get(key) is None]
for key in asked:
    cache.put(key, Reply(key, "stop", 1, 1), model="m")
assert pathlib.Path(sys.argv[1]).exists(), "broken off"
cache.copy_to(pathlib.Path("data/complexity/prompt_cache"))
folder = pathlib.Path("metrics/complexity")
folder.mkdir(parents=True, exist_ok=True)
(folder / "prompt.json").write_text(json.dumps({"asked": len(asked)}))
"""


def grown(folder, pipeline, _):
    """Evidence that says which world it is of."""
    return evidence(pipeline, usual=json.loads((folder / "metrics/kvqae/echo.json").read_text())["seed"] / 10)


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {
        "dvc.yaml": STAGE,
        "echo.py": ECHO,
        "Makefile": "repro:\n\techo $(P) >> ran\n\t[ $(P) = construction ] || dvc repro --glob '$(P)-*'\n",
        "params.yaml": "kvqae: {world: {seed: 3}, read: {sweep_questions: 1, seeds: [0]}, dpr_pretrain: {}}\n",
        "scales/claims.yaml": "kvqae: {dpr_pretrain: {}}\n",
        "scales/thorough.yaml": "kvqae: {read: {sweep_questions: 9}}\n",
        "metrics/kvqae/.gitkeep": "",
        ".gitignore": ".work\n/data/\n/ran\ncode.yaml\n",
    }
    monkeypatch.setattr(thorough, "TARGETS", {"kvqae": ("kvqae-echo",), "complexity": ("complexity-prompt",)})
    monkeypatch.setattr(thorough, "claim_runs", lambda _: [Result("kvqae", 0, world) for world in (3, 4)])
    monkeypatch.setattr(thorough, "gather", grown)
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def results(project, name):
    return json.loads((project / "metrics" / "thorough" / f"{name}.json").read_text())


def test_every_world_leaves_its_evidence_and_only_what_is_out_of_date_runs_again(project, capsys):
    cli.run("thorough", ["--pipelines", "kvqae"])
    assert "kvqae, world 4, training 0: never run" in capsys.readouterr().out
    for world in (3, 4):
        kept = results(project, f"kvqae/{world}-0")
        assert kept["parameters"]["kvqae.world"] == {"seed": world}
        assert kept["commit"] == run("git", "rev-parse", "HEAD", folder=project).strip()
    tables = read_evidence(project / "metrics" / "thorough", "kvqae")
    assert {world: table["better"][0].as_py() for world, (table,) in tables.items()} == {3: 1.3, 4: 1.4}
    assert not (project / "dvc.lock").exists()
    assert run("git", "status", "--porcelain", "--", "params.yaml", folder=project) == ""
    check_all_of_a_pipeline(project)
    check_what_runs_again(project, capsys)


def check_all_of_a_pipeline(project):
    """At the scale."""
    kept = results(project, "kvqae")
    assert kept["metrics"] == {"echo.seed": 3, "echo.sweep_questions": 9, "table.published": 2}
    (ran,) = (project / ".work/thorough").glob("*-kvqae-*/ran")
    assert ran.read_text().split() == ["kvqae", "construction"]
    names = ("kvqae-table-2", "kvqae-table-3", "kvqae-table-4")  # those of other parts are not there
    assert [(section["id"], section["html"]) for section in kept["sections"]] == [(name, "3") for name in names]


def check_what_runs_again(project, capsys):
    commit(project)
    capsys.readouterr()
    cli.run("thorough", ["--pipelines", "kvqae"])
    assert "All results are up to date." in capsys.readouterr().out
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("sweep_questions: 1", "sweep_questions: 2"))
    cli.run("thorough", ["--pipelines", "kvqae", "--list"])
    said = capsys.readouterr().out
    assert "kvqae, world 3, training 0: kvqae.read\n" in said
    assert "kvqae:" not in said, "at the scale the number is another"
    assert "2 runs to make" in said
    (project / "metrics/thorough/kvqae/4-0.json").unlink()
    params.write_text(params.read_text().replace("sweep_questions: 2", "sweep_questions: 1"))
    commit(project)
    cli.run("thorough", ["--pipelines", "kvqae"])
    assert results(project, "kvqae/4-0")["commit"] != results(project, "kvqae/3-0")["commit"]


def test_uncommitted_changes_are_refused(project, capsys):
    (project / "params.yaml").write_text("kvqae: {}\n")
    with pytest.raises(SystemExit):
        cli.run("thorough", ["--pipelines", "kvqae"])
    assert "commit your changes first" in capsys.readouterr().err
    assert not (project / "metrics" / "thorough").exists()


def test_answers_that_were_paid_for_are_kept_here(project, monkeypatch):
    stage = {
        "cmd": f"python prompt.py {project / 'go'}",
        "deps": ["prompt.py"],
        "params": ["complexity.world"],
        "outs": [{str(thorough.ANSWERS): {"persist": True}}],
        "metrics": [{"metrics/complexity/prompt.json": {"cache": False}}],
    }
    (project / "dvc.yaml").write_text(json.dumps({"stages": {"complexity-prompt": stage}}))
    (project / "prompt.py").write_text(PROMPT)
    (project / "params.yaml").write_text("complexity: {world: {seed: 3}}\n")
    (project / "scales" / "thorough.yaml").write_text("complexity: {}\n")
    commit(project)
    # Shared by others, say: not in the journal yet.
    shared = AnswerCache(project / thorough.ANSWERS)
    shared.put("same", Reply("paid for before", "stop", 1, 1), model="m")
    monkeypatch.setattr(thorough, "claim_runs", lambda _: [])
    with pytest.raises(subprocess.CalledProcessError):
        cli.run("thorough", ["--pipelines", "complexity"])
    ours = AnswerCache(project / JOURNAL)
    assert ours.get("same") == shared.get("same")
    assert ours.get("world 3") == Reply("world 3", "stop", 1, 1)
    (project / "go").touch()
    cli.run("thorough", ["--pipelines", "complexity"])
    assert results(project, "complexity")["metrics"] == {"prompt.asked": 0}
    ours = AnswerCache(project / JOURNAL)
    assert (len(ours), ours.broken) == (2, 0)


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


@pytest.mark.parametrize("wanted", [run for run in claim_runs(CLAIMS) if run.world == 4 and run.training], ids=str)
def test_every_run_is_a_pipeline_that_can_be_run(wanted):
    tree = wanted.parameters(ROOT)
    assert set(TARGETS[wanted.pipeline]) <= {name for name, *_ in read_stages(ROOT, tree)}
    assert {key: value for key, value in tree.items() if key != wanted.pipeline} == {
        key: value for key, value in read_parameters(ROOT / "params.yaml").items() if key != wanted.pipeline
    }
    scale = read_parameters(ROOT / "scales" / "claims.yaml")[wanted.pipeline]
    scale = scale | {"world": scale.get("world", {}) | {"seed": wanted.world}}
    own = flatten({key: value for key, value in scale.items() if key != "cells"})
    assert [key for key, value in own if value_in(tree[wanted.pipeline], key) != value] == []
    if wanted.pipeline == "decorrelation":
        cells = tree["decorrelation"]["cells"]
        assert cells
        assert {name.rpartition("_")[2] for name in cells} == {str(wanted.training)}


def test_kvqae_trains_as_long_as_the_scale_says_with_each_seed():
    told = read_parameters(ROOT / "scales" / "claims.yaml")["kvqae"]
    first, second = (Result("kvqae", training, 4).changes(ROOT)["kvqae"] for training in (0, 1))
    assert {stage: first[stage] for stage in told} == told | {"read": told["read"] | {"seeds": [0]}}
    assert second == told | {
        "world": {"seed": 4},
        "read": told["read"] | {"seeds": [1]},
        **{stage: told.get(stage, {}) | {"seed": 1} for stage in TRAINED},
    }


def test_what_stands_behind_a_stage():
    assert ancestors_of(LOCK, ["ask"]) == ["ask", "train@a", "world"]
    assert ancestors_of(LOCK, ["world"]) == ["world"]
    assert ancestors_of(LOCK, ["show"]) == ["ask", "show", "train@a", "world"]


def test_what_has_changed_is_told():
    tree, digests = {"toy": {"steps": 4, "cells": [{"size": 2}]}}, {"show": "0a", "new": "0b"}
    same = {"code": {"show": "0a"}, "parameters": {"toy.steps": 4, "toy.cells.0": {"size": 2}}}
    assert list_changes(same, digests, tree) == []
    other = {"code": {"show": "other", "gone": "0a"}, "parameters": {"toy.steps": 5, "toy.less": 1, "toy.cells": []}}
    assert list_changes(other, digests, tree) == [
        *("the code of show", "gone is no more"),
        *("toy.steps", "toy.less", "toy.cells"),
    ]
