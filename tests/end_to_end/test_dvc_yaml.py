"""dvc.yaml says the truth: dependencies cover imports, sections exist, every stage is described."""

import ast
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GRAPH = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
STAGES = {name: stage.get("do", stage) for name, stage in GRAPH.items()}


def module_of(stage: dict) -> str:
    words = str(stage["cmd"]).split()
    return words[words.index("-m") + 1]


def file_of(module: str) -> Path | None:
    path = ROOT / Path(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.exists():
            return candidate.relative_to(ROOT)
    return None


def imported(file: Path) -> set[Path]:
    """Files of this project that a file imports, at any depth of its code."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == "stages" and (path := file_of(name)):
                found.add(path)
    return found


def closure(file: Path) -> set[Path]:
    seen, waiting = set(), [file]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += imported(current)
    return {path for path in seen if path.name != "__init__.py"}


# The harness reaches every stage; a change there must not rerun trainings that take days.
FILES = ("atomic.py", "tables.py", "trec.py", "image_shards.py", "matrices.py")
HARNESS = {Path("stages") / name for name in ("stage.py", "tracking.py", "engine.py", "cards.py", *FILES)}


@pytest.mark.parametrize("name", STAGES)
def test_dependencies_cover_imports(name):
    stage = STAGES[name]
    listed = [Path(dep) for dep in stage["deps"]]
    needed = closure(file_of(module_of(stage))) - HARNESS
    missing = {path for path in needed if not any(path == dep or dep in path.parents for dep in listed)}
    assert sorted(map(str, missing)) == []


@pytest.mark.parametrize("name", STAGES)
def test_commands_give_what_main_takes(name):
    stage = STAGES[name]
    tree = ast.parse((ROOT / file_of(module_of(stage))).read_text())
    (main,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
    arguments = zip(main.args.kwonlyargs, main.args.kw_defaults, strict=True)
    taken = {each.arg.replace("_", "-"): default for each, default in arguments}
    given = {word.removeprefix("--") for word in str(stage["cmd"]).split() if word.startswith("--")} - {"metrics"}
    assert sorted(given - set(taken)) == []
    assert sorted(each for each, default in taken.items() if default is None and each not in given) == []


# What code reads beside itself: lists of sources, which no argument names.
READ_BESIDE = {
    Path("trivium/sources/pins.py"): "trivium/sources/pins.yaml",
    Path("trivium/sources/requested.py"): "trivium/sources/requested.yaml",
}


@pytest.mark.parametrize("name", STAGES)
def test_dependencies_cover_lists_of_sources(name):
    """A new revision or digest of what is downloaded must reach the data."""
    stage = STAGES[name]
    files = closure(file_of(module_of(stage)))
    needed = {listed for code, listed in READ_BESIDE.items() if code in files}
    assert sorted(needed - set(stage["deps"])) == []


def test_folders_of_code_are_locked_as_git_has_them():
    """Compiled files in a folder that a stage depends on would rerun it, and all that follows, after every import."""
    lock = yaml.safe_load((ROOT / "dvc.lock").read_text(encoding="utf-8"))
    locked = {
        dep["path"]: dep["nfiles"]
        for stage in lock["stages"].values()
        for dep in stage["deps"]
        if dep["path"].startswith("stages/") and "nfiles" in dep
    }
    tracked = {
        folder: len(
            subprocess.run(
                ["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for folder in locked
    }
    assert locked == tracked
    assert "sample/kvqae" in locked


@pytest.mark.parametrize("name", STAGES)
def test_one_name_everywhere(name):
    """Stage kvqae-passages is trivium/kvqae/knowledge_base/passages.py with section kvqae.passages and metrics/kvqae/passages.json."""
    stage = STAGES[name]
    assert stage["desc"].strip()
    if "-" in name:
        pipeline, short = name.split("-")
        # A cell of a matrix reads a part of its section, the page's fragment reads all of them; a stage on two folders of
        # pictures is one module, with one section.
        section = f"{pipeline}.{module_of(stage).rpartition('.')[2]}."
        read = [f"{name}." for name in stage["params"]]
        assert any(name.startswith(section) or section.startswith(name) for name in read)
        for metric in stage.get("metrics", []):
            ((path, options),) = metric.items()
            assert path.startswith(f"metrics/{pipeline}/{short}")
            assert options["cache"] is False


def test_whoever_learns_from_triviaqa_comes_after_the_check_for_leaks():
    """That check is BM25's: its lists of TriviaQA's questions are needed by all others that read the questions."""
    questions, lists = "data/kvqae/${kvqae.dataset}/triviaqa", "data/kvqae/runs/bm25_triviaqa"
    readers = {name for name, stage in STAGES.items() if questions in stage["deps"]}
    assert readers > {"kvqae-bm25_search", "kvqae-training_pairs", "kvqae-rerank_pretrain", "kvqae-reader_pretrain"}
    assert Path("trivium/kvqae/source_questions.py") in closure(Path("trivium/kvqae/retrieval/bm25_search.py"))
    assert {name for name in readers if lists not in STAGES[name]["deps"]} == {"kvqae-bm25_search"}
