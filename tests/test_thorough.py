"""`make thorough` on a project of one stage: every seed runs in a copy, results are kept with commit and date."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stages import thorough
from stages.complexity.answer_cache import FILE, AnswerCache, Reply

ROOT = Path(__file__).parents[1]
STAGE = """stages:
  kvqae-echo:
    cmd: python echo.py
    deps: [echo.py]
    params: [kvqae.world, kvqae.read]
    metrics:
    - metrics/kvqae/echo.json: {cache: false}
"""
ECHO = """import json, pathlib, yaml
kvqae = yaml.safe_load(open("params.yaml"))["kvqae"]
folder = pathlib.Path("metrics/kvqae")
folder.mkdir(parents=True, exist_ok=True)
(folder / "echo.json").write_text(json.dumps({"seed": kvqae["world"]["seed"], "grid": kvqae["read"]["grid"]}))
fragments = pathlib.Path("metrics/report/fragments")
fragments.mkdir(parents=True, exist_ok=True)
sections = [{"id": f"kvqae-{name}", "title": name, "html": str(kvqae["world"]["seed"])} for name in ("gallery", "table-2")]
(fragments / "kvqae.json").write_text(json.dumps({"sections": sections}))
"""

# A question is answered at a cost, which the metric counts; then it breaks off unless a file is there.
PROMPT = """
import json, pathlib, sys, yaml
sys.path.insert(0, sys.argv[1])
from stages.complexity.answer_cache import AnswerCache, Reply
seed = yaml.safe_load(open("params.yaml"))["complexity"]["world"]["seed"]
cache = AnswerCache(pathlib.Path("data/complexity/prompt_cache"))
asked = [key for key in ("same", f"world {seed}") if cache.get(key) is None]
for key in asked:
    cache.put(key, Reply(key, "stop", 1, 1), model="m")
assert pathlib.Path(sys.argv[2]).exists(), "broken off"
folder = pathlib.Path("metrics/complexity")
folder.mkdir(parents=True, exist_ok=True)
(folder / "prompt.json").write_text(json.dumps({"asked": len(asked)}))
"""


def run(*command: str, folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / "scales").mkdir(parents=True)
    (folder / "dvc.yaml").write_text(STAGE)
    (folder / "echo.py").write_text(ECHO)
    (folder / "params.yaml").write_text("kvqae: {world: {seed: 3}, read: {grid: 1}}\n")
    (folder / "scales" / "thorough.yaml").write_text("kvqae: {read: {grid: 9}}\n")
    (folder / ".gitignore").write_text(".work\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    run("git", "init", "-q", folder=folder)
    run("git", "config", "user.email", "test@example.org", folder=folder)
    run("git", "config", "user.name", "Test", folder=folder)
    run("dvc", "init", "-q", folder=folder)
    run("git", "add", "-A", folder=folder)
    run("git", "commit", "-q", "-m", "Start", folder=folder)
    monkeypatch.chdir(folder)
    return folder


def test_every_seed_runs_at_the_thorough_scale_and_the_tree_stays(project):
    thorough.main(["--pipelines", "kvqae", "--seeds", "5", "4"])
    kept = json.loads((project / "metrics/thorough/kvqae.json").read_text())
    assert kept["seeds"] == {"4": {"echo.grid": 9, "echo.seed": 4}, "5": {"echo.grid": 9, "echo.seed": 5}}
    assert kept["sections"] == [{"id": "kvqae-table-2", "title": "table-2", "html": "4"}]
    assert kept["commit"] == run("git", "rev-parse", "HEAD", folder=project).strip()
    assert not (project / "dvc.lock").exists()
    assert (project / "params.yaml").read_text() == "kvqae: {world: {seed: 3}, read: {grid: 1}}\n"


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


def test_answers_that_were_paid_for_come_along_and_come_back(project):
    stage = {
        "cmd": f"python prompt.py {ROOT} {project / 'go'}",
        "deps": ["prompt.py"],
        "params": ["complexity.world"],
        "outs": [{str(thorough.ANSWERS): {"persist": True}}],
        "metrics": [{"metrics/complexity/prompt.json": {"cache": False}}],
    }
    (project / "dvc.yaml").write_text(json.dumps({"stages": {"complexity-prompt": stage}}))
    (project / "prompt.py").write_text(PROMPT)
    (project / "params.yaml").write_text("complexity: {world: {seed: 3}}\n")
    (project / "scales" / "thorough.yaml").write_text("complexity: {}\n")
    (project / ".gitignore").write_text(".work\n/data/\n")
    run("git", "add", "-A", folder=project)
    run("git", "commit", "-q", "-m", "Ask", folder=project)
    ours = project / thorough.ANSWERS
    AnswerCache(ours).put("same", Reply("paid for before", "stop", 1, 1), model="m")
    with pytest.raises(subprocess.CalledProcessError):
        thorough.main(["--pipelines", "complexity", "--seeds", "4"])
    assert AnswerCache(ours).get("world 4") == Reply("world 4", "stop", 1, 1)
    (project / "go").touch()
    thorough.main(["--pipelines", "complexity", "--seeds", "4", "5"])
    kept = json.loads((project / "metrics/thorough/complexity.json").read_text())
    assert kept["seeds"] == {"4": {"prompt.asked": 0}, "5": {"prompt.asked": 1}}
    assert (len(AnswerCache(ours)), AnswerCache(ours).broken) == (3, 0)
    assert (ours / FILE).read_bytes().count(b"\n") == 3
    # A copy whose run was killed never gave its answers back; the next run fetches them.
    (ours / FILE).unlink()
    thorough.main(["--pipelines", "complexity", "--seeds", "5"])
    assert len(AnswerCache(ours)) == 3
