"""The graph tells the truth: what a stage executes and opens lies in its digest, and an edit changes just what runs it.

The tiny graph's build is recorded (see `recorder/`): which modules each stage executed, which files beside the code it
opened. That record is the oracle for what an edit must change: every stage that ran the module.

Beyond these an edit may change stages of one sort only: those to which the module is led by an import inside a function
or by a name (a registry, a text), and by none at the top of modules. What a run will call a digest cannot know. A cell
that says which members of a registry it loads is not among them. Stage `track` only shows, and opens all there is.
"""

import ast
import builtins
import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from pkgutil import iter_modules

import pytest

from tests.end_to_end.conftest import ROOT, Project
from tests.stage_paths import module_of
from trivium.core.code.digest import OWN, Code, digest_of, read_stages, stage_parts
from trivium.core.code.syntax import is_showing, read_facts
from trivium.core.parameters import read_parameters

SEED, DRAWN = 17, 16
FAMILIES = {
    "trivium.complexity.factors.members",
    "trivium.complexity.readers.kinds",
    "trivium.decorrelation.models.kinds",
    "trivium.decorrelation.painting.fillings",
    "trivium.vision.encoders",
}
TURNED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.Gt, ast.Gt: ast.Lt,
    ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And,
    ast.USub: ast.UAdd, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
Changed = Callable[[Mapping[str, str]], set[str]]


