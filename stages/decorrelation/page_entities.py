"""Stage `decorrelation-page_entities`. KVQAE's entities before and after decorrelation, on the page."""

from pathlib import Path

from trivium.core.parameters import Parameters, shared
from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.page.html import render, write_part


class EntitiesPageParameters(Parameters):
    """Section `decorrelation.page_entities`: nothing of its own."""

    coco: str = shared("world.coco", description="Where COCO's data comes from")
    confidence: float = shared("decorrelation.entities.confidence", gt=0, lt=1, description="Of intervals")
    significance: float = shared(
        "decorrelation.page.significance", gt=0, lt=1, description="p up to which a difference counts as shown"
    )


@stage("decorrelation.page_entities")
def main(
    parameters: EntitiesPageParameters,
    *,
    entities: Path = Path("metrics/decorrelation/entities_table.json"),
    out: Path = Path("metrics/report/parts/decorrelation/entities.json"),
) -> None:
    """Make the table of stage entities."""
    shown = {"measured": read_json(entities), "level": parameters.significance, "confidence": parameters.confidence}
    write_part(out, parameters.coco, {"entities": render("decorrelation_entities.html", **shown)})
