"""Which stages a pipeline has, which stage made an output, and which stages that depends on."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import networkx as nx
import yaml

from trivium.core.errors import BadInput

LOCK = "dvc.lock"
PIPELINES = ("kvqae", "construction", "decorrelation", "complexity")
CONSTRUCTION = "kvqae-page_construction"  # the end of that pipeline
PLAIN = re.compile("complexity-plain@").match  # where a scale asks for it, this alone is the pipeline
LAST = {"report", "track"}  # show what there is: they wait for all stages, and need none


def read_lock(project: Path) -> dict[str, Any]:
    """The stages of `dvc.lock` that run a command.

    Raises:
        BadInput: it is not there, or not whole.
    """
    file = project / LOCK
    if not file.is_file():
        raise BadInput("not there: run `make repro` first", file=file)
    try:
        # libyaml, where it is there: PyYAML's own parser takes seconds.
        stages = yaml.load(file.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["stages"]
        return {name: stage for name, stage in stages.items() if stage["cmd"]}
    except (yaml.YAMLError, TypeError, KeyError, AttributeError):
        raise BadInput("it cannot be read; if DVC is writing it, try again in a moment", file=file) from None


def outputs_of(lock: Mapping[str, Any]) -> dict[str, str]:
    """{path of an output: the stage that made it}."""
    return {out["path"]: name for name, stage in lock.items() for out in stage.get("outs", ())}


def behind(lock: Mapping[str, Any], targets: Iterable[str]) -> list[str]:
    """The targets and all stages that they depend on, sorted by name; `lock` as `read_lock` returns it."""
    made_by = outputs_of(lock)
    makers: dict[str, set[str]] = {}  # of what lies at a path, or below it
    for out, stage in made_by.items():
        for path in (out, *folders_of(out)):
            makers.setdefault(path, set()).add(stage)
    stages: set[str] = set()
    waiting = list(targets)
    while waiting:
        stage = waiting.pop()
        if stage in stages:
            continue
        stages.add(stage)
        for path in (dep["path"] for dep in lock[stage].get("deps", ())):
            waiting += makers.get(path, ())
            waiting += [made_by[folder] for folder in folders_of(path) if folder in made_by]
    return sorted(stages)


def folders_of(path: str) -> list[str]:
    """The folders that a path lies in, the innermost first."""
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]


def value_in(tree: Any, key: str) -> Any:
    """The value at a dotted key of parameters as `dvc.lock` has them, numbers for places in lists; or None."""
    for part in key.split("."):
        step = dict(enumerate(tree)) if isinstance(tree, list) else tree
        tree = step.get(int(part) if isinstance(tree, list) else part) if isinstance(step, dict) else None
    return tree


def stages_of(graph: nx.DiGraph, pipeline: str, *, is_invented: bool) -> set[str]:
    """The stages of a pipeline and all that they need, the headline and the page; all of the graph for none."""
    construction = (nx.descendants(graph, CONSTRUCTION) | {CONSTRUCTION}) if CONSTRUCTION in graph else set()
    apart = {stage for stage in construction if nx.ancestors(graph, stage) <= construction | LAST}
    if pipeline == "construction":
        own = {CONSTRUCTION} & set(graph)
    elif pipeline == "complexity" and any(map(PLAIN, graph)):  # the questions have no frames: the rest cannot run
        own = {stage for stage in graph if PLAIN(stage)}
    elif pipeline or not is_invented:
        own = {stage for stage in graph if stage.startswith(f"{pipeline}-" if pipeline else "")} - apart - LAST
    else:
        own = set(graph) - LAST
    return own.union(*(nx.descendants(graph, stage) for stage in own), {"headline", *LAST} & set(graph))
