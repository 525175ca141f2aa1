"""`make dag P=kvqae`: draw the stages of one pipeline, and what each needs, as a picture for the browser.

    trivium dag PIPELINE [--out FILE]

The cells of a stage, such as `kvqae-rerank@text`, are drawn as one box. The stages of a row can run once those of the
rows above have run. A line is left out if other lines lead the same way, and none runs behind a box. Sections of the
page are left out, too.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import networkx as nx
from dvc.repo import Repo

from trivium.commands.repro import CONSTRUCTION, PIPELINES
from trivium.core.atomic import write_atomically
from trivium.core.code.pipeline import OWN_STAGE

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 168, 30, 192, 62, 16  # pixels
BEND = ACROSS // 3  # of a line between two boxes
ROUNDS = 8  # of sorting the boxes of a row by their neighbours, which untangles the lines
STYLE = (
    "<style>rect{fill:#f4f0e6;stroke:#5b6470}path{fill:none;stroke:#5b6470;stroke-opacity:.45}"
    "@media (prefers-color-scheme:dark){svg{background:#14171b}rect{fill:#262a24}text{fill:#e8e6e1}}</style>"
)


def stages_of(graph: nx.DiGraph, pipeline: str) -> nx.DiGraph:
    """The pipeline's own stages without cells and sections of the page; edges lead from what is needed.

    Args:
        graph: of all stages' names; edges lead to what a stage needs.
        pipeline: of `ARTICLES`, or the construction; a stage of another one that it needs is there, too.
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


def with_bends(drawn: nx.DiGraph) -> tuple[list[list[Any]], nx.DiGraph]:
    """The rows, by the longest way from a beginning, and the graph with a bend in each row that a line passes.

    A bend, `(one, other, row)`, has a place of its own among the boxes, so that no line runs behind a box.
    """
    rows: list[list[Any]] = [sorted(row) for row in nx.topological_generations(drawn)]
    row_of = {name: number for number, row in enumerate(rows) for name in row}
    bent = nx.DiGraph()
    bent.add_nodes_from(drawn)
    for one, other in drawn.edges:
        bends = [(one, other, number) for number in range(row_of[one] + 1, row_of[other])]
        nx.add_path(bent, [one, *bends, other])
        for bend in bends:
            rows[bend[2]].append(bend)
    return rows, bent


def places(drawn: nx.DiGraph) -> dict[Any, tuple[float, int]]:
    """(place in its row, row) of each stage and bend; places are near neighbours', a bend is a third as wide."""
    rows, bent = with_bends(drawn)
    at: dict[Any, float] = {}

    def spread(row: list[Any]) -> None:
        widths = [1 / 3 if isinstance(name, tuple) else 1.0 for name in row]
        ends = list(accumulate(widths, initial=-sum(widths) / 2))
        at.update(zip(row, ends, strict=False))

    for row in rows:
        spread(row)
    around = bent.to_undirected()
    for _ in range(ROUNDS):
        for row in rows:
            wanted = {name: sum(at[other] for other in around[name]) / max(1, len(around[name])) for name in row}
            row.sort(key=lambda name: (wanted[name], str(name)))
            spread(row)
    first = min(at.values(), default=0)
    return {name: (at[name] - first, number) for number, row in enumerate(rows) for name in row}


def svg(drawn: nx.DiGraph, pipeline: str, descriptions: Mapping[str, str]) -> str:
    """The picture of what `stages_of` gives; a box tells what its stage is for."""
    at = {name: (MARGIN + round(ACROSS * place), MARGIN + DOWN * row) for name, (place, row) in places(drawn).items()}
    lines = []
    for one, other in drawn.edges:
        bends = sorted((name for name in at if name[:2] == (one, other)), key=lambda bend: bend[2])
        ways = [f"M{at[one][0] + WIDTH // 2} {at[one][1] + HEIGHT}"]
        for before, after in pairwise([one, *bends, other]):
            (x, y), (x2, y2) = (
                (at[name][0] + (BEND if isinstance(name, tuple) else WIDTH) // 2, at[name][1])
                for name in (before, after)
            )
            bend = (y + HEIGHT + y2) // 2
            ways.append(f"L{x} {y + HEIGHT}C{x} {bend} {x2} {bend} {x2} {y2}")
        lines.append(f'<path d="{"".join(ways)}"/>')
    boxes = [
        f"<g><title>{escape(f'{name}: {descriptions.get(name, str())}')}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
        f'<text x="{x + WIDTH // 2}" y="{y + 19}" text-anchor="middle">'
        f"{escape(name.removeprefix(f'{pipeline}-'))}</text></g>"
        for name, (x, y) in at.items()
        if isinstance(name, str)
    ]
    width = max((x for x, _ in at.values()), default=0) + WIDTH + MARGIN
    height = max((y for _, y in at.values()), default=0) + HEIGHT + MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Stages of {pipeline}">'
        f"{STYLE}{''.join(lines)}{''.join(boxes)}</svg>\n"
    )


def options(parser: ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("pipeline", choices=PIPELINES, help="the pipeline to draw")
    parser.add_argument("--out", type=Path, help="file of the picture (default: .work/dag/PIPELINE.svg)")


def run(arguments: Namespace) -> None:
    """Write the picture."""
    out: Path = arguments.out or Path(".work") / "dag" / f"{arguments.pipeline}.svg"
    with Repo() as repo:
        graph = nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)
        descriptions = {stage.name.partition("@")[0]: stage.desc or "" for stage in repo.index.stages}
    with write_atomically(out) as beside:
        picture = svg(stages_of(graph, arguments.pipeline), arguments.pipeline, descriptions)
        beside.write_text(picture, encoding="utf-8")
    print(f"open {out}")
