"""Stage `decorrelation-page_tables`. Tables 1 to 3, Figure 4 and Appendix B on the page."""

from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.decorrelation.results import read_results
from trivium.page.decorrelation.sweep import figure_4_html
from trivium.page.decorrelation.tables import appendix_b_html, table_1_html, table_2_html, table_3_html
from trivium.page.thorough import read_thorough


class TablesPageParameters(Parameters):
    """Section `decorrelation.page.tables`."""

    elsewhere: ClassVar = {
        "coco": "world.coco",
        "flickr30k": "world.flickr30k",
        "world": "decorrelation.world",
        "matching": "decorrelation.phrases.matching",
        "training": "decorrelation.removals.training",
        "models": "decorrelation.train.models",
        "confidence": "decorrelation.evaluate.confidence",
        "significance": "decorrelation.page.significance",
    }
    coco: str = Field(description="Where COCO's data comes from")
    flickr30k: str = Field(description="Where Flickr30k's data comes from")
    world: dict[str, Any] = Field(description="The sample world")
    matching: str = Field(description="How phrases name classes")
    training: str = Field(description="Removals of a training picture")
    models: dict[str, dict[str, Any]] = Field(description="How models are trained")
    confidence: float = Field(gt=0, lt=1, description="Of intervals")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")


def main(
    parameters: TablesPageParameters,
    context: Context,
    *,
    evaluated: Path = Path("metrics/decorrelation/evaluate.json"),
    comparisons: Path = Path("metrics/decorrelation/comparisons.json"),
    folder: Path = Path("metrics/decorrelation"),
    published: Path = Path("tests/published/decorrelation.yaml"),
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    thorough: Path = Path("metrics/thorough/decorrelation.json"),
    out: Path = Path("metrics/report/parts/decorrelation/tables.json"),
) -> None:
    """Render the tables; `folder` holds the metrics of stage pairs, `thorough` what `make thorough` found."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    results, trained = read_results(used, evaluated, comparisons), parameters.models
    worlds = {"coco": parameters.coco, "flickr30k": parameters.flickr30k}
    papers = read_parameters(paper)["decorrelation"]["train"]["models"]
    told: dict[str, Any] = {
        "samples": [name for name in results.datasets if worlds.get(name, "sample") == "sample"],
        "as_long": [name for name, each in trained.items() if each["steps"] == papers.get(name, {}).get("steps")],
    }
    sample = told["samples"] == results.datasets
    told["thorough"] = more = read_thorough(thorough, "evaluate", parameters.world, sample=sample)
    sections = {
        "table-1": table_1_html(results, printed, matching=parameters.matching, level=parameters.significance, **told),
        "table-2": table_2_html(results, printed, **told),
        "table-3": table_3_html(results, printed, folder, more),
        "figure-4": figure_4_html(
            results,
            printed,
            confidence=parameters.confidence,
            synthetic_share=trained["clip"]["synthetic_share"],
            one_removal=parameters.training == "one",
        ),
        "appendix-b": appendix_b_html(results, printed, more),
    }
    write_part(out, parameters.coco, sections)


if __name__ == "__main__":
    run_stage(main, "decorrelation.page.tables", TablesPageParameters)
