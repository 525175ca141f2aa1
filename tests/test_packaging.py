"""What `pip install .` gives: the library with its data files, and the command `trivium`."""

import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

PYPROJECT = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
DATA = sorted(
    str(file) for file in Path("trivium").rglob("*")
    if file.is_file() and file.suffix not in (".py", ".pyc") and not file.name.startswith(".")
    and file.name != "pins.lock.yaml"
)  # fmt: skip


def test_the_command_is_there():
    assert list(PYPROJECT["project"]["scripts"]) == ["trivium"]
    module, _, name = PYPROJECT["project"]["scripts"]["trivium"].partition(":")
    assert callable(getattr(import_module(module), name))


def test_a_clone_builds_nothing():
    assert PYPROJECT["tool"]["uv"]["package"] is False
    lock = tomllib.loads(Path("uv.lock").read_text("utf-8"))
    (own,) = (package for package in lock["package"] if package["name"] == "trivium")
    assert own["source"] == {"virtual": "."}, "uv sync would build the project, and fetch what builds it"


def test_git_keeps_every_data_file():
    """What Git ignores hatchling leaves out of the wheel."""
    assert DATA
    ignored = subprocess.run(["git", "check-ignore", *DATA], capture_output=True, text=True, check=False)
    assert ignored.stdout == ""


@pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling, which builds the wheel")
def test_the_wheel_holds_the_library_and_its_data_alone(tmp_path):
    build = "from hatchling.build import build_wheel; import sys; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], check=True)
    (wheel,) = tmp_path.glob("trivium-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"trivium"}
    assert set(DATA) <= set(names)
