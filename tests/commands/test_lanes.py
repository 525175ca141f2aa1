"""Lanes side by side: no stage twice, none before what it needs; one that fails or is interrupted ends them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo

from tests import tiny_project
from trivium.commands import lanes
from trivium.commands.lanes import STEPS, plan
from trivium.harness.code.command import OWN_STAGE

ROOT = Path(__file__).parents[2]
NEEDS = [("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"), ("e", "c"), ("alone", "")]


def graph_of(needs):
    graph = nx.DiGraph()
    for stage, needed in needs:
        graph.add_node(stage)
        if needed:
            graph.add_edge(stage, needed)
    return graph


def test_what_two_lanes_need_comes_before_them():
    assert plan(graph_of(NEEDS), [[["b"], ["c"]]]) == [[["a"]], [["b"], ["c"]]]


def test_nothing_runs_twice():
    steps = [[["b"], ["alone"]], [["d"], ["e", "d"]]]
    assert plan(graph_of(NEEDS), steps) == [[["a", "b"], ["alone"]], [["c"]], [["d"], ["e"]]]


def test_a_target_that_there_is_not_asks_for_nothing():
    assert plan(graph_of(NEEDS), [[["nothing*"], ["alone"]]]) == [[["alone"]]]


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    with Repo(ROOT) as repo:
        whole = nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)
    whole.remove_node(OWN_STAGE)  # the digests are there before any lane starts
    return whole


@pytest.mark.parametrize("pipeline", STEPS)
def test_every_lane_of_the_project_has_something_to_do(pipeline, graph):
    models = yaml.safe_load((ROOT / "params.yaml").read_text())["complexity"]["finetune"]["models"]
    stages = {*graph, *(f"complexity-answer@{model}-0" for model in models)}  # some only `make thorough` trains
    for targets in (lane for step in STEPS[pipeline] for lane in step):
        assert all(any(fnmatch(stage, target) for stage in stages) for target in targets), targets
    planned = plan(graph, STEPS[pipeline])
    assert [len(step) for step in planned] == [len(step) for step in STEPS[pipeline]]  # and they share no stage
    places = {stage: place for place, step in enumerate(planned) for lane in step for stage in lane}
    assert len(places) == sum(len(lane) for step in planned for lane in step)
    for place, step in enumerate(planned):
        for lane in step:
            for number, stage in enumerate(lane):
                assert all(places[need] < place or need in lane[:number] for need in nx.descendants(graph, stage))


def stage(command, *, needs=()):
    return {"cmd": command, "deps": [f"{need}.txt" for need in needs]}


def written(name, **more):
    return stage(f"{sys.executable} -c \"open('{name}.txt', 'w').write('{name}')\"", **more) | {"outs": [f"{name}.txt"]}


@pytest.fixture
def project(tmp_path, monkeypatch):
    graph = {
        "kvqae-a": written("a"),
        "kvqae-b": written("b", needs="a"),
        "decorrelation-c": written("c"),
        "decorrelation-evaluate": written("d", needs="c"),
        "complexity-e": written("e"),
        "headline": written("headline"),
        "report": written("report"),
    }
    files = {"dvc.yaml": yaml.safe_dump({"stages": graph}), ".gitignore": ""}
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(lanes, "has_gpu", lambda: False)
    return tiny_project.start(tmp_path / "project", files, monkeypatch)


def repro(*arguments):
    """`make repro`'s exit code."""
    with pytest.raises(SystemExit) as ended:
        lanes.main(arguments)
    return ended.value.code


def test_the_lanes_run_to_their_ends(project, monkeypatch):
    assert repro() == 0
    assert {path.stem for path in project.glob("*.txt")} == {*"abcde", "headline", "report"}
    assert set(yaml.safe_load((project / "dvc.lock").read_text())["stages"]) == set(
        yaml.safe_load((project / "dvc.yaml").read_text())["stages"]
    )


def test_where_nothing_has_changed_nothing_starts(project, monkeypatch, capsys):
    assert repro() == 0
    monkeypatch.setattr(lanes, "run", None)
    monkeypatch.setattr(lanes, "finish", None)
    lanes.main([])
    assert capsys.readouterr().out.endswith("Data and pipelines are up to date.\n")
    (project / "e.txt").write_text("changed by hand")
    lanes.main(["decorrelation"])  # another pipeline's stage
    with pytest.raises(TypeError, match="NoneType"):
        lanes.main(["complexity"])


