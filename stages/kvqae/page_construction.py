"""Stage `kvqae-page_construction`. Render Table 1 and the steps of the construction for the page."""

from pathlib import Path

from trivium.core.parameters import Parameters, read_parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page.html import write_part
from trivium.page.kvqae.construction import construction_sections

STEPS = ("mentions", "link", "subjects", "candidate_images", "generate", "rebuild")


class ConstructionPageParameters(Parameters):
    """Section `kvqae.page_construction`: nothing of its own."""

    world: str = shared("world.kvqae", description="Where the questions come from")
    annotations: str = shared("world.kvqae_annotations", description="Who annotated them: sample simulates")


@stage("kvqae.page_construction")
def main(
    parameters: ConstructionPageParameters,
    *,
    measured: Path = Path("metrics/kvqae"),
    published: Path = Path("tests/published/kvqae.yaml"),
    out: Path = Path("metrics/report/parts/kvqae/construction.json"),
) -> None:
    """Render Table 1 and the steps from the metrics in `measured`, files named as the steps."""
    printed = read_parameters(published)
    simulated = parameters.annotations == "sample" and parameters.world != "sample"
    steps = {name: read_json(measured / f"{name}.json") for name in STEPS}
    write_part(out, parameters.world, construction_sections(steps, printed, simulated=simulated))
