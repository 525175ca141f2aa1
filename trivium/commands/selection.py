"""Which stages of the graph a run has.

The construction of real questions, which asks Wikimedia for hours, runs only when it is asked for by name.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
from dvc.repo import Repo

from trivium.core.code.digest import OWN_STAGE, code_root, write_code
from trivium.core.lock import value_in
from trivium.core.parameters import read_parameters

PIPELINES = ("kvqae", "construction", "decorrelation", "complexity")
CONSTRUCTION = "kvqae-page_construction"  # the end of that pipeline
PLAIN = "complexity-plain@"  # where a scale asks for these cells, they alone are the pipeline
LAST = {"report", "track"}  # show what there is: they wait for all stages, and need none
SECTIONS = "metrics/report/parts/"  # of the page


def read_graph(project: Repo) -> nx.DiGraph:
    """The names of all stages, with the `sections` of the page that each writes; edges lead to what a stage needs."""
    graph = nx.relabel_nodes(project.index.graph, lambda stage: stage.addressing)
    for stage in project.index.stages:
        paths = [out.def_path for out in stage.outs]
        graph.nodes[stage.addressing]["sections"] = [Path(path) for path in paths if path.startswith(SECTIONS)]
    return graph


def select(project: Repo, pipeline: str) -> nx.DiGraph:
    """The part of a project's graph that a pipeline has, all for none; digests of code are written first."""
    is_invented = value_in(read_parameters(Path("params.yaml")), "world.kvqae") in (None, "sample")
    graph = read_graph(project)
    if OWN_STAGE in graph:
        write_code(Path(), code_root())
    return graph.subgraph(stages_of(graph, pipeline, is_invented=is_invented)).copy()


def stages_apart(graph: nx.DiGraph) -> set[str]:
    """The construction and what it alone needs."""
    construction = (nx.descendants(graph, CONSTRUCTION) | {CONSTRUCTION}) if CONSTRUCTION in graph else set()
    return {stage for stage in construction if nx.ancestors(graph, stage) <= construction | LAST}


def stages_of(graph: nx.DiGraph, pipeline: str, *, is_invented: bool) -> set[str]:
    """The stages of a pipeline and all that they need, the headline and the page; all of the graph for none."""
    plain = {stage for stage in graph if stage.startswith(PLAIN)}
    if pipeline == "construction":
        own = {CONSTRUCTION} & set(graph)
    elif pipeline == "complexity" and plain:  # the questions have no frames: the rest cannot run
        own = plain
    else:
        apart = stages_apart(graph) if pipeline or not is_invented else set()
        own = {stage for stage in graph if stage.startswith(pipeline)} - apart - LAST
    return own.union(*(nx.descendants(graph, stage) for stage in own), {"headline", *LAST} & set(graph))


def progress_line(stage: str, took: float, left: Sequence[float], total: int, workers: int) -> str:
    """How far a run is after a stage; `left` has the seconds of the stages that follow."""
    minutes = math.ceil(max(sum(left) / workers, max(left, default=0.0)) / 60)
    rest = f"about {minutes} minute{'s' * (minutes != 1)} left at the sample's scale"
    return f"{stage}: {took:.0f} s. {total - len(left)} of {total}, {rest}"
