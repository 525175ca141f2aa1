"""A small project under DVC with a stage `code`: an edit reruns what reaches it, and a wrong output is never kept."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.tiny_project import commit, run, start

STAGE = """
import os
import sys
from pathlib import Path

from stages.lib import {name}
from trivium.core.code.digest import running_digest

running_digest(os.environ["DVC_STAGE"])
meddle = Path("meddle.txt")
if meddle.exists():
    exec(meddle.read_text())
out = Path(sys.argv[1])
running_digest(os.environ["DVC_STAGE"])
out.write_text(str({name}.value(2)))
"""
FILES = {
    "stages/__init__.py": "",
    "stages/lib/__init__.py": "",
    "stages/lib/double.py": "def value(x):\n    return 2 * x\n",
    "stages/lib/square.py": "def value(x):\n    return x**2\n",
    "stages/first.py": STAGE.format(name="double"),
    "stages/cell.py": STAGE.format(name="square"),
    ".gitignore": "code.yaml\n.work/\n__pycache__/\nmeddle.txt\n",
    ".dvcignore": "__pycache__/\n.work/\n",
    "params.yaml": "cells: {one-a: 1, two_0.5: 2}\nrun: [x, y]\n",
    "dvc.yaml": """
stages:
  code:
    cmd: python -c "from pathlib import Path; from trivium.core.code.digest import *; write_code(Path(), Path())"
    deps: [stages, params.yaml]
    outs:
    - code.yaml: {cache: false}
  first:
    cmd: python -m stages.first first.txt
    params:
    - code.yaml: [first]
    outs: [first.txt]
  cell:
    foreach: ${cells}
    do:
      cmd: python -m stages.cell cell_${key}.txt
      params:
      - code.yaml: ['cell@${key}']
      outs: ['cell_${key}.txt']
  crossed:
    matrix: {name: '${run}', seed: [0, 1]}
    cmd: python -m stages.cell crossed_${item.name}_${item.seed}.txt
    deps: [first.txt]
    params:
    - code.yaml: ['crossed@${item.name}-${item.seed}']
    outs: ['crossed_${item.name}_${item.seed}.txt']
""",
}
CELLS = {"cell@one-a", "cell@two_0.5"}
CROSSED = {f"crossed@{name}-{seed}" for name in "xy" for seed in "01"}
MEDDLE = """
file = Path("stages/lib/double.py")
text = file.read_text()
file.write_text(text.replace("2 * x", "3 * x"))
{name}.value = lambda x: 3 * x
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project after its first run, with the environment that its commands need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # two edits of the same length within a second
        folder = start(tmp_path_factory.mktemp("built"), FILES, patch)
        assert ran(run("dvc", "repro", folder=folder)) == {"first", *CELLS, *CROSSED}
        commit(folder)
        yield folder


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "project")


def ran(output: str) -> set[str]:
    """The stages that DVC's output says it ran, but for `code`."""
    marked = [line.split("'")[1] for line in output.splitlines() if line.startswith("Running stage '")]
    return {*marked} - {"code"}


def edit(project: Path, name: str, before: str, after: str) -> None:
    file = project / "stages" / name
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))


def test_an_edit_reruns_what_reaches_it(project: Path) -> None:
    edit(project, "lib/square.py", "def", "# a comment\ndef")
    assert ran(run("dvc", "repro", folder=project)) == set()
    edit(project, "lib/double.py", "2 * x", "2 + x + x")
    assert ran(run("dvc", "repro", "cell", folder=project)) == set()
    assert ran(run("dvc", "repro", folder=project)) == {"first"} | CROSSED
    edit(project, "lib/square.py", "x**2", "x + x")
    assert ran(run("dvc", "repro", "cell@one-a", folder=project)) == {"cell@one-a"}
    assert ran(run("dvc", "repro", folder=project)) == {"cell@two_0.5"} | CROSSED
    assert "up to date" in run("dvc", "status", "first", "cell", "crossed", folder=project)
    assert "up to date" in run("dvc", "status", folder=project)
    assert "Running" not in run("dvc", "repro", folder=project)


def test_an_experiment_in_a_folder_of_its_own_sees_the_edit(project: Path) -> None:
    edit(project, "lib/square.py", "x**2", "x + x")
    assert ran(run("dvc", "exp", "run", "--temp", folder=project)) == CELLS | CROSSED
    assert ran(run("dvc", "repro", folder=project)) == set()  # the run cache has them


def test_code_edited_while_a_stage_runs_enters_nothing(project: Path) -> None:
    edit(project, "lib/double.py", "2 * x", "2 * x * 1")
    (project / "meddle.txt").write_text(MEDDLE.format(name="double"))
    lock, output = (project / "dvc.lock").read_text(), run("dvc", "repro", "first", folder=project, fails=True)
    assert "the code of first was changed: nothing was published" in output
    entries = yaml.safe_load((project / "dvc.lock").read_text())["stages"]
    assert entries["first"] == yaml.safe_load(lock)["stages"]["first"]
    (project / "meddle.txt").unlink()
    edit(project, "lib/double.py", "3 * x * 1", "2 * x * 1")
    assert ran(run("dvc", "repro", "first", folder=project)) == {"first"}  # not from the run cache
    assert (project / "first.txt").read_text() == "4"


def test_a_stale_code_yaml_is_refused(project: Path) -> None:
    edit(project, "lib/double.py", "2 * x", "5 * x")
    output = run("dvc", "repro", "--force", "--single-item", "first", folder=project, fails=True)
    assert "the code of first was changed" in output
