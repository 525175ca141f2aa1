"""`trivium repro` on small projects: what fails, what is healed, what a kill leaves."""

import os
import random
import signal
import subprocess
import sys
import time

import networkx as nx
import psutil
import pytest
from dvc.repo import Repo

from tests.tiny_project import commit, run, start
from trivium.commands.healing import heal, is_refused
from trivium.commands.selection import CONSTRUCTION, LAST, SECTIONS, progress_line, stages_of

COMMAND = (sys.executable, "-m", "trivium", "repro")


def graph(**commands: str) -> str:
    """A `dvc.yaml` whose stages need `seed`, and those that their commands read, as in `cat a.txt > b.txt`."""
    text = "stages:\n"
    for name, cmd in commands.items():
        needs = ["seed", *(word for word in cmd.split() if word.endswith(".txt") and word != f"{name}.txt")]
        text += f"  {name}:\n    cmd: sleep .3; {cmd}\n    deps: [{', '.join(needs)}]\n    outs: [{name}.txt]\n"
    return text


SIX = graph(
    a="echo a > a.txt",
    b="echo b > b.txt",
    c="cat a.txt b.txt > c.txt",
    d="cat b.txt > d.txt",
    e="cat c.txt > e.txt",
    f="cat e.txt d.txt > f.txt",
)
OUTPUTS = {"a": "a", "b": "b", "c": "ab", "d": "b", "e": "ab", "f": "abb"}


@pytest.fixture
def project(tmp_path, monkeypatch):
    files = {"dvc.yaml": SIX, "params.yaml": "world: {}\n", ".gitignore": ".work/\n", "seed": "1"}
    return start(tmp_path, files, monkeypatch)


def outputs(folder):
    return {name: (folder / f"{name}.txt").read_text().replace("\n", "") for name in OUTPUTS}


