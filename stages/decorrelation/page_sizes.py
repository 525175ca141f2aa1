"""Stage `decorrelation-page_sizes`. The sizes used, on the page, where they differ from the paper's."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters, used_values
from trivium.core.stage import Context, run_stage
from trivium.page.common import sizes_html, write_part

MATRIX = "cells"  # its rows are the tables, not sizes


class SizesPageParameters(Parameters):
    """Section `decorrelation.page.sizes`."""

    elsewhere: ClassVar = {"world": "world.coco"}
    world: str = Field(description="Where the data comes from")


def main(
    parameters: SizesPageParameters,
    context: Context,
    *,
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    out: Path = Path("metrics/report/parts/decorrelation/sizes.json"),
) -> None:
    """Render every parameter that differs from the paper's scale."""
    sizes = {name: values for name, values in used_values(used, "decorrelation").items() if name != MATRIX}
    html = sizes_html({"decorrelation": sizes}, read_parameters(paper))
    write_part(out, parameters.world, {"sizes": html})


if __name__ == "__main__":
    run_stage(main, "decorrelation.page.sizes", SizesPageParameters)
