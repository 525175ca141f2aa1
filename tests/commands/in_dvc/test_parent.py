"""Who is killed leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.kill.processes import words
from tests.kill.project import MAKE
from tests.tiny_project import start
from trivium.commands.in_dvc.parent import ENDS_WITH

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")
SLEEPER = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(300)"


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("shell", [False, True], ids=["directly", "through a shell"])
def test_a_process_ends_with_the_one_that_it_was_told(tmp_path, shell):
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    command = [sys.executable, "-c", SLEEPER, str(tmp_path / "up")]
    if shell:
        command = ["bash", "-c", '"$@"; true', "bash", *command]
    child = subprocess.Popen(command, env=os.environ | {ENDS_WITH: str(parent.pid)})
    wait_for((tmp_path / "up").exists)
    [sleeper] = psutil.Process(child.pid).children() if shell else [psutil.Process(child.pid)]
    parent.kill()
    parent.wait()
    child.wait(5)
    assert not psutil.pid_exists(sleeper.pid)


def test_a_process_whose_parent_is_gone_does_not_begin(tmp_path):
    gone = subprocess.Popen(["true"])
    gone.wait()
    child = subprocess.run([sys.executable, "-c", SLEEPER, str(tmp_path / "up")], env={ENDS_WITH: str(gone.pid)})
    assert child.returncode == -signal.SIGTERM
    assert not (tmp_path / "up").exists()


def test_what_it_starts_itself_is_not_bound():
    code = f"import os; print(os.environ.get({ENDS_WITH!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {ENDS_WITH: str(os.getpid())}, capture_output=True, text=True
    )
    assert done.stdout == "None\n"


@pytest.fixture
def running(tmp_path, monkeypatch):
    """Start a command in a project, and wait until its only stage sleeps; the command, and all that it has started."""
    graph = f"stages:\n  a:\n    cmd: {sys.executable} sleep.py up\n    outs: [up]\n"
    files = {"dvc.yaml": graph, "params.yaml": "world: {}\n", "sleep.py": SLEEPER, ".gitignore": ""}
    folder = start(tmp_path / "project", files, monkeypatch)
    monkeypatch.delenv(ENDS_WITH, raising=False)
    started = []

    def begin(*command):
        top = psutil.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started.append(top)
        wait_for(lambda: Path("up").exists() or top.poll() is not None, 60)
        assert top.poll() is None
        started.extend(top.children(recursive=True))
        assert any("sleep.py" in words(process) for process in started)
        return top, started[1:]

    yield begin
    for process in started:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def killed(process, family):
    """Who of the family is there ten seconds after the process was killed."""
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs([each for each in family if each != process], 10)
    return alive


def test_a_stage_ends_with_its_dvc(running):
    assert killed(*running("dvc", "repro")) == []


def test_all_ends_with_make(running):
    assert killed(*running(*MAKE)) == []


def test_all_ends_with_what_starts_the_lanes(running):
    make, family = running(*MAKE)
    (lanes,) = (each for each in family if words(each)[1:4] == ["-m", "trivium", "lanes"])
    assert killed(lanes, [make, *family]) == []
