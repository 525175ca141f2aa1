"""Digests of small made-up packages: what changes them, what does not, and what a guard notices."""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import FrozenInstanceError
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from trivium.core.code import guard, source
from trivium.core.code.closure import unclaimed_files
from trivium.core.code.digest import Code, Parts, code_root, digest_of, versions_of
from trivium.core.code.guard import Guard, _process_started, stage_run_by_dvc
from trivium.core.code.normal import normal_form
from trivium.core.code.packages import locked_versions
from trivium.core.code.pipeline import Cell, Pipeline
from trivium.core.code.source import Source
from trivium.core.code.written import read_digests, write_digests
from trivium.core.errors import BadInput

ROOT = Path(__file__).parents[2]
LATER = float("inf")  # a process that starts when every file is written
FILES = {
    "stages/__init__.py": "",
    "stages/fuse.py": "from trivium.measures import fusion\n\nprint(fusion.add(1, 2))\n",
    "stages/train.py": "from trivium.nets.loss import loss\n\nprint(loss(1))\n",
    "trivium/__init__.py": '"""The library."""\n',
    "trivium/measures/__init__.py": "",
    "trivium/measures/fusion.py": "import numpy as np\n\n\ndef add(a, b):\n    return np.add(a, b)\n",
    "trivium/nets/__init__.py": "",
    "trivium/nets/loss.py": 'def loss(x):\n    """A loss."""\n    return 1 - x  # a comment\n',
    "uv.lock": '[[package]]\nname = "numpy"\nversion = "2.4.0"\n\n[[package]]\nname = "numpy"\nversion = "2.3.0"\n',
    "dvc.yaml": "stages:\n  fuse:\n    cmd: python -m stages.fuse\n  train:\n    cmd: python -m stages.train --epochs 2\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def digests(root: Path) -> dict[str, str]:
    code, pipeline = Code(root), Pipeline(root)
    found = {name: pipeline.parts(code, name) for name in pipeline.cells}
    code.save()
    return {name: parts.digest for name, parts in found.items() if parts}


def changed(root: Path, files: dict[str, str]) -> set[str]:
    """The stages whose digest is another one once the files are written."""
    before = digests(root)
    write(root, files)
    after = digests(root)
    return {name for name in after if after[name] != before.get(name)}


def reached(root: Path, module: str = "stages.train") -> set[str]:
    return set(Code(root).parts([module]).entries)


@pytest.mark.parametrize(
    "loss",
    [
        'def loss(x):\n    """Another text."""\n    return 1 - x\n',
        "# first\n\ndef loss(\n    x,\n):\n    return (1 -\n        x)\n",
        '"""A module."""\ndef loss(x): return 1 - x\n',
    ],
)
def test_how_it_is_written_changes_nothing(root: Path, loss: str) -> None:
    assert changed(root, {"trivium/nets/loss.py": loss}) == set()


def test_an_operator_changes_what_reaches_it(root: Path) -> None:
    assert changed(root, {"trivium/nets/loss.py": "def loss(x):\n    return 1 + x\n"}) == {"train"}


def test_init_counts_where_the_package_is_passed(root: Path) -> None:
    assert changed(root, {"trivium/measures/__init__.py": "K = 1\n"}) == {"fuse"}
    assert changed(root, {"trivium/__init__.py": "K = 1\n"}) == {"fuse", "train"}
    assert changed(root, {"stages/__init__.py": "K = 1\n"}) == {"fuse", "train"}  # of the command itself


@pytest.mark.parametrize(
    ("statement", "counts"),
    [
        ("def late():\n    from trivium.measures.fusion import add\n    return add", True),
        ("import trivium.measures.fusion", True),
        ("from ..measures import fusion", True),
        ("from ..measures.fusion import add", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from trivium.measures import fusion", False),
        ("import typing\nif typing.TYPE_CHECKING:\n    import trivium.measures.fusion", False),
        ("TYPE_CHECKING = 0\nif TYPE_CHECKING:\n    pass\nelse:\n    import trivium.measures.fusion", True),
        ('COMMAND = ["python", "-m", "trivium.measures.fusion"]', True),
        ("APART = 'trivium.measures.fusion'\nCOMMAND = ['python', '-m', APART]", False),
        ("APART = 'trivium.measures.fusion'\nfrom trivium.measures import fusion", True),
        ('"""Like trivium.measures.fusion."""', False),
        ('"""trivium.measures.fusion"""', False),
        ("from trivium import measures", False),
    ],
)
def test_imports(root: Path, statement: str, counts: bool) -> None:
    write(root, {"trivium/nets/loss.py": f"{statement}\n"})
    assert ("trivium/measures/fusion.py" in reached(root)) == counts
    assert ("package numpy" in reached(root)) == counts


@pytest.mark.parametrize(
    ("module", "read", "files"),
    [
        ("trivium/nets/loss.py", 'W = Path(__file__).with_name("words.yaml")', ["trivium/nets/words.yaml"]),
        ("trivium/nets/loss.py", 'B = Path(__file__).parent / "bank"', ["trivium/nets/bank/a.yaml"]),
        ("trivium/nets/loss.py", 'B = Path(__file__).parent / "bank/a.yaml"', ["trivium/nets/bank/a.yaml"]),
        ("trivium/nets/loss.py", 'B = Path(__file__).parents[1] / "top.csv"', ["trivium/top.csv"]),
        ("trivium/nets/loss.py", 'T = files("trivium.page") / "templates"', ["trivium/page/templates/sub/t.html"]),
        ("trivium/nets/loss.py", 'T = PackageLoader("trivium.page")', ["trivium/page/templates/sub/t.html"]),
        ("trivium/nets/loss.py", 'P = "pins.lock.yaml"', []),
        ("trivium/nets/loss.py", 'P = ".hidden"', []),
        (
            "trivium/nets/loss.py",
            'W = Path(__file__).with_name("worker.py")',
            ["trivium/nets/worker.py", "trivium/nets/worker.py.lock"],
        ),
    ],
)
def test_files_beside_the_code(root: Path, module: str, read: str, files: list[str]) -> None:
    beside = {
        "trivium/nets/words.yaml": "a",
        "trivium/nets/bank/a.yaml": "a",
        "trivium/top.csv": "a",
        "trivium/page/__init__.py": "",
        "trivium/page/templates/sub/t.html": "a",
        "trivium/nets/pins.lock.yaml": "a",
        "trivium/nets/.hidden": "a",
        "trivium/nets/__pycache__/words.pyc": "a",
        "trivium/nets/worker.py": "",
        "trivium/nets/worker.py.lock": "a",
    }
    write(root, beside)
    before = reached(root)
    write(root, {module: f"{read}\n"})
    assert reached(root) - before - {"trivium/page/__init__.py"} == set(files)
    for file in files:
        assert changed(root, {file: "changed = 1\n"}) == {"train"}


def test_a_file_that_no_module_names_is_listed(root: Path) -> None:
    write(root, {"trivium/nets/forgotten.csv": ""})
    assert unclaimed_files(Source(root)) == ["trivium/nets/forgotten.csv"]


READERS = {
    "trivium/readers/__init__.py": "",
    "trivium/readers/interface.py": """
from importlib import import_module

FAMILY = "trivium.readers"
KINDS = {"one": "trivium.readers.one"}


def reader_of(kind):
    return import_module(f"{FAMILY}.{kind}")
""",
    "trivium/readers/one.py": "X = 1\n",
    "trivium/readers/two.py": "import trivium.nets.loss\n",
    "stages/answer.py": """
from trivium.readers import interface

LOADS = {"trivium.readers": "readers.models.${item.name}.kind"}
""",
    "stages/page.py": "import trivium.readers.interface\n",
    "params.yaml": "readers: {run: [a, b], models: {a: {kind: one}, b: {kind: two}, c: {kind: three}}}\n",
    "dvc.yaml": """
stages:
  answer:
    matrix: {name: '${readers.run}', seed: [0, 1]}
    cmd: python -m stages.answer --name ${item.name}
  page:
    cmd: python -m stages.page
""",
}


def test_a_cell_has_its_own_member_of_a_family(root: Path) -> None:
    write(root, READERS)
    answers = {"answer@a-0", "answer@a-1", "answer@b-0", "answer@b-1"}
    assert set(digests(root)) == answers | {"page"}
    assert changed(root, {"trivium/readers/one.py": "X = 2\n"}) == {"answer@a-0", "answer@a-1", "page"}
    assert changed(root, {"trivium/nets/loss.py": ""}) == {"answer@b-0", "answer@b-1", "page"}
    assert changed(root, {"trivium/readers/three.py": ""}) == {"page"}
    params = "readers: {run: [a, c, d], models: {a: {kind: [one, two]}, c: {kind: none}}}\n"
    write(root, {"params.yaml": params})
    found = digests(root)
    assert found["answer@c-0"] == found["answer@d-0"] != found["answer@a-0"]  # c and d: all members


def test_loads_must_name_a_family(root: Path) -> None:
    write(root, READERS)
    write(root, {"stages/answer.py": READERS["stages/answer.py"].replace('trivium.readers": ', 'trivium.reader": ')})
    with pytest.raises(
        BadInput, match=r"no family that the stage reaches; got 'trivium.reader' \(choices: trivium.readers"
    ):
        digests(root)


def test_a_registry_stands_beside_its_declaration(root: Path) -> None:
    write(root, READERS)
    interface = "from trivium.core.registry import Registry\n\nREADERS = Registry(FAMILY, 'reader', 'kind')\n"
    registry = "from importlib import import_module\n\nimport_module(input())\n\n\nclass Registry: ...\n"
    write(root, {"trivium/core/__init__.py": "", "trivium/core/registry.py": registry})
    write(root, {"trivium/readers/interface.py": f'FAMILY = "trivium.readers"\n{interface}'})
    assert {"trivium/readers/one.py", "trivium/readers/two.py"} <= reached(root, "stages.page")
    with pytest.raises(BadInput, match=r"no such member; got 'three' \(choices: one, two\)"):
        Code(root).parts(["stages.page"], {"trivium.readers": ["three"]})
    write(root, {"trivium/readers/interface.py": interface})
    with pytest.raises(BadInput, match=r"interface.py:Registry: a module is imported by a computed name"):
        digests(root)


def test_a_computed_import_needs_a_declaration(root: Path) -> None:
    write(root, {"trivium/nets/loss.py": "from importlib import import_module\n\nimport_module(input())\n"})
    with pytest.raises(BadInput, match=r"trivium/nets/loss.py:3: a module is imported by a computed name"):
        digests(root)
    write(root, {"trivium/nets/loss.py": FILES["trivium/nets/loss.py"]})
    write(root, {"stages/train.py": "from importlib import import_module\n\nimport_module(input())\n"})
    with pytest.raises(BadInput, match=r"stages/train.py:3: a module is imported by a computed name"):
        digests(root)
    write(root, {"stages/train.py": FILES["stages/train.py"]})
    write(root, {"trivium/nets/loss.py": "from importlib import import_module\n\nimport_module('json')\n"})
    assert digests(root)
    write(root, {"trivium/nets/loss.py": "FAMILY = 'a' + input()\n"})
    with pytest.raises(BadInput, match=r"loss.py:1: FAMILY is read without importing; expected a text, literally"):
        digests(root)
    write(root, {"trivium/nets/loss.py": "def\n"})
    with pytest.raises(BadInput, match=r"loss.py:1: not Python"):
        digests(root)


@pytest.mark.parametrize(
    "use",
    [
        "load = import_module\nload(input())",
        "list(map(import_module, input().split()))",
        "import_module('.one', input())",
    ],
)
def test_what_imports_may_not_be_handed_on(root: Path, use: str) -> None:
    write(root, {"trivium/nets/loss.py": f"from importlib import import_module\n{use}\n"})
    with pytest.raises(BadInput, match=r"trivium/nets/loss.py:2: a module is imported by a computed name"):
        digests(root)
    write(root, {"trivium/nets/loss.py": "from importlib import import_module as load\nload(input())\n"})
    with pytest.raises(BadInput, match=r"trivium/nets/loss.py:1: a module is imported by a computed name"):
        digests(root)


@pytest.mark.parametrize(
    "use",
    [
        "from importlib.util import find_spec\nfind_spec('numpy.linalg')",
        "import importlib\nimportlib.import_module('numpy.linalg')",
        "__import__('numpy')",
        "COMMAND = ['python', '-m', 'numpy']",
        "COMMAND = ('python', '-m', 'numpy.testing', '--help')",
    ],
)
def test_a_package_counts_that_is_found_or_run_without_an_import(root: Path, use: str) -> None:
    """As complexity's stop words, which are read from spaCy's folder."""
    assert "package numpy" not in reached(root)
    write(root, {"trivium/nets/loss.py": f"{use}\n"})
    assert "package numpy" in reached(root)


def test_a_package_that_is_run_brings_its_main(root: Path) -> None:
    write(root, {"trivium/__main__.py": "import trivium.measures.fusion\n"})
    write(root, {"trivium/nets/loss.py": "COMMAND = ['python', '-m', 'trivium', 'plan']\n"})
    assert {"trivium/__main__.py", "trivium/measures/fusion.py"} <= reached(root)
    write(root, {"dvc.yaml": "stages:\n  plan:\n    cmd: python -m trivium plan\n"})
    assert changed(root, {"trivium/measures/fusion.py": ""}) == {"plan"}


def test_a_lazy_front_door_brings_what_is_asked_for(root: Path) -> None:
    door = 'LAZY = {"add": "trivium.measures.fusion:add", "loss": "trivium.nets.loss"}\n'
    write(root, {"trivium/__init__.py": door, "stages/fuse.py": "from trivium import add\n"})
    assert reached(root, "stages.fuse") & {"trivium/measures/fusion.py", "trivium/nets/loss.py"} == {
        "trivium/measures/fusion.py"
    }
    assert "trivium/measures/fusion.py" not in reached(root)  # stages.train imports trivium.nets.loss
    for everything in ("import trivium", "from trivium import *"):
        write(root, {"stages/fuse.py": f"{everything}\n"})
        assert {"trivium/measures/fusion.py", "trivium/nets/loss.py"} < reached(root, "stages.fuse")
    write(root, {"trivium/__init__.py": "", "trivium/nets/__init__.py": door})
    write(root, {"stages/fuse.py": "import trivium.nets as nets\n"})
    assert {"trivium/measures/fusion.py", "trivium/nets/loss.py"} < reached(root, "stages.fuse")


def test_locked_versions_count(root: Path) -> None:
    assert locked_versions(root / "uv.lock") == {"numpy": ["2.3.0", "2.4.0"]}
    assert Code(root).parts(["stages.fuse"]).entries["package numpy"] == "2.3.0 2.4.0"
    assert changed(root, {"uv.lock": FILES["uv.lock"].replace("2.4.0", "2.4.1")}) == {"fuse"}
    write(root, {"trivium/nets/loss.py": "import json, no_such_package\n"})
    assert {name: v for name, v in Code(root).parts(["stages.train"]).entries.items() if "package" in name} == {
        "package no-such-package": "absent"
    }


def test_a_package_with_dots_and_its_needs_in_the_lock(tmp_path: Path) -> None:
    lock = 'version = 1\n\n[[package]]\nname = "Zope.Interface"\nversion = "5"\n    { name = "six", version = "1" },\n'
    write(tmp_path, {"uv.lock": lock})
    assert locked_versions(tmp_path / "uv.lock") == {"zope-interface": ["5"]}


def test_the_same_wherever_it_lies_and_whatever_the_hash_seed(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "project"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("elsewhere", ".work"))
    assert digests(copy) == digests(root)
    script = "from trivium.core.code.digest import Code; from pathlib import Path; import sys\n"
    script += "print(Code(Path(sys.argv[1])).parts(['stages.fuse', 'stages.train']).digest)"
    found = set()
    for seed in ("1", "2"):
        shutil.rmtree(copy / ".work", ignore_errors=True)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script, str(copy)]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd="/").stdout)
    assert len(found) == 1


