"""Stage `complexity-page_sizes`. The sizes used, on the page, where they differ from the paper's."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters, used_values
from trivium.core.stage import Context, run_stage
from trivium.page.common import sizes_html, write_part


class SizesPageParameters(Parameters):
    """Section `complexity.page.sizes`."""

    elsewhere: ClassVar = {"world": "world.calor"}
    world: str = Field(description="Where the data comes from")


def main(
    parameters: SizesPageParameters,
    context: Context,
    *,
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    out: Path = Path("metrics/report/parts/complexity/sizes.json"),
) -> None:
    """Render every parameter that differs from the paper's scale."""
    html = sizes_html({"complexity": used_values(used, "complexity")}, read_parameters(paper))
    write_part(out, parameters.world, {"sizes": html})


if __name__ == "__main__":
    run_stage(main, "complexity.page.sizes", SizesPageParameters)
