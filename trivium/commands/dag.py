"""`make dag P=kvqae`: draw the stages of one pipeline, and what each needs, as a picture for the browser.

    trivium dag PIPELINE [--out FILE]

The cells of a stage, such as `kvqae-kb_features@clip`, are drawn as one box. The stages of a row can run once those of
the rows above have run. A line is left out if other lines lead the same way. Sections of the page are left out, too.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import networkx as nx
import yaml
from dvc.repo import Repo
from markupsafe import Markup

from trivium.core.atomic import write_atomically
from trivium.page.contents import ARTICLES

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 168, 30, 192, 62, 16  # pixels
ROUNDS = 8  # of sorting the boxes of a row by their neighbours, which untangles the lines

FRAME = Markup(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    'font-family="system-ui, sans-serif" font-size="12" role="img" aria-label="Stages of {pipeline}">'
    "<style>rect{{fill:#f4f0e6;stroke:#5b6470}}path{{fill:none;stroke:#5b6470;stroke-opacity:.45}}"
    "@media (prefers-color-scheme:dark){{svg{{background:#14171b}}rect{{fill:#262a24}}text{{fill:#e8e6e1}}}}</style>"
    "{lines}{boxes}</svg>\n"
)
BOX = Markup(
    '<g><title>{title}</title><rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>'
    '<text x="{middle}" y="{base}" text-anchor="middle">{name}</text></g>'
)
LINE = Markup('<path d="M{x} {y}C{x} {bend} {x2} {bend} {x2} {y2}"/>')


def stages_of(graph: nx.DiGraph, pipeline: str) -> nx.DiGraph:
    """The pipeline's own stages without cells and sections of the page; edges lead from what is needed.

    Args:
        graph: of all stages' names; edges lead to what a stage needs.
        pipeline: of `ARTICLES`; a stage of another one that it needs is there, too.
    """
    own = {stage for stage in graph if stage.startswith(f"{pipeline}-")}
    drawn = nx.DiGraph()
    for stage in sorted(own):
        name = stage.partition("@")[0]
        if not name.startswith(f"{pipeline}-page_"):
            drawn.add_node(name)
            others = {other.partition("@")[0] for other in graph.successors(stage)} - {name, "code"}
            drawn.add_edges_from((other, name) for other in sorted(others))
    return nx.transitive_reduction(drawn)


def places(drawn: nx.DiGraph) -> dict[str, tuple[float, int]]:
    """(place in its row, row) of each stage: a row is the longest way from a beginning; places are near neighbours'."""
    rows = [sorted(row) for row in nx.topological_generations(drawn)]
    found = {name: place - len(row) / 2 for row in rows for place, name in enumerate(row)}
    around = drawn.to_undirected()
    for _ in range(ROUNDS):
        for row in rows:
            wanted = {name: sum(map(found.__getitem__, around[name])) / max(1, len(around[name])) for name in row}
            row.sort(key=lambda name: (wanted[name], name))
            found |= {name: place - len(row) / 2 for place, name in enumerate(row)}
    first = min(found.values(), default=0)
    return {name: (found[name] - first, number) for number, row in enumerate(rows) for name in row}


def svg(drawn: nx.DiGraph, said: Mapping[str, str], pipeline: str) -> str:
    """The picture.

    Args:
        drawn: of `stages_of`.
        said: what each stage is for.
        pipeline: its name.
    """
    at = {name: (MARGIN + round(ACROSS * place), MARGIN + DOWN * row) for name, (place, row) in places(drawn).items()}
    lines = Markup("").join(
        LINE.format(
            x=at[one][0] + WIDTH // 2,
            y=at[one][1] + HEIGHT,
            bend=(at[one][1] + HEIGHT + at[other][1]) // 2,
            x2=at[other][0] + WIDTH // 2,
            y2=at[other][1],
        )
        for one, other in drawn.edges
    )
    boxes = Markup("").join(
        BOX.format(
            title=f"{name}: {said.get(name, '')}",
            x=x,
            y=y,
            width=WIDTH,
            height=HEIGHT,
            middle=x + WIDTH // 2,
            base=y + 19,
            name=name.removeprefix(f"{pipeline}-"),
        )
        for name, (x, y) in at.items()
    )
    width = max((x for x, _ in at.values()), default=0) + WIDTH + MARGIN
    height = max((y for _, y in at.values()), default=0) + HEIGHT + MARGIN
    return FRAME.format(width=width, height=height, pipeline=pipeline, lines=lines, boxes=boxes)


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="trivium dag", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("pipeline", choices=list(ARTICLES), help="the pipeline to draw")
    made.add_argument("--out", type=Path, help="file of the picture (default: .work/dag/PIPELINE.svg)")
    return made


def main(argv: Sequence[str] | None = None) -> None:
    """Write the picture."""
    given = parser().parse_args(argv)
    out: Path = given.out or Path(".work") / "dag" / f"{given.pipeline}.svg"
    with Repo() as repo:
        graph = nx.relabel_nodes(repo.index.graph, lambda stage: stage.addressing)
        stages = yaml.safe_load((Path(repo.root_dir) / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    said = {name: (stage.get("do") or stage).get("desc", "") for name, stage in stages.items()}
    with write_atomically(out) as beside:
        beside.write_text(svg(stages_of(graph, given.pipeline), said, given.pipeline), encoding="utf-8")
    print(f"open {out}")


if __name__ == "__main__":
    main()
