"""Stage `kvqae-page_construction`. Table 1 and the construction's steps on the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import yaml
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.common import write_part
from trivium.page.kvqae.construction import construction_html, nobody_annotated, statistics_html, without_annotations


class ConstructionPageParameters(Parameters):
    """Section `kvqae.page.construction`."""

    elsewhere: ClassVar = {"world": "world.kvqae", "annotations": "world.kvqae_annotations"}
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
    """Render Table 1 and the steps from their metrics, files named as the stages.

    What simulated annotators said of real questions stands beside nothing of the paper's: it is left out.
    """
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    steps = {path.stem: read_json(path) for path in construction}
    note = ""
    if parameters.annotations == "sample" and parameters.world != "sample":
        steps["rebuild"] = without_annotations(steps["rebuild"])
        note = nobody_annotated()
    sections = {
        "table-1": note + statistics_html(steps["rebuild"], printed),
        "construction": note + construction_html(steps, printed),
    }
    write_part(out, parameters.world, sections)


if __name__ == "__main__":
    run_stage(main, "kvqae.page.construction", ConstructionPageParameters)
