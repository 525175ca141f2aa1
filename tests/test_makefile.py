"""The Makefile's shell, with stand-ins for DVC and Python."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = {  # they note what they were asked for
    "dvc": 'echo "dvc $*" >> asked\n',
    "python": '[ "$2" = json.tool ] || echo "$*" >> asked\n',
}


@pytest.fixture
def project(tmp_path):
    """A folder whose environment is ready."""
    for name in (
        "Makefile",
        "uv.lock",
        "pyproject.toml",
        "requirements-uv.txt",
        "trivium/decorrelation/painting/worker.py.lock",
        "trivium/commands/in_dvc/__init__.py",
    ):
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
    assert f"no pipeline '{name}': P=kvqae|construction|decorrelation|complexity" in done.stdout
    assert not (project / "asked").exists()


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["repro"], ["-m trivium lanes"]),
        (["repro", "P=kvqae"], ["-m trivium lanes kvqae"]),
        (["repro", "P=construction"], ["-m trivium lanes construction"]),
        (["status"], ["-m stages.code", "dvc status"]),
        (["compare"], ["-m trivium compare"]),
    ],
)
def test_what_a_target_asks_for(project, arguments, asked):
    assert make(project, *arguments).returncode == 0
    assert (project / "asked").read_text().splitlines() == asked


def test_a_run_that_fails_or_is_interrupted_shows_no_headline(project):
    (project / ".venv" / "bin" / "python").write_text('#!/bin/bash\n[ "$2" = json.tool ] && echo shown\nexit 143\n')
    done = make(project, "repro")
    assert done.returncode != 0
    assert "shown" not in done.stdout


def test_clean_keeps_runs_that_wait_for_mlflow_the_copies_of_thorough_and_downloads(project):
    assert make(project, "clean").returncode == 0  # nothing there yet
    for name in ("tracking", "thorough", "downloads", "kvqae.read", "a b"):
        (project / ".work" / name / "deep").mkdir(parents=True)
    assert make(project, "clean").returncode == 0
    assert sorted(path.name for path in (project / ".work").iterdir()) == ["downloads", "thorough", "tracking"]
    assert (project / ".work" / "tracking" / "deep").exists()
