"""The drawing of a pipeline has every stage of it, and lines from what each needs."""

import re
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import yaml

from trivium.commands import cli
from trivium.commands.dag import stages_of
from trivium.commands.selection import CONSTRUCTION
from trivium.page.contents import ARTICLES


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
def test_a_pipeline_of_the_graph_is_drawn_whole(pipeline: str) -> None:
    cli.run("dag", [pipeline])
    text = Path(f".work/dag/{pipeline}.md").read_text()
    assert text.startswith("```mermaid\nflowchart TD\n")
    boxes = set(re.findall(r"[\w-]+", text.partition("TD")[2].replace("-->", " ")))
    stages = yaml.safe_load(Path("dvc.yaml").read_text())["stages"]
    params = yaml.safe_load(Path("params.yaml").read_text())
    own = {name for name, stage in stages.items() if name.startswith(f"{pipeline}-") and has_cells(stage, params)}
    assert {stage for stage in own if "-page_" not in stage} <= boxes
    assert boxes <= stages.keys()
