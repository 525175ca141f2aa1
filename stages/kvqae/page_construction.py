"""Stage `kvqae-page_construction`. Render Table 1 and the steps of the construction for the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.html import write_part
from trivium.page.kvqae.construction import construction_sections


class ConstructionPageParameters(Parameters):
    """Section `kvqae.page_construction`: nothing of its own."""

    places: ClassVar = {"world": "world.kvqae", "annotations": "world.kvqae_annotations"}
    world: str = Field(description="Where the questions come from")
    annotations: str = Field(description="Who annotated them: sample simulates")


def main(
    parameters: ConstructionPageParameters,
    context: Context,
    *,
    construction: Sequence[Path] = (
        Path("metrics/kvqae/mentions.json"),
        Path("metrics/kvqae/link.json"),
        Path("metrics/kvqae/subjects.json"),
        Path("metrics/kvqae/candidate_images.json"),
        Path("metrics/kvqae/generate.json"),
        Path("metrics/kvqae/rebuild.json"),
    ),
    published: Path = Path("tests/published/kvqae.yaml"),
    out: Path = Path("metrics/report/parts/kvqae/construction.json"),
) -> None:
    """Render Table 1 and the steps from their metrics, files named as the steps."""
    printed = read_parameters(published)
    simulated = parameters.annotations == "sample" and parameters.world != "sample"
    steps = {path.stem: read_json(path) for path in construction}
    write_part(out, parameters.world, construction_sections(steps, printed, simulated=simulated))


if __name__ == "__main__":
    run_stage(main, "kvqae.page_construction")
