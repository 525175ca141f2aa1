"""The Makefile's shell, with stand-ins for DVC and Python."""

import shutil
import subprocess
import sys
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


@pytest.fixture
def checkout(project, monkeypatch):
    """The same with the real Python and the library."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("TQDM_DISABLE", "1")
    program = project / ".venv" / "bin" / "python"
    program.write_text(f'#!/bin/bash\nexec "{sys.executable}" "$@"\n')
    return project


def make(folder, *arguments):
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["kvqea", "kvqae decorrelation", "*"])
def test_a_pipeline_that_there_is_not_runs_nothing(project, name):
    done = make(project, "repro", f"P={name}")
    assert done.returncode != 0
    assert f"no pipeline '{name}': P=kvqae|construction|decorrelation|complexity|kb" in done.stdout
    assert not (project / "asked").exists()


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["repro"], ["-m trivium repro"]),
        (["repro", "P=kvqae"], ["-m trivium repro kvqae"]),
        (["repro", "P=construction"], ["-m trivium repro construction"]),
        (["repro", "P=kb"], ["-m trivium kb --out kb"]),
        (["status"], ["-m stages.code", "dvc status"]),
        (["compare"], ["-m trivium compare"]),
    ],
)
def test_what_a_target_asks_for(project, arguments, asked):
    assert make(project, *arguments).returncode == 0
    assert (project / "asked").read_text().splitlines() == asked


def test_without_a_base_of_ones_own_it_says_how_to_make_one(checkout):
    done = make(checkout, "repro", "P=kb")
    assert done.returncode != 0
    assert "kb: there is no base yet" in done.stderr
    assert "expected `python -m trivium kb FOLDER --out kb`" in done.stderr
    assert not (checkout / "kb").exists()


def test_the_environment_has_the_command_and_the_library_in_any_folder(project, tmp_path_factory):
    shutil.rmtree(project / ".venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=project, check=True)
    shutil.copytree(
        ROOT / "trivium", project / "trivium", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert make(project, "anywhere").returncode == 0
    folder = tmp_path_factory.mktemp("any")
    for words in (["trivium", "--help"], ["python", "-c", "import trivium; print(trivium.__file__)"]):
        command = [project / ".venv" / "bin" / words[0], *words[1:]]
        done = subprocess.run(
            command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
        )
        assert "usage: trivium" in done.stdout or done.stdout.startswith(str(project))


def test_a_run_that_fails_or_is_interrupted_shows_no_headline(project):
    (project / ".venv" / "bin" / "python").write_text('#!/bin/bash\n[ "$2" = json.tool ] && echo shown\nexit 143\n')
    done = make(project, "repro")
    assert done.returncode != 0
    assert "shown" not in done.stdout


def test_clean_keeps_the_copies_of_thorough_and_downloads(project):
    assert make(project, "clean").returncode == 0  # nothing there yet
    for name in ("thorough", "downloads", "kvqae.read", "a b"):
        (project / ".work" / name / "deep").mkdir(parents=True)
    assert make(project, "clean").returncode == 0
    assert sorted(path.name for path in (project / ".work").iterdir()) == ["downloads", "thorough"]
    assert (project / ".work" / "thorough" / "deep").exists()
