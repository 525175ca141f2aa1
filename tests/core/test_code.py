"""Digests of small made-up packages: what changes them, and what does not."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from trivium.core.code import digest
from trivium.core.code.digest import (
    Code,
    digest_of,
    parts_of,
    read_stages,
    running_digest,
    stage_parts,
    write_code,
)
from trivium.core.code.syntax import SHOWING, read_facts
from trivium.core.errors import BadInput
from trivium.core.parameters import flatten, read_parameters

ROOT = Path(__file__).parents[2]
FILES = {
    "stages/__init__.py": "",
    "stages/fuse.py": "from trivium.measures import fusion\n\nprint(fusion.add(1, 2))\n",
    "stages/train.py": "from trivium.nets.loss import loss\n\nprint(loss(1))\n",
    "trivium/__init__.py": '"""The library."""\n',
    "trivium/measures/__init__.py": "",
    "trivium/measures/fusion.py": "import numpy as np\n\n\ndef add(a, b):\n    return np.add(a, b)\n",
    "trivium/nets/__init__.py": "",
    "trivium/nets/loss.py": 'def loss(x):\n    """A loss."""\n    return 1 - x  # a comment\n',
    "dvc.yaml": "stages:\n  fuse:\n    cmd: python -m stages.fuse\n  train:\n    cmd: python -m stages train --epochs 2\n",
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
    return {name: digest_of(parts) for name, parts in stage_parts(root, Code(root)).items()}


def changed(root: Path, files: dict[str, str]) -> set[str]:
    """The stages whose digest is another one once the files are written."""
    before = digests(root)
    write(root, files)
    after = digests(root)
    return {name for name in after if after[name] != before.get(name)}


def unclaimed_files(code: Code) -> list[str]:
    """Files beside the code that no module names: nothing would run again after a change of them."""
    return sorted({*code.files}.difference(*map(code.files_of, code.modules)))


def reached(root: Path, module: str = "stages.train") -> set[str]:
    return set(Code(root).parts([module]))


@pytest.mark.parametrize(
    "loss",
    [
        'def loss(x):\n    """Another text."""\n    return 1 - x\n',
        "# first\n\ndef loss(\n    x,\n):\n    return (1 -\n        x)\n",
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
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from trivium.measures import fusion", False),
        ('COMMAND = ["python", "-m", "trivium.measures.fusion"]', True),
        ('"""Like trivium.measures.fusion."""', False),
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
        ("trivium/nets/loss.py", 'B = Path(__file__).parent / "bank/a.yaml"', ["trivium/nets/bank/a.yaml"]),
        ("trivium/nets/loss.py", 'B = Path(__file__).parents[1] / "top.csv"', ["trivium/top.csv"]),
        ("trivium/nets/loss.py", 'T = files("trivium.page") / "templates"', ["trivium/page/templates/sub/t.html"]),
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
    params = "readers: {run: [a, c, d], models: {a: {kind: one}, c: {kind: none}}}\n"
    write(root, {"params.yaml": params})
    found = digests(root)
    assert found["answer@c-0"] == found["answer@d-0"] != found["answer@a-0"]  # c and d: all members


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


def test_the_same_wherever_it_lies_and_whatever_the_hash_seed(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "project"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("elsewhere", ".work"))
    assert digests(copy) == digests(root)
    script = "from trivium.core.code.digest import Code, digest_of; from pathlib import Path; import sys\n"
    script += "print(digest_of(Code(Path(sys.argv[1])).parts(['stages.fuse', 'stages.train'])))"
    found = set()
    for seed in ("1", "2"):
        shutil.rmtree(copy / ".work", ignore_errors=True)
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script, str(copy)]
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd="/").stdout)
    assert len(found) == 1


def test_cells_have_dvcs_names(tmp_path: Path) -> None:
    stages = """
stages:
  plain: {cmd: [python -m stages.a, python -m stages.b]}
  listed: {foreach: [a, 1, true, 0.5], do: {cmd: x}}
  mapped: {foreach: '${a.b}', do: {cmd: x}}
  crossed: {matrix: {x: '${a.c}', y: [false], z: [1]}, cmd: x}