def ran(output: str) -> list[str]:
    return [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage '")]


def test_all_runs_once_and_then_nothing(project):
    assert sorted(ran(run("trivium", "repro", folder=project))) == sorted(OUTPUTS)
    assert outputs(project) == OUTPUTS
    assert run("trivium", "repro", folder=project) == "Data and pipelines are up to date.\n"
    assert "up to date" in run("dvc", "status", folder=project)


def test_a_failed_stage_stops_only_what_needs_it(project):
    (project / "dvc.yaml").write_text(SIX.replace("cat b.txt > d.txt", "echo no d >&2; cat b.txt > /dev/null; exit 3"))
    said = run("trivium", "repro", folder=project, fails=True)
    assert said.endswith(
        "These stages failed:\n  d: no d\nThese did not run, because they need one of them:\n  f (needs d)\n"
        "Everything else is done; `make repro` goes on from it.\n"
    )
    assert sorted(ran(said)) == ["a", "b", "c", "d", "e"]
    (project / "dvc.yaml").write_text(SIX)
    assert sorted(ran(run("trivium", "repro", folder=project))) == ["d", "f"]


def test_the_page_shows_no_section_of_an_earlier_run(project):
    """Sections of stages that could not run are gone before the page is put together; their other outputs stay."""
    section, sets = f"{SECTIONS}x.json", "sets"
    (project / "dvc.yaml").write_text(
        f"""
stages:
  base:
    cmd: cp seed base
    deps: [seed]
    outs: [base]
  x-page:
    cmd: mkdir -p {sets} && touch {sets}/a && cp base {section}
    deps: [base]
    outs: [{section}, {sets}]
  report:
    cmd: ls {SECTIONS} > shown
    deps: [{SECTIONS.rstrip("/")}]
    outs: [shown]
"""
    )
    (project / SECTIONS).mkdir(parents=True)
    (project / SECTIONS / "other.json").touch()
    run("trivium", "repro", folder=project)
    assert (project / "shown").read_text() == "other.json\nx.json\n"
    (project / "seed").unlink()
    said = run("trivium", "repro", folder=project, fails=True)
    assert "  x-page (needs base)\n" in said
    assert (project / "shown").read_text() == "other.json\n"
    assert (project / sets / "a").exists()


def test_what_a_kill_left_broken_is_healed_and_nothing_runs_again(project, capsys):
    """The lock cut, emptied or of another shape, before and after a commit has it."""
    run("trivium", "repro", folder=project)
    lock, rwlock = project / "dvc.lock", project / ".dvc/tmp/rwlock"
    whole = lock.read_text()
    lock.write_text("")
    rwlock.write_text("")
    said = run("trivium", "repro", folder=project)
    assert "DVC was killed while it wrote 'rwlock': the file is removed" in said
    assert "DVC refuses 'dvc.lock': it is removed" in said
    assert ran(said) == []
    commit(project)
    for left in ("schema: '2.0'\nstages: [1]\n", whole[: int(0.3 * len(whole))], whole[: int(0.6 * len(whole))]):
        lock.write_text(left)
        rwlock.write_text("")
        with Repo(str(project)) as repo:
            heal(repo)
            assert not is_refused(repo)
        assert not rwlock.exists()
        assert "back from Git" in capsys.readouterr().err or "[1]" not in left  # what is cut may be valid
    assert ran(run("trivium", "repro", folder=project)) == []
    assert outputs(project) == OUTPUTS
    assert "up to date" in run("dvc", "status", folder=project)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_an_interruption_ends_all_processes(project, ending):
    (project / "dvc.yaml").write_text(SIX.replace("sleep .3", "sleep 60"))
    # What is started in the background ignores Ctrl-C, and so would what it starts.
    process = subprocess.Popen(
        COMMAND, cwd=project, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )
    while len(psutil.Process(process.pid).children(recursive=True)) < 5:
        time.sleep(0.1)
    time.sleep(1)
    children = psutil.Process(process.pid).children(recursive=True)
    began = time.monotonic()
    os.killpg(process.pid, ending) if ending == signal.SIGINT else process.send_signal(ending)
    process.wait(10)
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("kills", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_killed_at_any_moment_the_end_is_right(project, kills):
    """Each kill hits the whole group; the folder is emptied whenever a run has ended before."""
    draw = random.Random(kills)
    for _ in range(kills):
        process = subprocess.Popen(COMMAND, cwd=project, start_new_session=True, stdout=subprocess.DEVNULL)
        try:
            process.wait(draw.uniform(0.5, 5))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:
            assert process.returncode == 0
            for name in OUTPUTS:
                (project / f"{name}.txt").unlink()
            run("rm", "-rf", "dvc.lock", ".dvc/cache", folder=project)
    run("trivium", "repro", folder=project)
    assert outputs(project) == OUTPUTS
    assert "up to date" in run("dvc", "status", folder=project)


def test_a_pipeline_brings_what_it_needs_and_leaves_the_construction_of_real_questions_out():
    edges = [("kvqae-read", "kvqae-world"), (CONSTRUCTION, "kvqae-link"), ("kvqae-link", "kvqae-world")]
    edges += [("report", CONSTRUCTION), ("track", "report"), ("complexity-score", "complexity-world")]
    stages = nx.DiGraph([*edges, ("headline", "kvqae-read")])
    kvqae = {"kvqae-read", "kvqae-world", "headline", *LAST}
    assert stages_of(stages, "kvqae", is_invented=True) == kvqae
    assert stages_of(stages, "construction", is_invented=False) == {
        *(CONSTRUCTION, "kvqae-link", "kvqae-world", "headline"),
        *LAST,
    }
    assert stages_of(stages, "", is_invented=True) == set(stages)
    assert stages_of(stages, "", is_invented=False) == set(stages) - {CONSTRUCTION, "kvqae-link"}
    assert stages_of(stages, "complexity", is_invented=True) == {
        "complexity-score",
        "complexity-world",
        "headline",
        *LAST,
    }
    stages.add_edge("complexity-plain@camembert", "complexity-finetune@camembert-0")
    plain = {"complexity-plain@camembert", "complexity-finetune@camembert-0", "headline", *LAST}
    assert stages_of(stages, "complexity", is_invented=True) == plain, "no frames: nothing else can run"


def test_what_is_left_is_shared_by_the_workers_and_at_least_the_longest_stage():
    rest = "left at the sample's scale"
    assert progress_line("a", 33.2, [170, 130], 3, 2) == f"a: 33 s. 1 of 3, about 3 minutes {rest}"  # 170 s, not 150
    assert progress_line("b", 1, [130], 3, 2) == f"b: 1 s. 2 of 3, about 3 minutes {rest}"
    assert progress_line("c", 1, [], 3, 2) == f"c: 1 s. 3 of 3, about 0 minutes {rest}"
