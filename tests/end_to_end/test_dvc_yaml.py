"""dvc.yaml says the truth: code is a digest, parameters are tracked, sections exist, every stage is described."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from tests import stage_paths
from tests.page.parts import undeclared
from tests.stage_paths import read_and_written
from trivium.core.code.digest import OWN, Code, read_stages
from trivium.core.parameters import read_parameters
from trivium.page.contents import ARTICLES, stage_of

ROOT = Path(__file__).parents[2]
GRAPH = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
STAGES = {name: stage.get("do", stage) for name, stage in GRAPH.items() if name != "code"}


def modules_of(stage: dict) -> list[str]:
    return stage_paths.modules_of(str(stage["cmd"]))


def file_of(module: str) -> Path:
    return Path(*module.split(".")).with_suffix(".py")


def read_keys(stage: dict) -> list[str]:
    """The keys of params.yaml that a stage's `params` name."""
    return [key for key in stage["params"] if isinstance(key, str)]


def test_no_code_is_listed_by_hand():
    """What a stage depends on of the code is its digest in code.yaml, under its own name or its cell's."""
    assert not re.search(r"^\s*- (stages|trivium|sample)/", (ROOT / "dvc.yaml").read_text(), re.MULTILINE)
    for name, stage in STAGES.items():
        (keys,) = (each["code.yaml"] for each in stage["params"] if isinstance(each, dict) and "code.yaml" in each)
        group = GRAPH[name]
        if "matrix" in group:
            assert keys == [f"{name}@{'-'.join('${item.' + axis + '}' for axis in group['matrix'])}"]
        elif "foreach" in group:
            assert keys in ([f"{name}@${{key}}"], [f"{name}@${{item}}"])
        else:
            assert keys == [name]


def test_the_stage_of_the_digests_runs_when_anything_that_they_cover_changes():
    """Of packages, `uv.lock` has the versions; which stages there are, `params.yaml` says together with dvc.yaml."""
    assert {*GRAPH["code"]["deps"]} == {*OWN, "uv.lock", "params.yaml"}


def test_the_digests_have_dvcs_names():
    """Every cell has an entry; a cell without one would fail, as DVC finds no such key."""
    with Repo(ROOT) as repo:
        names = {stage.addressing for stage in repo.index.stages}
    assert names == {name for name, *_ in read_stages(ROOT, read_parameters(ROOT / "params.yaml"))}


def test_it_can_be_read():
    lines = (ROOT / "dvc.yaml").read_text().splitlines()
    assert len(lines) < 1350
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == []
    lines = (ROOT / "params.yaml").read_text().splitlines()
    assert len(lines) < 400
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == []


# Wiring, which no user sets: where things lie, and which data set of two the pipeline is about.
WIRING = re.compile(r"\$\{(item(\.\w+)?|key|kvqae\.dataset)\}")


@pytest.mark.parametrize("name", STAGES)
def test_no_path_that_a_user_sets_is_part_of_a_command(name):
    """A folder's name may hold a space or a semicolon."""
    left = WIRING.sub("", str(STAGES[name]["cmd"]))
    values = [get(key) for key in re.findall(r"\$\{([\w.]+)\}", left)]
    assert [value for value in values if isinstance(value, str) and not value.isidentifier()] == []


@pytest.mark.parametrize("scale", sorted((ROOT / "scales").glob("*.yaml")), ids=lambda scale: scale.stem)
def test_what_a_scale_sets_is_tracked(scale):
    """Also what params.yaml leaves to defaults: DVC would not see a key that no stage names."""
    keys = [
        re.sub(r"\$\{[\w.]+\}", "*", key)
        for name, stage in STAGES.items()
        for key in [*read_keys(stage), *re.findall(r"\$\{([a-z][\w.]+)\}", str(GRAPH[name]))]
    ]
    told = [".".join(path) for path in leaves(yaml.safe_load(scale.read_text()))]
    untracked = [key for key in told if not any(fnmatch(f"{key}.", f"{each}.*") for each in keys)]
    assert untracked == [key for key in untracked if key.startswith("run.")]  # of the harness


def leaves(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict) and tree:
        for key, value in tree.items():
            yield from leaves(value, (*path, str(key)))
    else:
        yield path


def get(key: str) -> object:
    node = yaml.safe_load((ROOT / "params.yaml").read_text())
    for part in key.split("."):
        node = node[part]
    return node


@pytest.mark.parametrize("name", STAGES)
def test_what_stands_elsewhere_is_tracked(name):
    """A stage's values that stand outside its section are parameters of it in dvc.yaml, too."""
    modules = [import_module(module) for module in modules_of(STAGES[name]) if module != "stages.track"]
    models = [stage_paths.section_and_model(module)[1] for module in modules]
    wanted = {re.sub(r"\{\w+\}.*", "", key) for model in models for key in model.places.values()}
    items = GRAPH[name].get("foreach", {})
    cells = [item for item in items.values() if isinstance(item, dict)] if isinstance(items, dict) else []
    of_cells = {str(value) for item in cells for value in item.values()}  # a cell may name the key that it reads
    tracked = [re.sub(r"\$\{.*", "", key).rstrip(".") for key in read_keys(STAGES[name])]
    missing = {
        key
        for key in wanted
        if not any(f"{key}.".startswith(f"{each}.") for each in tracked if each)
        and not any(value.startswith(key) for value in of_cells)
    }
    assert sorted(missing) == []