@pytest.fixture(scope="module")
def copy(built: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code and the graph of the built project, to be edited."""
    folder = tmp_path_factory.mktemp("code")
    for name in OWN:
        shutil.copytree(built.folder / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(built.folder / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def covered(copy: Path) -> dict[str, set[str]]:
    """By stage the modules, files and packages in its digest."""
    return {name: set(parts) for name, parts in stage_parts(copy, Code(copy)).items()}


@pytest.fixture(scope="module")
def record(built: Project, copy: Path, covered: dict[str, set[str]]) -> dict[str, set[str]]:
    """By stage the paths of what it executed and opened, but for what is declared to show only."""
    showing = {path for module, path in Code(copy).modules.items() if is_showing(module)}
    paths = defaultdict(set)
    for line in (built.folder / "RECORD").read_text().splitlines():
        stage, path = line.split("\t")
        paths[stage].add(path)
    return {stage: paths[stage] - showing for stage in covered if stage != "track"}


@pytest.fixture(scope="module")
def changed(copy: Path) -> Changed:
    """The stages whose digest is another one where files have other texts."""

    def digests() -> dict[str, str]:
        return {name: digest_of(parts) for name, parts in stage_parts(copy, Code(copy)).items()}

    def of(texts: Mapping[str, str]) -> set[str]:
        originals = {path: (copy / path).read_text() for path in texts}
        try:
            for path, text in texts.items():
                (copy / path).write_text(text)
            after = digests()
        finally:
            for path, text in originals.items():
                (copy / path).write_text(text)
        return {stage for stage in before if before[stage] != after[stage]}

    before = digests()
    return of


def starts(folder: Path) -> dict[str, str]:
    """By stage the module that its command starts."""
    stages = read_stages(folder, read_parameters(folder / "params.yaml"))
    return {name: module_of(command) for name, command, _ in stages if name != "code"}


@pytest.fixture(scope="module")
def always(copy: Path) -> dict[str, set[str]]:
    """By stage the modules that it reaches by imports that are always executed: those outside functions."""
    modules = {str(file.relative_to(copy)): file for name in OWN for file in (copy / name).rglob("*.py")}

    @cache
    def direct(name: str) -> set[str]:
        found = set()
        for node in ast.parse(modules[name].read_text()).body:
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

    @cache
    def reach(start: str) -> set[str]:
        reached, todo = set(), [start]
        while todo:
            current = todo.pop()
            if current not in reached:
                reached.add(current)
                todo += direct(current)
        return reached

    return {stage: reach(f"{start.replace('.', '/')}.py") for stage, start in starts(copy).items()}


class Turn(ast.NodeTransformer):
    """Turns the first operator that it meets; or changes the first constant in place of it, docstrings apart."""

    def __init__(self, constants: bool = False) -> None:
        self.constants, self.turned = constants, False

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if self.turned or not self.constants or not isinstance(node.value, str | int | float):
            return node
        self.turned = True
        return ast.Constant(node.value + ("'" if isinstance(node.value, str) else 1))

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.turned and not self.constants and type(node) in TURNED:
            self.turned = True
            return TURNED[type(node)]()
        return super().generic_visit(node)


def turned(text: str) -> str | None:
    """The module with its first operator turned; None: it has none, or none outside of what only shows."""
    turn = Turn()
    tree = turn.visit(ast.parse(text))
    after = ast.unparse(tree)
    counts = turn.turned and read_facts(after.encode(), "").form != read_facts(text.encode(), "").form
    return after if counts else None


def turned_in_its_class(text: str, name: str) -> str:
    """The module of a member with an operator turned within the class that bears its name, else a constant changed."""
    tree = ast.parse(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    (own,) = [node for node in classes if name in class_values(node)] or list(filter(binds_name, classes))
    for turn in (Turn(), Turn(constants=True)):
        turn.visit(own)
        if turn.turned:
            return ast.unparse(tree)
    raise AssertionError(f"{own.name} has neither an operator nor a constant")


def class_values(node: ast.ClassDef) -> set[object]:
    """The constants that a class binds to its attributes."""
    values = (line.value for line in node.body if isinstance(line, ast.Assign | ast.AnnAssign) and line.value)
    return {each.value for value in values for each in ast.walk(value) if isinstance(each, ast.Constant)}


def binds_name(node: ast.ClassDef) -> bool:
    """Whether a class has an attribute `name`; it may take it from another module."""
    targets = (target for line in node.body if isinstance(line, ast.Assign) for target in line.targets)
    return any(isinstance(each, ast.Name) and each.id == "name" for target in targets for each in ast.walk(target))


def registries(folder: Path) -> dict[str, dict[str, str]]:
    """By the package of each registry its members' names and files; commands load what they run by name, and are none."""
    source = Code(folder)
    declaring = (module for module in source.modules if not module.startswith("trivium.commands."))
    packages = {source.facts(module).declared.get("FAMILY", "") for module in declaring} - {""}
    return {
        package: {
            each.name: source.modules[f"{package}.{each.name}"]
            for each in iter_modules([str(folder / package.replace(".", "/"))])
        }
        for package in packages
    }


def misses(stages: set[str], path: str, record: dict[str, set[str]], always: dict[str, set[str]]) -> dict[str, list]:
    """What is wrong with the stages that an edit of a module changes: nothing, where this is empty."""
    ran = {stage for stage, paths in record.items() if path in paths}
    needless = {stage for stage in stages - ran - {"track"} if path in always[stage]}  # of which there is no record
    found = {"ran it and did not change": sorted(ran - stages), "changed needlessly": sorted(needless)}
    return {problem: where for problem, where in found.items() if where}


def test_what_a_stage_runs_and_opens_lies_in_its_digest(record, covered):
    assert [stage for stage, paths in record.items() if not paths] == [], "every stage was recorded"
    missed = {stage: sorted(paths - covered[stage]) for stage, paths in record.items()}
    assert {stage: paths for stage, paths in missed.items() if paths} == {}


def test_what_did_not_run_is_reached_by_functions_and_names_alone(record, covered, always):
    idle = {stage: (covered[stage] - record[stage]) & always[stage] for stage in record}
    assert {stage: sorted(paths) for stage, paths in idle.items() if paths} == {}


def test_an_operator_in_a_registered_class_changes_the_stages_that_ran_it(copy, changed, record, always):
    found, source, stages = registries(copy), Code(copy), starts(copy)
    assert found.keys() >= FAMILIES
    assert {package for package, members in found.items() if len(members) < 2} == set()
    wrong, edited = {}, 0
    for package, members in found.items():
        cells = {
            stage
            for stage, start in stages.items()
            if "${" in source.facts(start).declared.get("LOADS", {}).get(package, "")
        }
        for name, path in members.items():
            after = changed({path: turned_in_its_class((copy / path).read_text(), name)})
            edited += 1
            problems = misses(after, path, record, always)
            if others := sorted(stage for stage in after & cells if path not in record[stage]):
                problems["load another member"] = others
            if problems:
                wrong[path] = problems
    assert wrong == {}
    assert edited == sum(len([*(copy / package.replace(".", "/")).glob("[!_]*.py")]) for package in found), (
        "no member was left out"
    )


def test_an_operator_in_modules_drawn_by_a_seed_changes_the_stages_that_ran_them(copy, changed, record, always):
    members = {path for each in registries(copy).values() for path in each.values()}
    run = sorted({path for paths in record.values() for path in paths if path.endswith(".py")} - members)
    texts = {path: text for path in run if (text := turned((copy / path).read_text()))}
    wrong = {}
    for path in random.Random(SEED).sample(sorted(texts), DRAWN):
        if problems := misses(changed({path: texts[path]}), path, record, always):
            wrong[path] = problems
    assert wrong == {}


DECORRELATION = {  # reach all models; a captioner may look with a CLIP, which lies among them
    *("decorrelation-base_models", "decorrelation-evaluate", "decorrelation-page_results"),
    "decorrelation-pairs@coco_cv2_grammatical",
}


@pytest.mark.parametrize(
    ("path", "written", "instead", "cells", "others"),
    [
        (
            "trivium/complexity/readers/kinds/extractive.py",
            "return -(starts",
            "return +(starts",
            ("complexity-finetune@camembert-", "complexity-answer@camembert-", "complexity-contrasts@camembert-"),
            set(),
        ),
        (
            "trivium/nets/vse.py",
            "+ images.amax(",
            "- images.amax(",
            ("decorrelation-train@coco_vse_", "decorrelation-retrieve", "decorrelation-base_models"),
            DECORRELATION,
        ),
        (
            "trivium/decorrelation/models/clip.py",
            "= self._loss(",
            "= -self._loss(",
            ("decorrelation-train@coco_clip_", "decorrelation-retrieve"),
            DECORRELATION,
        ),
    ],
    ids=["extractive", "hinge", "clip"],
)
def test_a_loss_changes_what_trains_by_it(copy, changed, record, path, written, instead, cells, others):
    """Those that nothing ran again for, when code was listed by hand: all of them were loaded by their names."""
    text = (copy / path).read_text()
    assert text.count(written) == 1
    ran = {stage for stage, paths in record.items() if path in paths}
    assert ran == {stage for stage in record if stage.startswith(cells)} != set()
    assert changed({path: text.replace(written, instead)}) == ran | others


def test_a_comment_changes_nothing(copy, changed):
    """In every module at once, so that this has all cases of the others."""
    texts = {str(file.relative_to(copy)): file.read_text() for name in OWN for file in (copy / name).rglob("*.py")}
    assert changed({path: f"# A comment.\n{text}\n\n# Another.\n" for path, text in texts.items()}) == set()


def test_significance_leaves_encoders_and_trainings_alone(copy, changed):
    path = "trivium/measures/significance.py"
    after = changed({path: turned((copy / path).read_text())})
    assert "kvqae-evaluate" in after
    apart = ("train", "pretrain", "finetune", "encode", "image_features", "base_models", "inpaint", "world")
    assert [stage for stage in after if any(word in stage.split("@")[0] for word in apart)] == []


def test_another_torch_runs_trainings_again_and_not_tables(copy, changed, monkeypatch):
    before = stage_parts(copy, Code(copy))
    monkeypatch.setattr("trivium.core.code.digest.installed_version", lambda name: "99" if name == "torch" else "1")
    packages = {name: "package torch" in parts for name, parts in before.items()}
    after = {name for name, parts in stage_parts(copy, Code(copy)).items() if parts.get("package torch") == "99"}
    assert after == {name for name, has in packages.items() if has}
    assert any(stage.startswith("decorrelation-train@") for stage in after)
    assert {"kvqae-dpr_pretrain", "kvqae-reader_pretrain@zero_shot"} <= after
    assert not {"complexity-validate", "report"} & after


def is_for_readers(node):
    """Whether it makes an error whose text nothing but a reader reads: not `Unreadable("corrupt")`, which is counted."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name == "BadInput" or (hasattr(builtins, name) and issubclass(getattr(builtins, name), BaseException))


def test_the_wording_of_errors_changes_nothing(copy, changed):
    """In every module at once."""
    texts = {}
    for name in OWN:
        for file in (copy / name).rglob("*.py"):
            tree = ast.parse(file.read_text())
            for node in (
                inner.exc for inner in ast.walk(tree) if isinstance(inner, ast.Raise) and is_for_readers(inner.exc)
            ):
                for text in (inner for inner in ast.walk(node) if isinstance(inner, ast.Constant)):
                    text.value = f"{text.value} indeed" if isinstance(text.value, str) else text.value
            texts[str(file.relative_to(copy))] = ast.unparse(tree)
    assert changed(texts) == set()


def test_tracking_lies_in_no_digest(covered):
    assert [stage for stage, parts in covered.items() if {"trivium/core/tracking.py", "package mlflow"} & parts] == []


def test_the_recorder_is_not_in_the_way():
    """The oracle lies beside the tests; nothing of the project names it."""
    assert not [file for name in OWN for file in (ROOT / name).rglob("*.py") if "TRIVIUM_RECORD" in file.read_text()]
