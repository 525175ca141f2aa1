"""Which stages a pipeline has."""

import re

import networkx as nx

PIPELINES = ("kvqae", "construction", "decorrelation", "complexity")
CONSTRUCTION = "kvqae-page_construction"  # the end of that pipeline
PLAIN = re.compile("complexity-plain@").match  # where a scale asks for it, this alone is the pipeline
LAST = {"report", "track"}  # show what there is: they wait for all stages, and need none


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