@pytest.mark.parametrize("name", STAGES)
def test_commands_give_what_main_takes(name):
    for module, command in zip(modules_of(STAGES[name]), str(STAGES[name]["cmd"]).split(" && "), strict=True):
        tree = ast.parse((ROOT / file_of(module)).read_text())
        (main,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main")
        arguments = zip(main.args.kwonlyargs, main.args.kw_defaults, strict=True)
        taken = {argument.arg.replace("_", "-"): default for argument, default in arguments}
        given = {word.removeprefix("--") for word in command.split() if word.startswith("--")} - {"metrics", "curves"}
        assert sorted(given - set(taken)) == []
        assert sorted(name for name, default in taken.items() if default is None and name not in given) == []


def test_what_a_stage_reads_and_writes_is_declared():
    """A stage's module holds its paths, dvc.yaml its dependencies and outputs: each path of one lies in the other.

    A file may be written with neighbours: the report's articles lie beside its first page.
    """
    tree = yaml.safe_load((ROOT / "params.yaml").read_text())
    wrong = {}
    with Repo(ROOT) as repo:
        for cell in repo.index.stages:
            if cell.addressing in ("code", "track"):
                continue
            read, written = read_and_written(cell.cmd, tree)
            deps, outs = {dep.def_path for dep in cell.deps}, {out.def_path for out in cell.outs}
            wrong[cell.addressing] = [
                *(path for path in read if not any(_lies_in(path, dep) or _lies_in(dep, path) for dep in deps | outs)),
                *(path for path in written if not any(_lies_in(path, out) or _lies_in(out, path) for out in outs)),
                *(
                    out
                    for out in outs
                    if not any(_lies_in(out, path) or Path(out).parent == Path(path).parent for path in written)
                ),
            ]
    assert {name: paths for name, paths in wrong.items() if paths} == {}


def _lies_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


@pytest.mark.parametrize("name", STAGES)
def test_one_name_everywhere(name):
    """Stage kvqae-fuse is stages/kvqae/fuse.py with section kvqae.fuse and metrics/kvqae/fuse.json."""
    stage = STAGES[name]
    own = name.replace("-", ".")
    modules = modules_of(stage)
    assert f"stages.{own if '-' in name or name == 'track' else f'page.{name}'}" in modules
    assert stage["desc"].strip()
    if "-" in name:
        pipeline, short = name.split("-")
        names = [module.rpartition(".")[2] for module in modules]
        # A cell of a matrix reads a part of its section; a stage on two folders of pictures is one module, with one
        # section; the page's results show the whole file.
        is_whole = "params.yaml" in stage.get("deps", ())
        sections = [f"{pipeline}.page."] if is_whole else [f"{pipeline}.{module}." for module in names]
        read = [f"{key}." for key in read_keys(stage)]
        for section in sections:
            assert any(key.startswith(section) or section.startswith(key) for key in read)
        for metric in stage.get("metrics", []):
            ((path, options),) = metric.items()
            assert path.startswith(f"metrics/{pipeline}/")
            assert options["cache"] is False
        for plot in stage.get("plots", []):
            ((path, options),) = plot.items()
            assert path.startswith(f"metrics/{pipeline}/curves/{short}")
            assert options == {"template": "training", "x": "step", "y": "value"}


def test_every_part_of_the_page_is_a_stage_that_names_all_it_reads():
    """But for metrics of cells, which the folder holds: what is listed comes after the stages that write them."""
    parts = {stage_of(name, part): (name, part) for name, article in ARTICLES.items() for part in article.parts}
    families = {stage_of(name, part): (name, part) for name, article in ARTICLES.items() for part in article.families}
    assert {name for name in STAGES if "-page_" in name} == {*parts, *families}
    for stage, (name, part) in families.items():
        assert GRAPH[stage]["foreach"] == f"${{{ARTICLES[name].families[part]}}}"
        assert STAGES[stage]["outs"] == [f"metrics/report/parts/{name}/{part}/${{key}}.json"]
        assert ARTICLES[name].families[part] in STAGES["report"]["params"]
    for stage, (name, part) in parts.items():
        sets = ["data/decorrelation/sets"] * (stage == "decorrelation-page_results")  # what `trivium odmap` asks
        assert STAGES[stage]["outs"] == [f"metrics/report/parts/{name}/{part}.json", *sets]
        assert set(undeclared(stage)) <= {
            f"metrics/{name}",
            f"data/{name}",
            "data/kvqae/{kvqae.dataset}",
            "params.yaml",
        }
    assert "metrics/report/parts" in STAGES["report"]["deps"]


def test_whoever_learns_from_triviaqa_comes_after_the_check_for_leaks():
    """That check is BM25's: its lists of TriviaQA's questions are needed by all others that read the questions."""
    questions, lists = "data/kvqae/${kvqae.dataset}/triviaqa", "data/kvqae/runs/bm25_triviaqa"
    readers = {name for name, stage in STAGES.items() if questions in stage.get("deps", [])}
    assert readers > {"kvqae-bm25_search", "kvqae-rerank_pretrain", "kvqae-reader_pretrain"}
    reached = Code(ROOT).parts(["stages.kvqae.bm25_search"])
    assert "trivium/kvqae/source_questions.py" in reached
    assert {name for name in readers if lists not in STAGES[name].get("deps", [])} == {"kvqae-bm25_search"}
