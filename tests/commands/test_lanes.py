"""Lanes side by side: no stage twice, none before what it needs; one that fails or is interrupted ends them."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo

from tests import tiny_project
from trivium.commands import lanes
from trivium.commands.lanes import PIPELINES
from trivium.commands.stage_queue import SECONDS, SHELL, StageQueue, lengths, read_seconds

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    with Repo(ROOT) as repo:
        return nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_every_pipeline_can_be_run_from_the_queue(pipeline, graph):
    """Each stage that it wants has all that it needs, and each runs once; headline and page do with what there is."""
    wanted = graph.subgraph(lanes.needed(graph, pipeline, without=set())).copy()
    assert len(wanted) > 10
    assert all(nx.descendants(graph, stage) <= set(wanted) for stage in set(wanted) - {"headline", SHELL})
    queue, ran = StageQueue(wanted, lengths(wanted, dict.fromkeys(wanted, 1.0))), []
    while queue:
        ran.append(queue.take())
        assert nx.descendants(wanted, ran[-1]) <= set(ran)
        queue.done(ran[-1])
    assert sorted(ran) == sorted(wanted)


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
    monkeypatch.setattr(lanes, "room", lambda: (2, 2))
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
    lanes.main([])
    assert capsys.readouterr().out.endswith("Data and pipelines are up to date.\n")
    (project / "e.txt").write_text("changed by hand")
    lanes.main(["decorrelation"])  # another pipeline's stage
    with pytest.raises(TypeError, match="NoneType"):
        lanes.main(["complexity"])


def noting(project, *commands):
    """Let every stage write its name and what the shell makes of `commands`, on a line of the file `ran`."""
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    for name, each in graph["stages"].items():
        each["cmd"] += " && echo " + " ".join([name, *commands]) + " >> ran"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))


def noted(project):
    return (project / "ran").read_text().splitlines()


def test_with_a_gpu_stages_run_one_after_the_other(project, monkeypatch):
    monkeypatch.setattr(lanes, "has_gpu", lambda: True)
    monkeypatch.setattr(lanes, "room", None)
    monkeypatch.delenv("STAGE_WORKERS", raising=False)
    noting(project, "$STAGE_WORKERS", "$STAGE_NICENESS")
    with Repo(project) as repo:
        graph = nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)
    repro()
    assert noted(project) == lanes.ordered(graph)
    assert noted(project)[-1] == "report"


def test_a_lane_gets_the_stage_with_the_longest_way(project, monkeypatch):
    monkeypatch.setattr(lanes, "room", lambda: (1, 1))
    noting(project)
    (project / SECONDS).parent.mkdir()
    (project / SECONDS).write_text('{"kvqae-a": 1.0, "kvqae-b": 2.0, "decorrelation-c": 9.0, "complexity-e": 4.0}')
    repro()  # the mean of what is known, 4, for evaluate, headline and report
    assert noted(project) == [
        *("decorrelation-c", "complexity-e", "decorrelation-evaluate", "headline", "report", "kvqae-a", "kvqae-b")
    ]


def test_what_stages_took_is_kept_and_those_that_did_not_run_keep_theirs(project):
    edited(project, kvqae_a=written("a") | {"cmd": "sleep 0.4 && " + written("a")["cmd"]})
    repro()
    first = read_seconds(project)
    assert set(first) == set(yaml.safe_load((project / "dvc.yaml").read_text())["stages"])
    assert first["kvqae-a"] > 0.4
    (project / "b.txt").unlink()
    edited(project, complexity_e=written("e") | {"desc": "the same", "cmd": written("e")["cmd"] + " && sleep 0.1"})
    repro()  # b comes out of DVC's cache, e runs
    second = read_seconds(project)
    assert {name for name in first if first[name] != second[name]} == {"complexity-e"}


def test_digests_are_written_before_a_lane_starts(project, monkeypatch):
    """DVC would compare with an older `code.yaml`, and start nothing; the stage `code` comes first of all."""
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["code"] = {
        "cmd": "cp digests code.yaml",
        "outs": [{"code.yaml": {"cache": False}}],
        "always_changed": True,
    }
    for name in set(graph["stages"]) - {"code"}:
        graph["stages"][name]["params"] = [{"code.yaml": [name]}]
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    noting(project)

    def digests(digest):
        text = "".join(f"{name}: {digest}\n" for name in graph["stages"])
        (project / "digests").write_text(text)
        monkeypatch.setattr(lanes, "write_code", lambda *_: (project / "code.yaml").write_text(text))

    digests("a")
    repro()
    assert noted(project)[0] == "code"
    assert sorted(noted(project)) == sorted(graph["stages"])
    (project / "ran").unlink()
    repro()
    assert not (project / "ran").exists()
    digests("b")
    repro()
    assert noted(project)[0] == "code"
    assert sorted(noted(project)) == sorted(graph["stages"])


def test_pipelines_that_need_each_other_run_each_stage_once(project, monkeypatch):
    graph = yaml.safe_load((project / "dvc.yaml").read_text())
    graph["stages"]["kvqae-b"]["deps"] = ["a.txt", "c.txt"]  # as with a decorrelated CLIP for KVQAE's images
    for name, each in graph["stages"].items():
        each["cmd"] += f" && echo {name} >> ran"
    (project / "dvc.yaml").write_text(yaml.safe_dump(graph))
    repro()
    assert sorted((project / "ran").read_text().split()) == sorted(graph["stages"])


def test_workers_follow_the_cores_that_are_idle(project, monkeypatch):
    """Two of four lanes have stages, which share the cores; what then runs alone has them all."""
    monkeypatch.setattr(lanes, "room", lambda: (2, 4))
    monkeypatch.setenv("STAGE_WORKERS", "9")  # of who calls
    waits = "while [ $(ls -d *.here | wc -l) -lt 2 ]; do sleep 0.02; done"
    graph = {
        name: {"cmd": f"touch {name}.here && {waits} && echo {name} $STAGE_WORKERS $STAGE_NICENESS >> ran"}
        for name in ("kvqae-a", "complexity-e")
    }
    graph["complexity-e"]["outs"] = ["complexity-e.here"]
    graph["kvqae-a"]["outs"] = ["kvqae-a.here"]
    last = {"cmd": "echo last $STAGE_WORKERS $STAGE_NICENESS >> ran", "deps": ["kvqae-a.here", "complexity-e.here"]}
    (project / "dvc.yaml").write_text(yaml.safe_dump({"stages": {**graph, "complexity-last": last}}))
    (project / SECONDS).parent.mkdir()
    (project / SECONDS).write_text('{"kvqae-a": 1.0, "complexity-e": 2.0}')
    repro()
    *first, alone = noted(project)
    assert sorted(first) == ["complexity-e 2 0", "kvqae-a 2 3"]
    assert alone == "last 4 0"


@pytest.mark.parametrize(
    ("cores", "gib", "lanes_"), [(1, 64, 1), (2, 2, 2), (2, 64, 2), (8, 5.7, 2), (8, 16, 4), (16, 24, 6), (4, 256, 4)]
)
def test_lanes_follow_cores_and_memory(monkeypatch, cores, gib, lanes_):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(lanes.psutil, "virtual_memory", lambda: SimpleNamespace(total=int(gib * 2**30)))
    assert lanes.room() == (lanes_, cores)


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


def test_what_a_member_of_a_family_made_goes_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [Path("metrics/report/parts/kvqae/prompted") / name for name in ("a.json", "b.json")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert lanes.remove_parts({"kvqae-page_prompted@a", "kvqae-page_results"})
    assert [file.exists() for file in files] == [False, True]
    assert not lanes.remove_parts({"kvqae-page_prompted@a"})


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


KILLS_ITS_LANE = {"cmd": "echo $$ > pid && kill -9 $PPID && sleep 60"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc says who runs")
def test_a_signal_that_another_thread_takes_is_heard():
    """Only the main thread runs handlers of Python's, and nothing interrupts its wait where another one has the signal."""
    code = """
        import os, signal, threading, time
        from multiprocessing.connection import wait
        from trivium.commands.lanes import heard

        took = []
        signal.signal(signal.SIGTERM, lambda number, _: took.append(number))
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # of this thread: the other one takes it
        with heard() as signals:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
            assert wait([signals], timeout=10) == [signals]
            assert took == [signal.SIGTERM]
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60)


def test_a_lane_that_is_killed_fails_its_stage_and_the_other_goes_on(project, capfd):
    edited(project, kvqae_a=KILLS_ITS_LANE)
    fails()
    assert made(project) == {*"cde", "headline", "report"}
    told = capfd.readouterr().err
    assert "a lane was killed by signal 9; the others go on\n" in told
    assert "  kvqae-a: a lane was killed by signal 9 while it ran\n" in told
    assert "  kvqae-b (needs kvqae-a)\n" in told
    assert not alive(int((project / "pid").read_text()))
    edited(project, kvqae_a=written("a"))
    repro()
    assert made(project) == {*"abcde", "headline", "report"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc says who runs")
def test_where_every_lane_is_killed_all_ends(project, monkeypatch):
    monkeypatch.setattr(lanes, "room", lambda: (1, 1))
    edited(project, kvqae_a=KILLS_ITS_LANE)
    with pytest.raises(SystemExit, match="every lane was killed; `make repro` goes on from what is done"):
        lanes.main([])
    assert made(project) == {"c"}  # which came first


def test_where_dvc_cannot_start_nothing_is_called_failed(project, monkeypatch):
    monkeypatch.setattr(lanes, "DVC", (sys.executable, "-c", "raise SystemExit(255)"))
    with pytest.raises(SystemExit, match="DVC ended with 255, see above"):
        lanes.main([])


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
    start = "from trivium.commands import lanes; lanes.DVC, lanes.room = ('dvc',), lambda: (3, 3); lanes.main([])"
    process = subprocess.Popen(
        [sys.executable, "-c", start],
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
