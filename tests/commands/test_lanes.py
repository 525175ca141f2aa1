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
    """`make repro`, which succeeds."""
    lanes.main(arguments)


def fails(*arguments):
    """`make repro`, which does not."""
    with pytest.raises(SystemExit) as ended:
        lanes.main(arguments)
    assert ended.value.code == 1


def test_the_lanes_run_to_their_ends(project, monkeypatch):
    repro()
    assert {path.stem for path in project.glob("*.txt")} == {*"abcde", "headline", "report"}
    assert set(yaml.safe_load((project / "dvc.lock").read_text())["stages"]) == set(
        yaml.safe_load((project / "dvc.yaml").read_text())["stages"]
    )


def test_where_nothing_has_changed_nothing_starts(project, monkeypatch, capsys):
    repro()
    monkeypatch.setattr(lanes, "run", None)
    monkeypatch.setattr(lanes, "finish", None)
    lanes.main([])
    assert capsys.readouterr().out.endswith("Data and pipelines are up to date.\n")
    (project / "e.txt").write_text("changed by hand")
    lanes.main(["decorrelation"])  # another pipeline's stage
    with pytest.raises(TypeError, match="NoneType"):
        lanes.main(["complexity"])


def test_with_a_gpu_stages_run_one_after_the_other(project, monkeypatch):
    run, ran = lanes.run, []
    monkeypatch.setattr(lanes, "has_gpu", lambda: True)
    monkeypatch.setattr(lanes, "run", lambda several: ran.append(several) or run(several))
    repro()
    ((stages,),) = ran
    assert stages[-1] == "report"
    assert stages.index("kvqae-a") < stages.index("kvqae-b")
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
    monkeypatch.setattr(lanes, "finish", lambda graph, failed: finished.append(set(graph)) or {})
    repro()
    assert finished == [set(graph["stages"])]
    assert {path.stem for path in project.glob("*.txt")} == set("abcde")
    assert not (project / "ran").exists()


def test_pipelines_that_need_each_other_run_each_stage_once(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["kvqae-b"]["deps"] = ["a.txt", "c.txt"]  # as with a decorrelated CLIP for KVQAE's images
    for name, each in graph["stages"].items():
        each["cmd"] += f" && echo {name} >> ran"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    repro()
    assert sorted((project / "ran").read_text().split()) == sorted(graph["stages"])


def test_stages_side_by_side_have_one_worker_each(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    for name in ("kvqae-a", "complexity-e", "decorrelation-c"):
        graph["stages"][name]["cmd"] += f" && echo $STAGE_WORKERS > {name}.workers"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    monkeypatch.setitem(STEPS, "", [[["kvqae-a"], ["complexity-e"]], [["decorrelation-c"]]])
    repro()
    workers = {file.stem: file.read_text().strip() for file in project.glob("*.workers")}
    assert workers == {"kvqae-a": "1", "complexity-e": "1", "decorrelation-c": ""}


def edited(project, **stages):
    """Other fields of some stages, by name with `_` for `-`."""
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    for name, fields in stages.items():
        graph["stages"][name.replace("_", "-")] |= fields
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))


def made(project):
    return {path.stem for path in project.glob("*.txt")}


@pytest.mark.parametrize("gpu", [False, True])
def test_what_fails_stops_only_what_needs_it(project, monkeypatch, capfd, gpu):
    monkeypatch.setattr(lanes, "has_gpu", lambda: gpu)
    edited(
        project,
        kvqae_a={"cmd": "echo started && echo 'a.csv, row 3: not a number' >&2 && exit 3"},
        complexity_e={"deps": ["b.txt"]},  # in another lane than what failed
    )
    fails()
    assert made(project) == {"c", "d", "headline", "report"}
    told = capfd.readouterr().err
    summary = told[told.index("These stages failed:") :].splitlines()
    assert summary[:3] == [
        "These stages failed:",
        "  kvqae-a: a.csv, row 3: not a number",
        "These did not run, because they need one of them:",
    ]
    assert sorted(summary[3:5]) == ["  complexity-e (needs kvqae-a)", "  kvqae-b (needs kvqae-a)"]
    assert set(yaml.safe_load((project / "dvc.lock").read_text())["stages"]) == {
        *("decorrelation-c", "decorrelation-evaluate", "headline", "report"),
    }
    edited(project, kvqae_a=written("a"))
    repro()  # goes on
    assert made(project) == {*"abcde", "headline", "report"}


def test_a_stage_that_says_nothing_fails_with_what_dvc_says(project, capfd):
    edited(project, kvqae_a={"cmd": "exit 3"}, decorrelation_c={"deps": ["nowhere.txt"]})
    fails()
    summary = capfd.readouterr().err.rpartition("These stages failed:")[2]
    assert "  kvqae-a: failed to run: exit 3, exited with 3\n" in summary
    (line,) = (line for line in summary.splitlines() if line.startswith("  decorrelation-c: "))
    assert "nowhere.txt" in line
    assert "  decorrelation-evaluate (needs decorrelation-c)\n" in summary


