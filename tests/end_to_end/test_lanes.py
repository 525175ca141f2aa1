"""Lanes of `make repro` that run side by side: two that ran one stage would stop each other."""

from fnmatch import fnmatch
from pathlib import Path

import networkx as nx
import pytest
from dvc.repo import Repo

ROOT = Path(__file__).parents[2]


def lanes() -> dict[str, list[list[list[str]]]]:
    """Of each variable its steps, of each step its lanes, of each lane its targets."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", "")
    named = (line.split(":=") for line in text.splitlines() if line.startswith("LANES"))
    return {
        name.strip(): [[lane.split(",") for lane in step.split()] for step in steps.split("/")] for name, steps in named
    }


@pytest.fixture(scope="module")
def graph() -> nx.DiGraph:
    """Stages by name; edges lead to what a stage needs."""
    with Repo(ROOT) as repo:
        return nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)


@pytest.mark.parametrize("pipeline", ["", "_kvqae", "_decorrelation", "_complexity"])
def test_lanes_that_run_side_by_side_share_no_stage(pipeline, graph):
    done = set()
    for step in lanes()[f"LANES{pipeline}"]:
        seen = set()
        for targets in step:
            asked = [[stage for stage in graph if fnmatch(stage, target)] for target in targets]
            assert all(asked), f"{targets}: DVC runs everything when it finds nothing"
            needed = set().union(*({stage} | nx.descendants(graph, stage) for each in asked for stage in each)) - done
            assert needed, f"{targets} have nothing to do"
            assert not needed & seen, targets
            seen |= needed
        done |= seen


def test_the_lanes_of_one_pipeline_run_no_training_of_another(graph):
    for pipeline in ("kvqae", "decorrelation", "complexity"):
        targets = [target for step in lanes()[f"LANES_{pipeline}"] for lane in step for target in lane]
        asked = [stage for stage in graph if any(fnmatch(stage, target) for target in targets)]
        needed = set(asked).union(*(nx.descendants(graph, stage) for stage in asked))
        whole = [stage for stage in graph if fnmatch(stage, f"{pipeline}-*")]
        assert needed <= set(whole).union(*(nx.descendants(graph, stage) for stage in whole))
