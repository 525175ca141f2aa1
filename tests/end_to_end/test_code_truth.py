"""The graph tells the truth: what a stage executes and opens lies in its digest, and an edit changes just what runs it.

The tiny graph's build is recorded (see `recorder/`): which modules each stage executed, which files beside the code it
opened. That record is the oracle for what an edit must change.
"""

import ast
import random
import shutil
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.end_to_end.conftest import ROOT, Project
from trivium.harness.code.closure import Closures
from trivium.harness.code.digest import Code
from trivium.harness.code.pipeline import Pipeline

SEED, DRAWN = 17, 30
TURNED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.Gt, ast.Gt: ast.Lt,
    ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.USub: ast.UAdd, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@pytest.fixture(scope="module")
def record(built: Project) -> dict[str, set[str]]:
    """By stage the paths of what it executed and opened."""
    paths = defaultdict(set)
    for line in (built.folder / "RECORD").read_text().splitlines():
        stage, path = line.split("\t")
        paths[stage].add(path)
    return paths


@pytest.fixture(scope="module")
def copy(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code and the graph of the built project, to be edited."""
    folder = tmp_path_factory.mktemp("code")
    for name in ("stages", "trivium", "sample"):
        shutil.copytree(built.folder / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", "params.yaml", "uv.lock"):
        shutil.copy(built.folder / name, folder / name)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Of every stage that runs code of the project."""
    pipeline, code = Pipeline(folder), Code(folder)
    parts = {name: pipeline.parts(code, name) for name in pipeline.cells if name != "code"}
    code.save()
    return {name: part.digest for name, part in parts.items() if part}


def test_what_a_stage_runs_and_opens_lies_in_its_digest(built, record):
    pipeline, code = Pipeline(built.folder), Code(built.folder)
    stages = set(pipeline.cells) - {"code"}
    assert stages <= set(record), "every stage was recorded"
    missed = {}
    for stage in stages:
        outside = record[stage] - set(pipeline.parts(code, stage).paths)
        if outside:
            missed[stage] = sorted(outside)
    assert missed == {}


class Turn(ast.NodeTransformer):
    """Turns the first operator that it meets."""

    turned = False

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.turned and type(node) in TURNED:
            self.turned = True
            return TURNED[type(node)]()
        return super().generic_visit(node)


def turned(text: str, inside: str | None = None) -> str | None:
    """The module with one operator turned, in its class of this name if one is given; None: it has no operator."""
    tree, turn = ast.parse(text), Turn()
    for node in tree.body:
        if inside is None or getattr(node, "name", None) == inside:
            turn.visit(node)
    return ast.unparse(tree) if turn.turned else None


def families(folder: Path) -> dict[str, str]:
    """The files of all members of registries, with the family that each belongs to."""
    source = Code(folder).source
    closures = Closures(source)
    found = {}
    for module in source.modules:
        if family := source.facts(module).family:
            found |= {source.modules[member]: family for member in closures.members(family, module).values()}
    return found


def edited(folder: Path, path: str, text: str) -> set[str]:
    """The stages whose digest another text of a module changes."""
    before, original = digests(folder), (folder / path).read_text()
    (folder / path).write_text(text)
    try:
        after = digests(folder)
    finally:
        (folder / path).write_text(original)
    return {stage for stage in before if before[stage] != after[stage]}


def reached_at_import(folder: Path) -> dict[str, set[str]]:
    """By stage the modules that it reaches by imports that are always executed: those outside functions."""
    modules = {str(file.relative_to(folder)): file for name in ("stages", "trivium", "sample")
               for file in (folder / name).rglob("*.py")}  # fmt: skip

    @cache
    def direct(name: str) -> set[str]:
        tree, found = ast.parse(modules[name].read_text()), set()
        for node in tree.body:
            named = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            for each in named:
                parts = each.split(".")
                for depth in range(1, len(parts) + 1):
                    stem = "/".join(parts[:depth])
                    found |= {file for file in (f"{stem}.py", f"{stem}/__init__.py") if file in modules}
        return found

    reached: dict[str, set[str]] = {}

    def reach(name: str) -> set[str]:
        if name not in reached:
            reached[name], todo = set(), [name]
            while todo:
                current = todo.pop()
                if current not in reached[name]:
                    reached[name].add(current)
                    todo += direct(current)
        return reached[name]

    pipeline = Pipeline(folder)
    starts = {
        name: cell.command.split("-m ", 1)[1].split()[0] for name, cell in pipeline.cells.items() if name != "code"
    }
    return {name: reach(f"{start.replace('.', '/')}.py") for name, start in starts.items()}


def cases(folder: Path) -> list[str]:
    """Every registered member, and modules drawn by a seed among those that have an operator."""
    members = sorted(families(folder))
    others = sorted(
        str(file.relative_to(folder))
        for name in ("stages", "trivium", "sample")
        for file in (folder / name).rglob("*.py")
        if str(file.relative_to(folder)) not in members and turned(file.read_text())
    )
    return [member for member in members if turned((folder / member).read_text())] + random.Random(SEED).sample(
        others, DRAWN
    )


def test_an_edit_changes_the_stages_that_run_it_and_no_others(copy, record):
    """What ran it must change. What did not run it may change only where an import inside a function leads to it."""
    wrong, always = {}, reached_at_import(copy)
    for path in cases(copy):
        changed = edited(copy, path, turned((copy / path).read_text()))
        ran = {stage for stage, paths in record.items() if path in paths and stage != "code"}  # it always runs
        needless = {stage for stage in changed - ran if path in always[stage]}
        if ran - changed or needless:
            wrong[path] = {"ran and did not change": sorted(ran - changed), "needlessly": sorted(needless)}
    assert wrong == {}


def test_a_comment_changes_nothing(copy):
    for path in cases(copy):
        text = (copy / path).read_text()
        assert edited(copy, path, f"# A comment.\n{text}\n\n# Another.\n") == set(), path


def test_significance_leaves_encoders_and_trainings_alone(copy):
    path = "trivium/measures/significance.py"
    changed = edited(copy, path, turned((copy / path).read_text()))
    assert "kvqae-evaluate" in changed
    apart = ("train", "pretrain", "finetune", "encode", "image_features", "base_models", "inpaint", "world")
    assert [
        stage for stage in changed if any(word in stage.split("@")[0].replace("training_pairs", "") for word in apart)
    ] == []


def test_another_torch_runs_trainings_again_and_not_tables(copy):
    before, lock = digests(copy), (copy / "uv.lock").read_text()
    version = lock.split('name = "torch"\nversion = "')[1].split('"')[0]
    (copy / "uv.lock").write_text(
        lock.replace(f'name = "torch"\nversion = "{version}"', 'name = "torch"\nversion = "99"')
    )
    try:
        after = digests(copy)
    finally:
        (copy / "uv.lock").write_text(lock)
    changed = {stage for stage in before if before[stage] != after[stage]}
    assert any(stage.startswith("decorrelation-train@") for stage in changed)
    assert {"kvqae-dpr_pretrain", "kvqae-reader_pretrain"} <= changed
    assert not {"complexity-validate", "complexity-partition", "report"} & changed


def test_the_recorder_is_not_in_the_way():
    """The oracle lies beside the tests; nothing of the project names it."""
    assert not [file for name in ("stages", "trivium", "sample") for file in (ROOT / name).rglob("*.py")
                if "TRIVIUM_RECORD" in file.read_text()]  # fmt: skip
