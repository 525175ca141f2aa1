"""`make dag P=kvqae`: draw the stages of one pipeline, and what each needs, as a Mermaid flowchart in Markdown.

    trivium dag PIPELINE

GitHub, GitLab and editors show such a file as a picture. The cells of a stage, such as `kvqae-rerank@text`, are one
box. A line is left out if other lines lead the same way. Sections of the page are left out, too.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import networkx as nx
from dvc.repo import Repo

from trivium.commands.selection import CONSTRUCTION, PIPELINES, read_graph
from trivium.core.atomic import write_text
from trivium.core.code.digest import OWN_STAGE


def stages_of(graph: nx.DiGraph, pipeline: str) -> nx.DiGraph:
    """The pipeline's own stages without cells and sections of the page, and those of others that it needs.

    Edges of `graph` lead to what a stage needs, those of the drawing from there.
    """
    drawn = nx.DiGraph()
    own = {stage for stage in graph if stage.startswith(f"{pipeline}-")}
    for stage in sorted(nx.descendants(graph, CONSTRUCTION) if pipeline == "construction" else own):
        name = stage.partition("@")[0]
        if "-page_" not in name and name != OWN_STAGE:
            drawn.add_node(name)
            others = {other.partition("@")[0] for other in graph.successors(stage)} - {name, OWN_STAGE}
            drawn.add_edges_from((other, name) for other in sorted(others))
    return nx.transitive_reduction(drawn)


def options(parser: ArgumentParser) -> None:
    """Declare the command's argument."""
    parser.add_argument("pipeline", choices=PIPELINES, help="the pipeline to draw")


def run(arguments: Namespace) -> None:
    """Write the drawing."""
    with Repo() as repo:
        drawn = stages_of(read_graph(repo), arguments.pipeline)
    alone = [name for name in drawn if not drawn.degree(name)]
    lines = [*alone, *(f"{one} --> {other}" for one, other in sorted(drawn.edges))]
    out = Path(".work") / "dag" / f"{arguments.pipeline}.md"
    write_text(out, "\n    ".join(["```mermaid\nflowchart TD", *lines]) + "\n```\n")
    print(f"open {out}")
