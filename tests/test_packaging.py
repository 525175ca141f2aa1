"""What `pip install .` gives: the library with its data files, and the command `trivium`."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from trivium.commands.doctor import find_uv

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


EXTRAS = ("kvqae", "decorrelation", "complexity", "ray")
PAPERS = ("kvqae", "decorrelation", "complexity")


def names(requirements):
    """Distributions, without versions, markers and extras."""
    return {re.split(r"[\[<>=!; ]", each)[0] for each in requirements}


def test_measures_need_no_network_and_no_graph():
    assert not names(PYPROJECT["project"]["dependencies"]) & {"torch", "transformers", "dvc", "mlflow", "gradio", "ray"}


def test_a_clone_has_all_of_the_papers_and_no_more_than_the_extras_name():
    extras = PYPROJECT["project"]["optional-dependencies"]
    assert set(EXTRAS) <= set(extras)
    assert extras["all"] == [f"trivium[{','.join(PAPERS)}]"]
    assert PYPROJECT["dependency-groups"]["all"] == ["trivium[all]"]
    assert "all" in PYPROJECT["tool"]["uv"]["default-groups"]


def test_what_the_library_imports_is_declared():
    """A library that comes with another one leaves with it, too."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    declared = names([*PYPROJECT["project"]["dependencies"], *(each for some in extras.values() for each in some)])
    provided = packages_distributions()
    own = {"trivium", "stages", "sample"}
    foreign = {top for file in Path("trivium").rglob("*.py") for top in imported(file)} - own - sys.stdlib_module_names
    undeclared = {
        top for top in foreign & set(provided)
        if not {name.lower().replace("_", "-").replace(".", "-") for name in provided[top]} & declared
    }  # fmt: skip
    assert undeclared <= {
        *(
            "dvc_data",
            "dvc_objects",
            "markupsafe",
            "jnius",
            "jnius_config",
            "thinc",
        ),  # parts of dvc, jinja2, pyserini and spacy
        "facenet_pytorch",  # the group `faces`: no extra can have it
        "pandas",  # of whoever has frames of PyTerrier, or asks for them
    }


def imported(file):
    """Top-level names of a module's absolute imports."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, as an installer would."""
    uv, folder = find_uv(), tmp_path_factory.mktemp("wheel")
    if uv is None:
        pytest.skip("needs uv")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(name, folder)
    shutil.copytree("trivium", folder / "trivium", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([uv, "build", "--wheel", "--quiet", "--out-dir", folder / "dist", folder], check=True)
    (found,) = (folder / "dist").glob("trivium-*.whl")
    return found


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Install a wheel and an extra into an empty environment; its Python."""

    def install(wheel, extra=""):
        folder = tmp_path_factory.mktemp("environment") / "venv"
        subprocess.run([find_uv(), "venv", "--quiet", "--python", sys.executable, folder], check=True)
        python = folder / "bin" / "python"
        wanted = f"trivium[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
        subprocess.run([find_uv(), "pip", "install", "--quiet", "--python", python, wanted], check=True)
        return python

    return install


def run_alone(python, *words, cwd, code=0):
    """A command of that environment, without this one's; what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(
        [python, *words], cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.mark.slow
def test_the_wheel_holds_the_library_and_its_data_alone(wheel):
    found = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in found if ".dist-info/" not in name} == {"trivium"}
    assert set(DATA) <= set(found)


@pytest.mark.slow
def test_an_empty_environment_measures_and_explains_difficulty(wheel, empty, tmp_path):
    python = empty(wheel)
    quickstart = (
        "import doctest, trivium; print(doctest.testmod(trivium)); trivium.difficulty; trivium.write_difficulty"
    )
    assert "failed=0, attempted=11" in run_alone(python, "-c", quickstart, cwd=tmp_path)
    assert (
        run_alone(python, "-c", "from importlib.util import find_spec; print(find_spec('torch'))", cwd=tmp_path)
        == "None\n"
    )
    trivium = python.parent / "trivium"
    assert "usage: trivium difficulty" in run_alone(trivium, "difficulty", "--help", cwd=tmp_path)
    (tmp_path / "texts").mkdir()
    said = run_alone(trivium, "kb", "texts", "--out", "base", cwd=tmp_path, code=1)
    assert "is missing: `pip install '.[kvqae]'` in a clone" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "modules"),
    [
        ("kvqae", ["trivium.commands.kb", "trivium.commands.kb_models", "trivium.commands.ask_page", "trivium.kvqae.asking.own_base"]),
        ("decorrelation", ["trivium.commands.odmap", "trivium.decorrelation.benchmark.leaderboard", "trivium.prompting.endpoint"]),
        ("complexity", ["trivium.commands.difficulty", "trivium.complexity.readers.interface"]),
        ("ray", ["trivium.core.ray_engine"]),
    ],
)  # fmt: skip
def test_an_extra_has_what_its_commands_import(extra, modules, wheel, empty, tmp_path):
    """Resolved by plain uv, without the overrides of this project."""
    imports = f"import {', '.join(modules)}"
    run_alone(empty(wheel, extra), "-c", imports, cwd=tmp_path)
