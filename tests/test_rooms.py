"""The walls of the house: which room imports which, how thin stages are, and what the rooms say of themselves."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import networkx as nx
import pytest
import yaml

# Each room imports only from those before it; those that share a line know nothing of each other.
ORDER = (
    ("core",),
    ("measures",),
    ("formats",),
    ("nets",),
    ("vision",),
    ("language",),
    ("prompting",),
    ("kvqae", "decorrelation", "complexity"),
    ("bridges",),
    ("sources",),
    ("sample",),
    ("claims",),
    ("page",),
    ("commands",),
    ("stages",),
)
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}
PACKAGES = ("trivium", "sample", "stages")
LINES = 160  # of a stage
# Outside stages/, whose modules are named as in the graph, each of these may name one module, if any.
SAY_NOTHING = {"records", "cells", "data", "world", "statistics"}
SAY_LITTLE = SAY_NOTHING | {"training", "pictures", "clip"}
VAGUE = {"each", "found", "asked", "beside", "elsewhere", "heard", "told", "wanted"}


@cache
def modules() -> dict[str, Path]:
    files = (file for package in PACKAGES for file in Path(package).rglob("*.py"))
    return {".".join(file.with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imported(text: str, name: str, is_package: bool, known: dict[str, Path]) -> set[str]:
    """Modules among `known` that a module's source imports anywhere: inside functions too."""
    found = set()
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module
            members = {f"{base}.{alias.name}" for alias in node.names}
            found |= members & set(known) or {base}
            found |= {base} if members - set(known) else set()
    return (found & set(known)) - {name}


@cache
def imports() -> dict[str, set[str]]:
    known = modules()
    return {
        name: imported(file.read_text("utf-8"), name, file.name == "__init__.py", known) for name, file in known.items()
    }


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "trivium" and len(parts) > 1 else parts[0]


def crossing() -> dict[tuple[str, str], list[str]]:
    """(room, room that it imports) → the imports."""
    doors = defaultdict(list)
    for name, others in imports().items():
        for other in others:
            if room(name) != room(other):
                doors[room(name), room(other)].append(f"{name} imports {other}")
    return doors


def test_every_module_is_in_a_room_of_the_order():
    outside = {"trivium", "trivium.__main__"}  # the front door, and the command
    assert {room(name) for name in set(modules()) - outside} == set(FLOOR)


def test_rooms_import_only_from_rooms_before_them():
    doors = {pair: lines for pair, lines in crossing().items() if "trivium" not in pair and "__main__" not in pair}
    upward = [line for (own, other), lines in doors.items() if FLOOR[other] >= FLOOR[own] for line in lines]
    assert upward == []


def test_no_two_rooms_import_each_other():
    doors = crossing()
    assert [pair for pair in doors if pair[::-1] in doors] == []


def test_the_library_knows_neither_stages_nor_the_sample():
    assert [line for (_, other), lines in crossing().items() for line in lines
            if other in ("stages", "sample") and line.startswith("trivium")] == []  # fmt: skip


def test_only_stages_that_make_raw_data_or_models_import_the_sample():
    made = re.compile(r"stages\.\w+\.(world|triviaqa|sources|base_models|mention_model|annotations|rrt|validate)")
    assert [line for (own, other), lines in crossing().items() for line in lines
            if (own, other) == ("stages", "sample") and not made.match(line)] == []  # fmt: skip


def test_no_modules_import_each_other_in_a_circle():
    graph = nx.DiGraph((name, other) for name, others in imports().items() for other in others)
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []


def test_the_circle_of_lazy_imports_is_seen():
    known = dict.fromkeys(("a", "a.b", "a.c"), Path())
    assert imported("def f():\n    from a import b\n    import a.c", "x", False, known) == {"a.b", "a.c"}
    assert imported("from .c import thing", "a.b", False, known) == {"a.c"}
    assert imported("from a import thing", "a.b", False, known) == {"a"}


@pytest.mark.parametrize("package", [name for name, file in modules().items() if file.name == "__init__.py"])
def test_packages_import_nothing_when_they_are_imported(package):
    body = ast.parse(modules()[package].read_text("utf-8")).body
    eager = [ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    allowed = r"import sys|from typing import|from importlib import"
    if package == "stages":  # before NumPy and torch are imported
        allowed += r"|from trivium\.core\.arithmetic import settle_command$"
    assert [line for line in eager if not re.match(allowed, line)] == []


def test_stages_are_thin():
    lengths = {str(file): len(file.read_text("utf-8").splitlines()) for file in Path("stages").rglob("*.py")}
    assert {file for file, lines in lengths.items() if lines > LINES} == set()


def in_the_graph() -> dict[str, str]:
    stages = yaml.safe_load(Path("dvc.yaml").read_text("utf-8"))["stages"]
    return {name: stage.get("do", stage)["cmd"] for name, stage in stages.items()}


def test_stages_are_named_as_in_the_graph():
    for name, command in in_the_graph().items():
        pipeline, _, stage = name.partition("-")
        module = f"stages {pipeline}.{stage}" if stage else f"stages page.{name}"
        if name in ("code", "track"):
            module = f"stages.{name}"
        assert re.search(rf"python -m {re.escape(module)}(\s|$)", command), f"{name} does not run {module}"


def test_every_stage_module_is_in_the_graph():
    commands = " ".join(in_the_graph().values())
    run = {module.replace(" ", ".") for module in re.findall(r"python -m (stages[ .][\w.]+)", commands)}
    assert {name for name, file in modules().items() if room(name) == "stages" and file.name[0] != "_"} == run


def rooms() -> list[str]:
    top = [f"trivium.{name}" for name in FLOOR if name not in ("sample", "stages")]
    return [*top, "sample", "stages"]


@pytest.mark.parametrize("name", rooms())
def test_a_room_says_what_it_has_who_uses_it_and_what_to_read_first(name):
    text = ast.get_docstring(ast.parse(modules()[name].read_text("utf-8")))
    what, _, rest = text.partition("\n\n")
    assert len(what) > 30
    assert 3 <= len(text.splitlines()) <= 6
    assert "Used by: " in rest
    first = re.search(r"Read \S+( (or|and) \S+)? first", rest)
    assert first, "what to read first"
    for path in re.findall(r"`([\w/]+\.py)`", rest):
        assert (modules()[name].parent / path).exists() or Path(path).exists(), path
    for path in re.findall(r"docs/[\w-]+\.md", rest):
        assert Path(path).exists(), path


def test_a_name_that_says_little_stands_for_one_thing():
    alike = defaultdict(list)
    for name, file in modules().items():
        member = file.parent.name in ("encoders", "kinds")  # of a registry: named as what it is
        if room(name) != "stages" and file.stem in SAY_LITTLE and not member:
            alike[file.stem].append(name)
    assert [names for names in alike.values() if len(names) > 1] == []
    assert alike.keys().isdisjoint(SAY_NOTHING)


def test_hardly_a_name_is_vague():
    """A value is a noun, a function a verb, by the field's words: each of these binds fewer than 30 names."""
    count = Counter()
    for file in modules().values():
        for node in ast.walk(ast.parse(file.read_text())):
            stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            name = node.id if stored else getattr(node, "arg" if isinstance(node, ast.arg) else "name", None)
            count[name] += name in VAGUE
    assert {name: times for name, times in count.items() if times >= 30} == {}
