"""The picture of a pipeline has every stage of it once, above all that needs it, and no box over another."""

import re
import xml.etree.ElementTree as ET
from functools import reduce
from itertools import combinations, pairwise
from operator import getitem
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo

from trivium.commands import cli
from trivium.commands.dag import HEIGHT, WIDTH, places, stages_of
from trivium.commands.repro import CONSTRUCTION
from trivium.page.contents import ARTICLES

NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_cells_are_one_box_sections_are_none_and_shortcuts_are_left_out() -> None:
    graph = nx.DiGraph(
        [
            *(("a-b@1", "a-world"), ("a-b@2", "a-world"), ("a-c", "a-b@1"), ("a-c", "a-world"), ("a-c", "code")),
            *(("a-page_x", "a-c"), ("z-other", "a-c"), ("a-c", "y-world")),
        ]
    )
    assert sorted(stages_of(graph, "a").edges) == [("a-b", "a-c"), ("a-world", "a-b"), ("y-world", "a-c")]
    graph.add_edges_from([(CONSTRUCTION, "a-c"), (CONSTRUCTION, "code")])
    assert sorted(stages_of(graph, "construction")) == ["a-b", "a-c", "a-world", "y-world"]


def has_cells(stage: dict[str, Any], params: dict[str, Any]) -> bool:
    """Whether a stage runs once, or for each member of a family that lists some."""
    listed = re.fullmatch(r"\$\{(.+)\}", str(stage.get("foreach")))
    return listed is None or bool(reduce(getitem, listed[1].split("."), params))


@pytest.mark.parametrize("pipeline", ARTICLES)
def test_a_pipeline_of_the_graph_is_drawn_whole(pipeline: str, tmp_path: Path) -> None:
    cli.run("dag", [pipeline, "--out", str(tmp_path / "dag.svg")])
    root = ET.parse(tmp_path / "dag.svg").getroot()
    boxes = {
        group.findtext(f"{NAMESPACE}title", "").partition(":")[0]: group.find(f"{NAMESPACE}rect")
        for group in root.findall(f"{NAMESPACE}g")
    }
    stages = yaml.safe_load(Path("dvc.yaml").read_text())["stages"]
    params = yaml.safe_load(Path("params.yaml").read_text())
    own = {name for name, stage in stages.items() if name.startswith(f"{pipeline}-") and has_cells(stage, params)}
    assert {stage for stage in own if "-page_" not in stage} <= boxes.keys()
    corners = [(int(box.get("x", "")), int(box.get("y", ""))) for box in boxes.values() if box is not None]
    assert len(corners) == len(boxes)
    assert not [
        (one, other)
        for one, other in combinations(corners, 2)
        if abs(one[0] - other[0]) < WIDTH and abs(one[1] - other[1]) < HEIGHT
    ]
    with Repo() as repo:
        drawn = stages_of(nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing), pipeline)
    assert len(root.findall(f"{NAMESPACE}path")) == len(drawn.edges)
    longest = nx.dag_longest_path(drawn)
    at = places(drawn)
    assert all(at[one][1] < at[other][1] for one, other in pairwise(longest))