def test_with_a_gpu_stages_run_one_after_the_other(project, monkeypatch):
    monkeypatch.setattr(lanes, "has_gpu", lambda: True)
    monkeypatch.setattr(lanes, "run", None)
    assert repro() == 0
    assert (project / "report.txt").exists()


def test_digests_are_written_before_a_lane_starts(project, monkeypatch):
    """A lane's DVC looks at `code.yaml` and does not run the stage `code`."""
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["code"] = {
        "cmd": "echo code >> ran",
        "outs": [{"code.yaml": {"cache": False}}],
        "always_changed": True,
    }
    for name in set(graph["stages"]) - {"code"}:
        graph["stages"][name]["params"] = [{"code.yaml": [name]}]
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    digests = "".join(f"{name}: a\n" for name in graph["stages"])
    monkeypatch.setattr(lanes, "write_code", lambda *_: (project / "code.yaml").write_text(digests))
    for name in ("ran", "code.yaml"):
        (project / name).unlink(missing_ok=True)
    finished = []
    monkeypatch.setattr(lanes, "finish", lambda pipeline: finished.append(pipeline) or 0)
    assert repro() == 0
    assert finished == [""]
    assert {path.stem for path in project.glob("*.txt")} == set("abcde")
    assert not (project / "ran").exists()


def test_pipelines_that_need_each_other_run_each_stage_once(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["kvqae-b"]["deps"] = ["a.txt", "c.txt"]  # as with a decorrelated CLIP for KVQAE's images
    for name, each in graph["stages"].items():
        each["cmd"] += f" && echo {name} >> ran"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    assert repro() == 0
    assert sorted((project / "ran").read_text().split()) == sorted(graph["stages"])


def test_stages_side_by_side_have_one_worker_each(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    for name in ("kvqae-a", "complexity-e", "decorrelation-c"):
        graph["stages"][name]["cmd"] += f" && echo $STAGE_WORKERS > {name}.workers"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    monkeypatch.setitem(STEPS, "kvqae", [[["kvqae-a"], ["complexity-e"]], [["decorrelation-c"]]])
    assert repro("kvqae") == 0
    workers = {file.stem: file.read_text().strip() for file in project.glob("*.workers")}
    assert workers == {"kvqae-a": "1", "complexity-e": "1", "decorrelation-c": ""}


def test_a_step_that_fails_is_the_last_one(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["kvqae-a"]["cmd"] = "exit 3"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    monkeypatch.setitem(STEPS, "kvqae", [[["kvqae-a"], ["complexity-e"]], [["decorrelation-c"]]])
    assert repro("kvqae") != 0
    assert {path.stem for path in project.glob("*.txt")} == {"e"}  # beside it, and nothing after


@pytest.mark.parametrize("ending", lanes.ENDINGS)
def test_an_interruption_waits_until_the_lanes_are_known(ending):
    came = []
    before = signal.signal(ending, lambda number, _: came.append(number))
    try:
        with lanes.undisturbed():
            os.kill(os.getpid(), ending)
            time.sleep(0.05)
            assert came == []
        assert came == [ending]
        os.kill(os.getpid(), ending)
        assert came == [ending, ending]
    finally:
        signal.signal(ending, before)


def alive(pid):
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc says who runs")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_ends_every_lane(project, tmp_path, ending):
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "dvc").write_text("#!/bin/bash\necho $$ >> pids\nsleep 60\n")
    (binaries / "dvc").chmod(0o755)
    environment = os.environ | {"PATH": f"{binaries}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", "from trivium.commands import lanes; lanes.DVC = ('dvc',); lanes.main([])"],
        cwd=project,
        env=environment,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # tests may run as a job
    )
    pids, deadline = project / "pids", time.monotonic() + 60
    try:
        while not pids.exists() or len(pids.read_text().split()) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(ending)
        assert process.wait(30) != 0
        deadline = time.monotonic() + 10
        running = pids.read_text().split()
        while any(map(alive, running)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [pid for pid in running if alive(pid)] == []
    finally:
        with suppress(ProcessLookupError):
            process.kill()
