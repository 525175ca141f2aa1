"""The Makefile's shell, with stand-ins for DVC and the GPU's driver."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = {  # DVC notes what it was asked for; with the file `slow` it stays at work as a stage does
    "dvc": 'echo "$*" >> asked\n[ "$1" = status ] && exit 1\n[ -e slow ] && { echo $$ >> pids; sleep 60; }\nexit 0\n',
    "nvidia-smi": "exit 1\n",
    "python": "exit 0\n",
}


@pytest.fixture
def project(tmp_path):
    """A folder whose environment is ready."""
    for name in ("Makefile", "uv.lock", "pyproject.toml", "stages/decorrelation/painting/worker.py.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "stages/decorrelation/painting/worker.py").touch()
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, script in PROGRAMS.items():
        (binaries / name).write_text(f"#!/bin/bash\n{script}")
        (binaries / name).chmod(0o755)
    (binaries / ".ready").touch()
    return tmp_path


def make(folder, *arguments):
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["kvqea", "kvqae decorrelation", "*"])
def test_a_pipeline_that_there_is_not_runs_nothing(project, name):
    done = make(project, "repro", f"P={name}")
    assert done.returncode != 0
    assert f"no pipeline '{name}': P=kvqae|decorrelation|complexity" in done.stdout
    assert not (project / "asked").exists()


def test_one_pipeline_runs_by_steps_of_lanes(project):
    done = make(project, "repro", "P=complexity")
    assert done.returncode == 0, done.stderr
    asked = (project / "asked").read_text().splitlines()
    assert asked[:2] == ["status --quiet", "--wait-for-lock repro --glob complexity-base_models"]
    assert sorted(asked[2:4]) == [
        "--wait-for-lock repro --glob complexity-answer@camembert* complexity-answer@mt5* complexity-prompt",
        "--wait-for-lock repro --glob complexity-simulate complexity-answer@minilm*",
    ]
    assert asked[4:] == ["repro --glob complexity-*", "repro --single-item headline report"]


def alive(pid):
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc says who runs")
def test_ctrl_c_ends_every_lane(project):
    (project / "slow").touch()
    process = subprocess.Popen(
        ["make", "repro"],
        cwd=project,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the tests may run as a job that ignores it
    )
    pids, deadline = project / "pids", time.monotonic() + 60
    while not pids.exists() or len(pids.read_text().split()) < 3:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    lanes = pids.read_text().split()
    try:
        os.killpg(process.pid, signal.SIGINT)  # what a terminal does
        assert process.wait(30) != 0
        deadline = time.monotonic() + 10
        while any(map(alive, lanes)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert [lane for lane in lanes if alive(lane)] == []
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert len((project / "asked").read_text().splitlines()) == 4  # the status and the lanes: nothing came after them


def test_clean_keeps_runs_that_wait_for_mlflow_and_the_copies_of_thorough(project):
    assert make(project, "clean").returncode == 0  # nothing there yet
    for name in ("tracking", "thorough", "kvqae.read", "a b"):
        (project / ".work" / name / "deep").mkdir(parents=True)
    assert make(project, "clean").returncode == 0
    assert sorted(path.name for path in (project / ".work").iterdir()) == ["thorough", "tracking"]
    assert (project / ".work" / "tracking" / "deep").exists()
