"""`make thorough` on a project of one stage: every seed runs in a copy, results are kept with commit and date."""

import json
import subprocess

import pytest

from tests import tiny_project
from tests.tiny_project import commit, run
from trivium.commands import thorough
from trivium.complexity.prompting.answer_cache import JOURNAL, AnswerCache, Reply

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
(folder / "echo.json").write_text(json.dumps({"seed": kvqae["world"]["seed"], "grid": kvqae["read"]["grid"]}))
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
from trivium.complexity.prompting.answer_cache import JOURNAL, AnswerCache, Reply
from trivium.harness.tracking import project_root
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


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {
        "dvc.yaml": STAGE,
        "echo.py": ECHO,
        "Makefile": "repro:\n\techo $(P) >> ran\n\t[ $(P) = construction ] || dvc repro --glob '$(P)-*'\n",
        "params.yaml": "kvqae: {world: {seed: 3}, read: {grid: 1}}\n",
        "scales/thorough.yaml": "kvqae: {read: {grid: 9}}\n",
        ".gitignore": ".work\n/data/\n/ran\n",
    }
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def found_with(seed):
    """The metrics of the echo at the thorough scale: numbers with a name."""
    return {"echo.grid": 9, "echo.seed": seed, "table.published": 2}


def test_every_seed_runs_at_the_thorough_scale_and_the_tree_stays(project):
    thorough.main(["--pipelines", "kvqae", "--seeds", "5", "4"])
    kept = json.loads((project / "metrics/thorough/kvqae.json").read_text())
    assert kept["seeds"] == {seed: found_with(int(seed)) for seed in ("4", "5")}
    (ran,) = (project / ".work/thorough").glob("*-kvqae/ran")
    assert ran.read_text().split() == ["kvqae", "construction"] * 2  # its metrics are of each world, too
    names = ("kvqae-table-2", "kvqae-table-3", "kvqae-table-4")  # those of other parts are not there
    assert [(section["id"], section["html"]) for section in kept["sections"]] == [(name, "4") for name in names]
    assert kept["commit"] == run("git", "rev-parse", "HEAD", folder=project).strip()
    assert not (project / "dvc.lock").exists()
    assert (project / "params.yaml").read_text() == "kvqae: {world: {seed: 3}, read: {grid: 1}}\n"


def test_another_seed_joins_the_results_of_the_commit(project):
    file = project / "metrics/thorough/kvqae.json"
    thorough.main(["--pipelines", "kvqae", "--seeds", "4"])
    commit(project)  # as results are; their commit is no longer the last one
    thorough.main(["--pipelines", "kvqae", "--seeds", "5"])
    assert json.loads(file.read_text())["seeds"] == {"5": found_with(5)}
    for seed in ("4", "6"):  # results alone are no change to be committed
        thorough.main(["--pipelines", "kvqae", "--seeds", seed])
        kept = json.loads(file.read_text())
        assert [section["html"] for section in kept["sections"]] == ["4", "4", "4"]  # of the first world
    assert kept["seeds"] == {seed: found_with(int(seed)) for seed in ("4", "5", "6")}


def test_a_copy_that_was_not_finished_is_made_again(project, monkeypatch):
    def killed(*command, **_):
        if command[0] == "git":
            raise KeyboardInterrupt
        raise AssertionError(command)

    copy = project / ".work" / "thorough" / "copy"
    with monkeypatch.context() as patch:
        patch.setattr(thorough, "run", killed)
        with pytest.raises(KeyboardInterrupt):
            thorough.clone(project, copy)
    assert not copy.exists()
    assert (thorough.clone(project, copy) / ".dvc" / "config.local").exists()


def test_uncommitted_changes_are_refused(project, capsys):
    (project / "params.yaml").write_text("kvqae: {world: {seed: 3}, read: {grid: 2}}\n")
    with pytest.raises(SystemExit):
        thorough.main(["--pipelines", "kvqae"])
    assert "commit your changes first" in capsys.readouterr().err
    assert not (project / "metrics" / "thorough").exists()


def test_an_unknown_pipeline_is_refused(project, capsys):
    with pytest.raises(SystemExit):
        thorough.main(["--pipelines", "nothing"])
    assert "complexity" in capsys.readouterr().err


def test_answers_that_were_paid_for_are_kept_here(project):
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
    with pytest.raises(subprocess.CalledProcessError):
        thorough.main(["--pipelines", "complexity", "--seeds", "4"])
    ours = AnswerCache(project / JOURNAL)
    assert ours.get("same") == shared.get("same")
    assert ours.get("world 4") == Reply("world 4", "stop", 1, 1)
    (project / "go").touch()
    thorough.main(["--pipelines", "complexity", "--seeds", "4", "5"])
    kept = json.loads((project / "metrics/thorough/complexity.json").read_text())
    assert kept["seeds"] == {"4": {"prompt.asked": 0}, "5": {"prompt.asked": 1}}
    ours = AnswerCache(project / JOURNAL)
    assert (len(ours), ours.broken) == (3, 0)


def test_minutes_of_a_call_that_was_broken_off_count(tmp_path, monkeypatch):
    clock = iter([0.0, 60.0, 100.0, 220.0])
    monkeypatch.setattr(thorough.time, "perf_counter", lambda: next(clock))
    spent = tmp_path / "minutes-3.json"
    with pytest.raises(KeyboardInterrupt), thorough.timed(spent):
        raise KeyboardInterrupt
    with thorough.timed(spent):
        pass
    assert thorough.minutes_of(spent) == 3.0