def test_an_earlier_result_of_what_cannot_run_is_no_input(project, capfd):
    """Its own inputs may have changed: whoever needs it waits."""
    repro()
    edited(project, kvqae_a={"cmd": "exit 3"}, kvqae_b=written("b", needs="a") | {"desc": "later"})
    edited(project, complexity_e=written("e", needs="b") | {"cmd": f"cp b.txt e.txt && echo {sys.executable}"})
    before = (project / "e.txt").stat().st_mtime_ns
    fails()
    assert (project / "e.txt").stat().st_mtime_ns == before
    assert "complexity-e (needs kvqae-a)" in capfd.readouterr().err


def sections(project):
    """Sections of a page as stages: KVQAE's retrieval needs kvqae-b, its sizes nothing; the page lists what there is."""
    parts = {"retrieval": "b.txt", "sizes": "", "construction": "built.txt"}
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    for part, need in parts.items():
        file = f"metrics/report/parts/kvqae/{part}.json"
        graph["stages"][f"kvqae-page_{part}"] = {
            "cmd": f"mkdir -p metrics/report/parts/kvqae && echo {part} > {file}",
            "deps": [need] if need else [],
            "outs": [file],
        }
    graph["stages"]["kvqae-rebuild"] = written("built", needs="a")
    graph["stages"]["report"] = {
        "cmd": "ls metrics/report/parts/kvqae > report.txt",
        "deps": ["metrics/report/parts"],
        "outs": ["report.txt"],
    }
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))


def page(project):
    return sorted(name.removesuffix(".json") for name in (project / "report.txt").read_text().split())


def test_the_page_is_made_of_the_sections_that_there_are(project):
    sections(project)
    repro()
    assert page(project) == ["construction", "retrieval", "sizes"]
    edited(project, kvqae_b={"cmd": "exit 3"})
    fails()
    assert page(project) == ["construction", "sizes"]  # and not the retrieval of the run before
    assert "report" in yaml.safe_load((project / "dvc.lock").read_text())["stages"]
    edited(project, kvqae_b=written("b", needs="a"))
    repro()
    assert page(project) == ["construction", "retrieval", "sizes"]


def test_the_construction_is_a_pipeline_that_others_do_not_need(project, capsys):
    sections(project)
    (project / "params.yaml").write_text("world: {kvqae: hub}\n")
    repro()
    assert page(project) == ["retrieval", "sizes"]
    assert not (project / "built.txt").exists()
    assert "The construction was left out: `make repro P=construction` runs it." in capsys.readouterr().out
    lanes.main([])
    assert capsys.readouterr().out.endswith("Data and pipelines are up to date.\n")
    repro("construction")
    assert page(project) == ["construction", "retrieval", "sizes"]
    (project / "params.yaml").write_text("world: {kvqae: sample}\n")
    edited(project, kvqae_rebuild=written("built", needs="a") | {"cmd": "echo again > built.txt"})
    repro("kvqae")
    assert (project / "built.txt").read_text() == "built"
    repro()
    assert (project / "built.txt").read_text() == "again\n"


def test_the_construction_of_another_world_goes_from_the_page(project):
    sections(project)
    repro()
    edited(project, kvqae_rebuild=written("built", needs="a") | {"cmd": "echo again > built.txt"})
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["kvqae-page_construction"]["cmd"] += " && true"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    (project / "params.yaml").write_text("world: {kvqae: hub}\n")
    repro()
    assert page(project) == ["retrieval", "sizes"]


def test_a_data_set_that_is_learnt_from_is_rebuilt_for_those_who_learn(project):
    sections(project)
    edited(project, kvqae_b=written("b", needs=["a", "built"]))  # kvqae.dataset: rebuilt
    (project / "params.yaml").write_text("world: {kvqae: hub}\n")
    repro("kvqae")
    assert page(project) == ["retrieval", "sizes"]
    assert (project / "built.txt").exists()


def test_the_first_table_stands_before_what_only_later_ones_need(graph):
    order = lanes.ordered(graph)
    assert sorted(order) == sorted(graph)
    assert order[-1] == "report"
    for number, stage in enumerate(order):
        assert nx.descendants(graph, stage) <= set(order[:number])
    first = order[: order.index("kvqae-page_retrieval")]
    assert set(first) == nx.descendants(graph, "kvqae-page_retrieval")
    assert not {"kvqae-rrt", "kvqae-sources", "kvqae-reader_pretrain"} & set(first)


def test_the_constructions_own_stages(graph):
    own = {stage.removeprefix("kvqae-") for stage in lanes.apart(graph)}
    assert own == {
        *("sources", "mention_model", "mentions", "link", "subjects", "candidate_images", "generate"),
        *("annotation_tasks", "annotations", "rebuild", "page_construction"),
    }
    assert not lanes.needed(graph, "kvqae", without=lanes.apart(graph)) & lanes.apart(graph)
    assert lanes.apart(graph) <= lanes.needed(graph, "construction", without=set())


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
