"""Stage `kvqae-page_reading`. Table 7 on the page, and the score by number of passages read."""

from pathlib import Path
from typing import Any, ClassVar

import yaml
from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.common import write_part
from trivium.page.kvqae.findings import findings_html, reading_findings
from trivium.page.kvqae.reading import reading_html, rows_of, sweep_html
from trivium.page.kvqae.reranking import depths_note, rrt_re_ranks
from trivium.page.kvqae.smaller_base import noted
from trivium.page.thorough import read_thorough


class ReadingPageParameters(Parameters):
    """Section `kvqae.page.reading`."""

    elsewhere: ClassVar = {
        "world": "world.kvqae",
        "base": "kvqae.world.base",
        "sample_world": "kvqae.world",
        "statistics": "kvqae.statistics",
        "evaluate": "kvqae.evaluate",
        "rerankers": "kvqae.rerankers",
        "seeds": "kvqae.read.seeds",
        "rows": "kvqae.read.rows",
    }
    world: str = Field(description="Where the data comes from")
    base: dict[str, Any] | None = Field(default=None, description="Of the hub's articles those searched; null: all")
    sample_world: dict[str, Any] = Field(description="The sample world")
    statistics: dict[str, Any] = Field(description="What tables share")
    evaluate: dict[str, Any] = Field(description="What Tables 2 to 4 have of their own, and this shares")
    rerankers: dict[str, dict[str, Any]] = Field(description="Those in use")
    seeds: list[int] = Field(description="Of the readers")
    rows: dict[str, dict[str, Any]] = Field(description="What is read, and by which reader")


def main(
    parameters: ReadingPageParameters,
    context: Context,
    *,
    reading: Path = Path("metrics/kvqae/read.json"),
    sweep: Path = Path("metrics/kvqae/passages_read.csv"),
    reranking: Path = Path("data/kvqae/evaluation/reranking.json"),
    published: Path = Path("tests/published/kvqae.yaml"),
    thorough: Path = Path("metrics/thorough/kvqae.json"),
    out: Path = Path("metrics/report/parts/kvqae/reading.json"),
) -> None:
    """Render the table of stage `read` and its curve; `evaluate_reranking` knows which re-rankers there were."""
    printed, metrics = yaml.safe_load(published.read_text(encoding="utf-8")), read_json(reading)
    level = (parameters.statistics | parameters.evaluate)["significance"]
    depths = depths_note(parameters.rerankers, rrt_re_ranks(read_json(reranking)))
    sample = parameters.world == "sample" or parameters.base is not None
    more = read_thorough(thorough, "read", parameters.sample_world, sample=parameters.world == "sample")
    table = reading_html(
        metrics, printed, rows_of(parameters.rows), len(parameters.seeds), sample=sample, thorough=more
    )
    found = findings_html(reading_findings(metrics, level), depths)
    sections = {"table-7": found + table + sweep_html(csv.read_csv(sweep))}
    write_part(out, parameters.world, noted(sections, parameters.base))


if __name__ == "__main__":
    run_stage(main, "kvqae.page.reading", ReadingPageParameters)
