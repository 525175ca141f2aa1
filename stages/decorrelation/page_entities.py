"""Stage `decorrelation-page_entities`. KVQAE's entities before and after decorrelation, on the page."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json
from trivium.page.html import render, write_part


class EntitiesPageParameters(Parameters):
    """Section `decorrelation.page_entities`: nothing of its own."""

    places: ClassVar = {
        "coco": "world.coco",
        "confidence": "decorrelation.entities.confidence",
        "significance": "decorrelation.page.significance",
    }
    coco: str = Field(description="Where COCO's data comes from")
    confidence: float = Field(gt=0, lt=1, description="Of intervals")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")


def main(
    parameters: EntitiesPageParameters,
    context: Context,
    *,
    entities: Path = Path("metrics/decorrelation/entities_table.json"),
    out: Path = Path("metrics/report/parts/decorrelation/entities.json"),
) -> None:
    """Make the table of stage entities."""
    shown = {"measured": read_json(entities), "level": parameters.significance, "confidence": parameters.confidence}
    write_part(out, parameters.coco, {"entities": render("decorrelation_entities.html", **shown)})


if __name__ == "__main__":
    run_stage(main, "decorrelation.page_entities")