"""
    write(tmp_path, {"dvc.yaml": stages, "params.yaml": "a: {b: {k1: {n: 1}, k2: {n: 2}}, c: [u, v]}\n"})
    assert {name for name, *_ in read_stages(tmp_path, read_parameters(tmp_path / "params.yaml"))} == {
        "plain",
        *("listed@a", "listed@1", "listed@true", "listed@0.5"),
        *("mapped@k1", "mapped@k2", "crossed@u-false-1", "crossed@v-false-1"),
    }
    write(tmp_path, {"params.yaml": "a: {}\n"})
    with pytest.raises(BadInput, match=r"dvc.yaml: field 'stages.mapped': cannot be read: .*field 'a.b': no such key"):
        stage_parts(tmp_path, Code(tmp_path))


def test_every_file_beside_the_projects_code_is_named() -> None:
    unclaimed = unclaimed_files(Code(ROOT))
    assert [path for path in unclaimed if not path.startswith("trivium/commands/")] == []  # which no stage reaches


def test_what_only_shows_is_declared_by_names_that_exist() -> None:
    code = Code(ROOT)
    own = [name for name in SHOWING if name.startswith("trivium.")]  # of a module, or of a folder of modules
    assert [name for name in own if not any(f"{module}.".startswith(name) for module in code.modules)] == []
    assert not {"trivium/core/errors.py", "trivium/core/code/digest.py"} & set(code.parts(["stages.kvqae.fuse"]))


def form(source: str) -> str:
    return read_facts(source.encode(), "m.py").form


def test_forms_that_differ_and_do_not() -> None:
    assert form("x = 1_000") == form("x = (1000)")
    assert form("x = 'a' 'b'") == form('x = "ab"') != form('x = b"ab"')
    assert form("f'a' f'{b}'") == form("f'a{b}'") != form("f'{b}a'")
    assert form("x = 1") != form("x = 1.0") != form("x = True")
    assert form("f(a, b)") != form("f(b, a)")
    assert form("{**a}") != form("{None: a}")
    assert form("class A:\n    x: int = 1\n    'about x'") == form("class A:\n    x: int = 1")


def test_the_form_is_the_one_of_every_python() -> None:
    """Computed with 3.11."""
    plain = "class A(B, c=1):\n    async def f(self, a, /, b=1, *c, d: 'é\\u0870' = 2, **e):\n        return f'{a!r:>{b}}x{{'\n"
    assert form(plain).startswith("1b1b4ed23552dad9")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("raise BadInput(f'no {x}', got=x)", "raise BadInput(f'not {x}!', got=x)"),
        ("raise KeyError('no')", "raise KeyError('not so')"),
        ("for a in b:\n    f(a)", "from tqdm import tqdm\nfor a in tqdm(b, desc='b', total=len(b)):\n    f(a)"),
        ("f()", "f()\nbar.update(len(x))"),
        ("f()", "f()\ncontext.tracker.log(step, loss=float(loss) / n)"),
        ("f()", "import mlflow\nfrom trivium.core.tracking import track\nf()"),
        ("f()", "f()\nprint(f'{len(x)} done', file=sys.stderr)"),
        (
            "def f(a):\n    said = f'no {a}'\n    raise BadInput(said)",
            "def f(a):\n    said = f'{a}?'\n    raise BadInput(said)",
        ),
    ],
)
def test_what_only_shows_changes_nothing(before: str, after: str) -> None:
    assert form(before) == form(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("raise BadInput('no', got=x + 1)", "raise BadInput('no', got=x - 1)"),
        ("f()", "f()\nprint(x, file=out)"),
        ("f()", "f()\nprint(next(x))"),
        ("f()", "f()\ntracker.log(step, loss=draw())"),
        ("f()", "f()\nprogress.keep(x)"),
        ("for a in tqdm(b): f(a)", "for a in tqdm(c): f(a)"),
        ("def f(a):\n    b = 'x'\n    g(b)\n    raise E(b)", "def f(a):\n    b = 'y'\n    g(b)\n    raise E(b)"),
    ],
)
def test_what_also_does_something_counts(before: str, after: str) -> None:
    assert form(before) != form(after)


def test_versions_are_those_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"stages/draw.py": "import json, no_such_package, PIL\n"})
    assert Code(root).parts(["stages.fuse"])["package numpy"] == version("numpy")
    packages = {name: entry for name, entry in Code(root).parts(["stages.draw"]).items() if "package" in name}
    assert packages == {"package PIL": version("pillow"), "package no_such_package": "absent"}
    before = digests(root)
    monkeypatch.setattr(digest, "installed_version", lambda name: "0" if name == "numpy" else "1")
    assert {name for name, now in digests(root).items() if now != before[name]} == {"fuse"}


def test_a_running_stage_has_the_digest_of_code_yaml_until_its_code_changes(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.core.code.digest.code_root", lambda: root)
    assert running_digest("train", root) == digests(root)["train"]  # nothing is written
    write_code(root, root)
    assert dict(flatten(read_parameters(root / "code.yaml"))) == digests(root)
    write(root, {"trivium/nets/loss.py": FILES["trivium/nets/loss.py"] + "# another comment\n"})
    assert running_digest("train", root) == digests(root)["train"]
    write(root, {"trivium/nets/loss.py": "loss = 2\n"})
    assert running_digest("fuse", root) == digests(root)["fuse"]
    with pytest.raises(BadInput, match="the code of train was changed: nothing was published"):
        running_digest("train", root)


def test_what_a_function_reaches_is_what_its_module_does() -> None:
    assert parts_of(read_facts) == Code(ROOT).parts(["trivium.core.code.syntax"])
    assert parts_of(version) == parts_of(digests) == {}, "of others, and of tests"
