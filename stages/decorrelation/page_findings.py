"""Stage `decorrelation-page_findings`. What the tables show, on the page, and what may be wrong with it."""

from pathlib import Path
from typing import Any, ClassVar

from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.decorrelation.diagnosis import diagnosis_html
from trivium.page.decorrelation.findings import findings_html, first_claim_html
from trivium.page.decorrelation.results import read_results


class FindingsPageParameters(Parameters):
    """Section `decorrelation.page.findings`."""

    elsewhere: ClassVar = {
        "coco": "world.coco",
        "models": "decorrelation.train.models",
        "confidence": "decorrelation.evaluate.confidence",
        "partner_probability": "decorrelation.evaluate.partner_probability",
        "significance": "decorrelation.page.significance",
    }
    coco: str = Field(description="Where COCO's data comes from")
    models: dict[str, dict[str, Any]] = Field(description="How models are trained")
    confidence: float = Field(gt=0, lt=1, description="Of intervals")
    partner_probability: float = Field(gt=0, lt=1, description="From which on a class is a partner")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")
    margin: float = Field(gt=0, lt=1, description="Difference up to which two values count as the same")


def main(
    parameters: FindingsPageParameters,
    context: Context,
    *,
    evaluated: Path = Path("metrics/decorrelation/evaluate.json"),
    comparisons: Path = Path("metrics/decorrelation/comparisons.json"),
    classes: Path = Path("metrics/decorrelation/classes.csv"),
    folder: Path = Path("metrics/decorrelation"),
    used: Path = Path("params.yaml"),
    out: Path = Path("metrics/report/parts/decorrelation/findings.json"),
) -> None:
    """Render them; `folder` holds the metrics of stages world and train."""
    results = read_results(used, evaluated, comparisons)
    told: dict[str, Any] = {"folder": folder, "level": parameters.significance, "margin": parameters.margin}
    found = findings_html(results, confidence=parameters.confidence, usual=parameters.partner_probability, **told)
    found += diagnosis_html(results, csv.read_csv(classes).to_pylist(), train=parameters.models, **told)
    claim = first_claim_html(results, parameters.significance, parameters.margin)
    write_part(out, parameters.coco, {"findings": found, "claim": claim})


if __name__ == "__main__":
    run_stage(main, "decorrelation.page.findings", FindingsPageParameters)
