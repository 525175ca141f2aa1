"""A lane is handed stages over a pipe, says how each went, and ends when nobody hands it any more."""

import os
import subprocess
import sys
import time
from multiprocessing import Pipe

import pytest
from dvc.lock import Lock
from dvc.repo import reproduce

from tests import tiny_project
from trivium.commands.lane import PIPE

STAGES = """stages:
  a: {cmd: 'echo a > a.txt && echo $WHO && sleep 0.3', outs: [a.txt]}
  b: {cmd: 'cat a.txt > b.txt', deps: [a.txt], outs: [b.txt]}
  broken: {cmd: exit 3}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    return tiny_project.start(tmp_path / "project", {"dvc.yaml": STAGES, ".gitignore": ""}, monkeypatch)


@pytest.fixture
def lane(project):
    """(the process, our end of its pipe), once it waits for a stage."""
    pipe, its_end = Pipe()
    command = [sys.executable, "-m", "trivium.commands.lane", "--wait-for-lock", "repro", "--single-item"]
    with its_end:
        process = subprocess.Popen(
            [*command, "a", "b", "broken"],
            env=os.environ | {PIPE: str(its_end.fileno())},
            pass_fds=[its_end.fileno()],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    with process, pipe:
        assert pipe.recv() is None
        yield process, pipe
        process.kill()


def handed(pipe, stage, **environment):
    pipe.send((stage, environment))
    return pipe.recv()


def test_stages_run_as_they_are_handed_over(project, lane):
    process, pipe = lane
    seconds, error = handed(pipe, "a", WHO="the first")
    assert seconds > 0.3
    assert error is None
    assert handed(pipe, "broken") == (None, "failed to run: exit 3, exited with 3")
    assert handed(pipe, "a") == (None, None)  # nothing has changed
    assert handed(pipe, "b")[1] is None
    assert (project / "b.txt").read_text() == "a\n"
    pipe.close()
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "the first\n" in said
    assert "stage 'broken' failed: failed to run: exit 3" in said


def test_a_lane_that_waits_holds_no_lock(project, lane):
    lock = Lock(str(project / ".dvc" / "tmp" / "lock"))
    with lock:
        lane[1].send(("a", {}))
        time.sleep(0.5)
        assert not (project / "a.txt").exists()
    assert lane[1].recv()[1] is None
    assert (project / "a.txt").exists()


def test_what_the_lane_replaces_is_still_called_so():
    """DVC calls `_reproduce` by its name, with these options among others, and it calls `_reproduce_stage`."""
    names = reproduce._reproduce.__code__.co_varnames[: reproduce._reproduce.__code__.co_argcount]
    assert {"stages", "graph", "force", "on_error", "force_downstream"} <= set(names)
    assert "_reproduce" in reproduce.reproduce.__wrapped__.__wrapped__.__code__.co_names
    assert callable(reproduce._reproduce_stage)