def test_a_broken_cache_is_only_slow(root: Path) -> None:
    before = digests(root)
    cache = root / ".work" / "code" / "facts.json"
    good = json.loads(cache.read_text())
    assert good["facts"]
    for broken in ("", "[]", "{", '{"by": 1}', json.dumps({**good, "facts": dict.fromkeys(good["facts"], 3)})):
        cache.write_text(broken)
        (root / ".work" / "code" / "packages.json").write_text(broken)
        assert digests(root) == before


def test_what_was_read_is_kept_until_it_is_too_much(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(module: str) -> set[str]:
        """The sources whose facts are kept once a module is asked for."""
        code = Code(root)
        code.parts([module])
        code.save()
        return set(json.loads((root / ".work" / "code" / "facts.json").read_text())["facts"])

    first = kept("stages.fuse")
    both = kept("stages.train")
    assert first < both
    write(root, {"trivium/nets/loss.py": "loss = 1\n"})
    monkeypatch.setattr(source, "_ENTRIES", len(both))
    assert not first <= kept("stages.train")


def test_normal_forms() -> None:
    def form(source: str) -> str:
        return normal_form(ast.parse(source))

    assert form("x = 1_000") == form("x = (1000)")
    assert form("x = 'a' 'b'") == form('x = "ab"') != form('x = b"ab"')
    assert form("f'a' f'{b}'") == form("f'a{b}'") != form("f'{b}a'")
    assert form("x = 1") != form("x = 1.0") != form("x = True")
    assert form("f(a, b)") != form("f(b, a)")
    assert form("x = None") != form("return_ = None")
    assert form("{**a}") != form("{None: a}")
    assert form("class A:\n    x: int = 1\n    'about x'") == form("class A:\n    x: int = 1")


def test_the_normal_form_is_the_one_of_every_python() -> None:
    """Computed with 3.11; 3.12 and 3.13 gave the same for every file of the project."""
    plain = "class A(B, c=1):\n    async def f(self, a, /, b=1, *c, d: 'é\\u0870' = 2, **e):\n        return f'{a!r:>{b}}x{{' + ''\n"
    assert normal_form(ast.parse(plain)).startswith("4112e74b7204309e")


def guard_of(root: Path, stage: str = "train", started: float = LATER) -> Guard:
    return Guard(root, stage, root, started)


def test_guard_passes_and_needs_no_written_digests(root: Path) -> None:
    guard_of(root).check()
    write_digests(root / "code.yaml", digests(root))
    guard = guard_of(root)
    assert guard.digest == digests(root)["train"]
    write(root, {"trivium/measures/fusion.py": "other = 1\n", "trivium/new.py": ""})  # not of this stage
    guard.check()


def test_guard_edited_before_it_starts(root: Path) -> None:
    write_digests(root / "code.yaml", digests(root))
    write(root, {"trivium/nets/loss.py": "def loss(x):\n    return x\n"})
    with pytest.raises(BadInput, match=r"train: code.yaml has [0-9a-f]{16} for this stage, its code is [0-9a-f]{16}"):
        guard_of(root)
    guard_of(root, "fuse")


def test_guard_edited_while_imported(root: Path) -> None:
    started = (root / "dvc.yaml").stat().st_ctime - 10
    with pytest.raises(BadInput, match=r"code changed while it was imported: .*trivium/nets/loss.py"):
        guard_of(root, started=started)


def test_guard_edited_while_running(root: Path) -> None:
    guard = guard_of(root)
    write(root, {"trivium/nets/loss.py": "import trivium.nets.new\n", "trivium/nets/new.py": ""})
    with pytest.raises(BadInput, match=r"loss.py \(changed\); trivium/nets/new.py \(added\); nothing was published"):
        guard.check()


def test_guard_a_package_while_running(root: Path) -> None:
    guard = guard_of(root, "fuse")
    write(root, {"uv.lock": FILES["uv.lock"].replace("2.4.0", "2.4.1")})
    with pytest.raises(BadInput, match=r"package numpy \(changed\)"):
        guard.check()


def test_guard_edited_and_put_back_while_running(root: Path) -> None:
    guard, file = guard_of(root), root / "trivium/nets/loss.py"
    status, text = file.stat(), file.read_text()
    file.write_text("def loss(x):\n    return x\n")
    file.write_text(text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(BadInput, match=r"replaced and put back while the stage ran: trivium/nets/loss.py; nothing"):
        guard.check()


def test_guard_finds_an_import_that_no_rule_sees(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guard_of(root)
    covered, beyond = ModuleType("trivium.nets.loss"), ModuleType("trivium.measures.fusion")
    covered.__file__, beyond.__file__ = str(root / "trivium/nets/loss.py"), str(root / "trivium/measures/fusion.py")
    monkeypatch.setitem(sys.modules, covered.__name__, covered)
    guard.check()
    monkeypatch.setitem(sys.modules, beyond.__name__, beyond)
    with pytest.raises(BadInput, match=r"train: imported what its digest does not cover: trivium/measures/fusion.py;"):
        guard.check()


def test_guard_comment_while_running(root: Path) -> None:
    guard, file = guard_of(root), root / "trivium/nets/loss.py"
    file.write_text("# a comment\n" + file.read_text())
    guard.check()


def test_the_stage_that_dvc_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for address, stage in {"fuse": "fuse", "a@b-1": "a@b-1", "../dvc.yaml:a@b:c": "a@b:c", "dvc.yaml:x": "x"}.items():
        monkeypatch.setenv("DVC_STAGE", address)
        assert stage_run_by_dvc() == stage
    monkeypatch.delenv("DVC_STAGE")
    assert stage_run_by_dvc() is None


def test_cells_have_dvcs_names(tmp_path: Path) -> None:
    stages = """
stages:
  plain: {cmd: [python -m stages.a, python -m stages.b]}
  listed: {foreach: [a, 1, true, 0.5], do: {cmd: x}}
  composite: {foreach: [{a: 1}, b], do: {cmd: x}}
  mapped: {foreach: '${a.b}', do: {cmd: x}}
  crossed: {matrix: {x: '${a.c}', y: [false, {k: 1}], z: ['${a.b.k1.n}-z']}, cmd: x}
"""
    write(tmp_path, {"dvc.yaml": stages, "params.yaml": "a: {b: {k1: {n: 1}, k2: {n: 2}}, c: [u, v]}\n"})
    assert set(Pipeline(tmp_path).cells) == {
        "plain",
        *("listed@a", "listed@1", "listed@true", "listed@0.5"),
        *("composite@0", "composite@1", "mapped@k1", "mapped@k2"),
        *("crossed@u-false-1-z", "crossed@u-y1-1-z", "crossed@v-false-1-z", "crossed@v-y1-1-z"),
    }
    write(tmp_path, {"params.yaml": "a: {}\n"})
    with pytest.raises(BadInput, match=r"dvc.yaml: field 'stages.mapped': cannot be read: 'a.b'"):
        Pipeline(tmp_path)


def test_a_cell_does_not_change(tmp_path: Path) -> None:
    write(tmp_path, {"dvc.yaml": FILES["dvc.yaml"]})
    assert Pipeline(tmp_path).cells["fuse"] == Cell("fuse", "python -m stages.fuse")
    with pytest.raises(FrozenInstanceError):
        Pipeline(tmp_path).cells["fuse"].command = ""  # type: ignore[misc]


def test_written_digests_come_back(tmp_path: Path) -> None:
    assert read_digests(tmp_path / "code.yaml") == {}
    digests = {"a@x-0.5": "12e4567890123456", "b": "1234567890123456", "é@y-1": "0000000000000001"}
    write_digests(tmp_path / "code.yaml", digests)
    assert read_digests(tmp_path / "code.yaml") == digests
    with pytest.raises(BadInput, match="beginning"):
        write_digests(tmp_path / "code.yaml", {"a": "1", "a.b": "2"})
    (tmp_path / "code.yaml").write_text("[")
    with pytest.raises(BadInput, match="dvc repro code"):
        read_digests(tmp_path / "code.yaml")


def test_the_digest_of_a_function_is_its_modules() -> None:
    assert digest_of(unclaimed_files) == Code(ROOT).parts(["trivium.core.code.closure"]).digest
    own = {Path(__file__).name: hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}
    assert digest_of(digests) == Parts(own).digest  # a test's


def test_the_versions_of_a_module_are_those_installed_and_its_digest_comes_last() -> None:
    module = "trivium.core.tables"
    entries = Code(ROOT).parts([module]).entries
    found = versions_of(module)
    assert list(found)[-1] == module
    assert found.pop(module) == Parts(entries).digest
    assert found == {name.split(" ")[1]: version(name.split(" ")[1]) for name in entries if " " in name}
    assert "pyarrow" in found
    assert list(versions_of(__name__)) == [__name__]


def test_every_file_beside_the_projects_code_is_named() -> None:
    assert unclaimed_files(Source(ROOT)) == []


def test_parts_are_explained_by_their_kinds() -> None:
    entries = {"a/m.py": "1", "a/words.yaml": "2", "package numpy": "2.4.0"}
    parts = Parts(entries).with_setting("run.portable", "intel")
    assert parts.explain().splitlines()[1:] == [
        *("1 modules", "  a/m.py", "1 files", "  a/words.yaml"),
        *("1 packages", "  numpy 2.4.0", "1 settings", "  run.portable intel"),
    ]
    assert Parts(entries).differences(Parts({"a/m.py": "2", "package numpy": "2.4.0", "b": "3"})) == [
        *("a/m.py (changed)", "a/words.yaml (removed)", "b (added)")
    ]
    with pytest.raises(FrozenInstanceError):
        parts.entries = {}  # type: ignore[misc]


def test_a_module_that_is_not_there_is_named(root: Path) -> None:
    with pytest.raises(BadInput, match="no such module; got 'stages.none'; expected a module of stages, trivium"):
        Code(root).parts(["stages.train", "stages.none"])


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("trivium/nets/__init__.py", "from ..measures import fusion"),
        ("trivium/nets/__init__.py", "from .loss import loss\nfrom ..measures.fusion import add"),
        ("trivium/nets/deep/__init__.py", "from ...measures import fusion"),
        ("trivium/nets/deep/m.py", "from ...measures import fusion"),
        ("trivium/nets/deep/m.py", "from .. import loss\nfrom ... import measures\nfrom ...measures import fusion"),
    ],
)
def test_relative_imports_of_packages_and_modules(root: Path, module: str, statement: str) -> None:
    write(root, {"trivium/nets/deep/__init__.py": "", "trivium/nets/deep/m.py": "", module: f"{statement}\n"})
    assert "trivium/measures/fusion.py" in reached(
        root, module.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
    )


def test_a_file_above_counts_only_where_the_module_says_file(root: Path) -> None:
    write(root, {"trivium/top.csv": "a", "trivium/nets/loss.py": 'zeta = "top.csv"\n'})
    assert "trivium/top.csv" not in reached(root)


def test_the_module_is_the_first_that_a_call_tells(root: Path) -> None:
    write(root, {"trivium/nets/loss.py": "import importlib\nimportlib.import_module('numpy', 'scipy')\n"})
    assert {"package numpy", "package scipy"} & reached(root) == {"package numpy"}


def test_guard_minds_when_a_file_came_not_what_it_says_of_its_age(root: Path) -> None:
    for file in [*root.rglob("*.py"), root / "uv.lock"]:
        os.utime(file, (1, 1))
    came = max(file.stat().st_ctime for file in [*root.rglob("*.py"), root / "uv.lock"])
    guard_of(root, started=came + 1).check()
    with pytest.raises(BadInput, match="code changed while it was imported"):
        guard_of(root, started=came - 1)


def test_a_process_knows_when_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    started, clock = psutil.Process().create_time(), time.clock_gettime
    assert abs(_process_started() - started) < 5
    monkeypatch.setattr(guard.time, "clock_gettime", lambda which: clock(which) + 1e6)  # it runs for days
    assert abs(_process_started() - (started - 1e6)) < 5


def test_where_the_system_does_not_tell_a_process_has_not_started_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is younger then; that the code stays as it is from now on is checked all the same."""

    def lack(*_: object) -> None:
        raise FileNotFoundError

    with monkeypatch.context() as system:
        system.setattr(guard.Path, "read_text", lack)
        assert _process_started() == LATER
    with monkeypatch.context() as system:
        system.delattr(guard.time, "CLOCK_BOOTTIME", raising=False)
        assert _process_started() == LATER


def test_without_a_lock_versions_are_those_installed(root: Path) -> None:
    (root / "uv.lock").unlink()
    assert locked_versions(root / "uv.lock") == {}
    assert Code(root).parts(["stages.fuse"]).entries["package numpy"] == version("numpy")


def test_packages_with_capitals_count(root: Path) -> None:
    (root / "stages" / "draw.py").write_text("import PIL\n")
    assert Code(root).parts(["stages.draw"]).entries["package pillow"] == version("pillow")


def test_what_is_installed_is_asked_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = reached(root, "stages.fuse")
    cache = root / ".work" / "code" / "packages.json"
    kept = json.loads(cache.read_text())
    cache.write_text(json.dumps(kept | {"providers": {"numpy": ["other-name"]}}))
    assert "package other-name" in reached(root, "stages.fuse")
    cache.write_text(json.dumps({"environment": "another", "providers": {"numpy": ["other-name"]}}))
    assert reached(root, "stages.fuse") == before


def test_what_is_installed_is_asked_again_once_a_folder_of_packages_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = reached(root, "stages.fuse")
    cache = root / ".work" / "code" / "packages.json"
    cache.write_text(json.dumps(json.loads(cache.read_text()) | {"providers": {"numpy": ["other-name"]}}))
    (root / "site" / "another-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(root / "site")
    assert reached(root, "stages.fuse") == before


@pytest.mark.parametrize("package", ["no_such_package", "ast"])
def test_stages_that_are_no_package_cannot_be_imported(package: str) -> None:
    with pytest.raises(BadInput, match=f"got '{package}'"):
        code_root(package)


@pytest.mark.parametrize(
    ("reference", "names"),
    [("a.0", ["x"]), ("a[1]", ["y"]), ("m.0", ["z"]), ("a[2]", None), ("a.b", None), ("m.1", None), ("s.0", None)],
)
def test_references_choose_from_lists_and_mappings(tmp_path: Path, reference: str, names: list[str] | None) -> None:
    write(tmp_path, {"params.yaml": "a: [[x], [y]]\nm: {'0': [z]}\ns: text\n"})
    write(tmp_path, {"dvc.yaml": f"stages:\n  s: {{foreach: '${{{reference}}}', do: {{cmd: x}}}}\n"})
    if names is None:
        with pytest.raises(BadInput, match=r"field 'stages\.s': cannot be read"):
            Pipeline(tmp_path)
    else:
        assert list(Pipeline(tmp_path).cells) == [f"s@{name}" for name in names]
