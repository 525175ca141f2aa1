"""Stage `complexity-page_parsers`. The frame parser and the syntax on the page."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.common import write_part
from trivium.page.complexity.instrument import parsers_html


class ParsersPageParameters(Parameters):
    """Section `complexity.page.parsers`."""

    elsewhere: ClassVar = {"world": "world.calor"}
    world: str = Field(description="Where the evaluation texts come from")


def main(
    parameters: ParsersPageParameters,
    context: Context,
    *,
    frame_parser: Path = Path("metrics/complexity/frame_parser.json"),
    syntax: Path = Path("metrics/complexity/syntax.json"),
    out: Path = Path("metrics/report/parts/complexity/parsers.json"),
) -> None:
    """Render the metrics of both stages."""
    write_part(out, parameters.world, {"parsers": parsers_html(read_json(frame_parser), read_json(syntax))})


if __name__ == "__main__":
    run_stage(main, "complexity.page.parsers", ParsersPageParameters)
