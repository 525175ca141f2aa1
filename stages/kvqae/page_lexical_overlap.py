"""Stage `kvqae-page_lexical_overlap`. Figure 4 on the page."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json, read_table
from trivium.page.common import write_part
from trivium.page.kvqae.retrieval import overlap_html


class LexicalOverlapPageParameters(Parameters):
    """Section `kvqae.page.lexical_overlap`."""

    elsewhere: ClassVar = {"world": "world.kvqae"}
    world: str = Field(description="Where the data comes from")


def main(
    parameters: LexicalOverlapPageParameters,
    context: Context,
    *,
    overlap: Path = Path("metrics/kvqae/lexical_overlap.parquet"),
    overlap_metrics: Path = Path("metrics/kvqae/lexical_overlap.json"),
    out: Path = Path("metrics/report/parts/kvqae/lexical_overlap.json"),
) -> None:
    """Draw the overlaps of stage `lexical_overlap`."""
    stems = bool(read_json(overlap_metrics)["stems_instead_of_lemmas"])
    write_part(out, parameters.world, {"figure-4": overlap_html(read_table(overlap), stems)})


if __name__ == "__main__":
    run_stage(main, "kvqae.page.lexical_overlap", LexicalOverlapPageParameters)
