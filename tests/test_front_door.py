import ast
import doctest
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import trivium


def test_the_example_in_the_docstring_holds():
    failed, tried = doctest.testmod(trivium)
    assert tried > 5
    assert failed == 0


def test_importing_the_package_imports_nothing_heavy():
    script = (
        "import sys, trivium\n"
        "dir(trivium)\n"
        "heavy = {'numpy', 'torch', 'pandas', 'pyarrow', 'pydantic', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "rooms = [name for name in sys.modules if name.startswith('trivium.')]\n"
        "assert not rooms, rooms\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", trivium.LAZY)
def test_every_name_is_what_its_owner_has(name):
    assert getattr(trivium, name).__module__ == trivium.LAZY[name]
    assert name in dir(trivium)


def test_a_name_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(AttributeError, match=r"no 'rank' \(choices: BadInput, .*evaluate, fuse"):
        trivium.rank  # noqa: B018


def uses_the_door(file):
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.Import) and any(alias.name == "trivium" for alias in names):
            yield node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "trivium":
            yield from (node.lineno for alias in names if alias.name in trivium.LAZY)


def test_the_house_itself_never_uses_the_front_door():
    files = [file for room in ("trivium", "stages", "sample") for file in Path(room).rglob("*.py")]
    assert {str(file): list(uses_the_door(file)) for file in files if list(uses_the_door(file))} == {}


def test_what_the_docs_show_runs_as_pasted(tmp_path, monkeypatch, capsys):
    (example,) = (
        block
        for block in Path("docs/using.md").read_text("utf-8").split("```python\n")[1:]
        if "trivium.compare" in block
    )
    for name in ("qrels.txt", "validation.qrels"):
        (tmp_path / name).write_text("q1 0 doc7 1\nq2 0 doc8 1\n")
    for name in ("my.run", "text.run", "image.run"):
        (tmp_path / name).write_text("q1 Q0 doc7 1 2.5 tag\nq2 Q0 doc9 1 1.5 tag\n")
    monkeypatch.chdir(tmp_path)
    exec(example.split("```")[0], {})
    assert "b  theirs" in capsys.readouterr().out


def test_the_version_is_the_packages():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert trivium.__version__ == project["version"]
