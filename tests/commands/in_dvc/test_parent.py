"""Who is killed leaves no process behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

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


def test_a_stage_ends_with_its_dvc(tmp_path, monkeypatch):
    graph = f"stages:\n  a:\n    cmd: {sys.executable} sleep.py up\n    outs: [up]\n"
    folder = start(tmp_path / "project", {"dvc.yaml": graph, "sleep.py": SLEEPER, ".gitignore": ""}, monkeypatch)
    dvc = subprocess.Popen(["dvc", "repro"], cwd=folder, stdout=subprocess.DEVNULL)
    wait_for(Path("up").exists)
    family = psutil.Process(dvc.pid).children(recursive=True)
    assert family
    dvc.kill()
    dvc.wait()
    _, alive = psutil.wait_procs(family, 5)
    assert alive == []
