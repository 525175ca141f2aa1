"""The Makefile's shell, with stand-ins for DVC and the GPU's driver."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = {  # DVC and the lanes note what they were asked for; nothing is up to date
    "dvc": 'echo "$*" >> asked\n[ "$1" != status ]\n',
    "nvidia-smi": "exit 1\n",
    "python": '[ "$2" = json.tool ] || echo "$OMP_NUM_THREADS $*" >> asked\n',
}


@pytest.fixture
def project(tmp_path):
    """A folder whose environment is ready."""
    for name in ("Makefile", "uv.lock", "pyproject.toml", "trivium/decorrelation/painting/worker.py.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "trivium/decorrelation/painting/worker.py").touch()
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name, script in PROGRAMS.items():
        (binaries / name).write_text(f"#!/bin/bash\n{script}")
        (binaries / name).chmod(0o755)
    (binaries / ".ready").touch()
    (tmp_path / ".dvc" / "cache").mkdir(parents=True)
    return tmp_path


def make(folder, *arguments):
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["kvqea", "kvqae decorrelation", "*"])
def test_a_pipeline_that_there_is_not_runs_nothing(project, name):
    done = make(project, "repro", f"P={name}")
    assert done.returncode != 0
    assert f"no pipeline '{name}': P=kvqae|decorrelation|complexity" in done.stdout
    assert not (project / "asked").exists()


@pytest.mark.parametrize(
    ("arguments", "last"),
    [(("repro",), ["repro"]), (("repro", "P=kvqae"), ["repro --glob kvqae-*", "repro --single-item headline report"])],
)
def test_lanes_run_first_where_there_is_no_gpu(project, arguments, last):
    done = make(project, *arguments)
    assert done.returncode == 0, done.stderr
    pipeline = "".join(arguments[1:]).removeprefix("P=")
    lanes = f"1 -m trivium lanes {pipeline}".strip()
    assert (project / "asked").read_text().splitlines() == ["status --quiet", lanes, *last]


def test_where_nothing_has_run_dvc_is_not_asked_what_changed(project):
    (project / ".dvc" / "cache").rmdir()
    assert make(project, "repro").returncode == 0
    assert (project / "asked").read_text().splitlines() == ["1 -m trivium lanes", "repro"]


def test_nothing_comes_after_lanes_that_were_interrupted(project):
    (project / ".venv" / "bin" / "python").write_text("#!/bin/bash\nexit 143\n")
    assert make(project, "repro").returncode != 0
    assert (project / "asked").read_text().splitlines() == ["status --quiet"]


def test_a_gpu_is_for_one_stage_at_a_time(project):
    (project / ".venv" / "bin" / "nvidia-smi").write_text("#!/bin/bash\nexit 0\n")
    assert make(project, "repro").returncode == 0
    assert (project / "asked").read_text().splitlines() == ["repro"]


def test_clean_keeps_runs_that_wait_for_mlflow_the_copies_of_thorough_and_downloads(project):
    assert make(project, "clean").returncode == 0  # nothing there yet
    for name in ("tracking", "thorough", "downloads", "kvqae.read", "a b"):
        (project / ".work" / name / "deep").mkdir(parents=True)
    assert make(project, "clean").returncode == 0
    assert sorted(path.name for path in (project / ".work").iterdir()) == ["downloads", "thorough", "tracking"]
    assert (project / ".work" / "tracking" / "deep").exists()
