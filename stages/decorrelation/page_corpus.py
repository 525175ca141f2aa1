"""Stage `decorrelation-page_corpus`. Classes, what stands together, and removals, on the page."""

from pathlib import Path
from typing import Any, ClassVar

import yaml
from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.page.common import write_part
from trivium.page.decorrelation.corpus import classes_html, co_occurrence_html, removals_html
from trivium.page.decorrelation.results import read_results


class CorpusPageParameters(Parameters):
    """Section `decorrelation.page.corpus`."""

    elsewhere: ClassVar = {
        "coco": "world.coco",
        "removals": "decorrelation.removals",
        "paintings": "decorrelation.paintings",
    }
    coco: str = Field(description="Where COCO's data comes from")
    removals: dict[str, Any] = Field(description="Section of that stage: δ1, δ2 and δ3")
    paintings: dict[str, dict[str, str]] = Field(description="Data set and filling of each")


def main(
    parameters: CorpusPageParameters,
    context: Context,
    *,
    evaluated: Path = Path("metrics/decorrelation/evaluate.json"),
    classes: Path = Path("metrics/decorrelation/classes.csv"),
    folder: Path = Path("metrics/decorrelation"),
    published: Path = Path("tests/published/decorrelation.yaml"),
    used: Path = Path("params.yaml"),
    out: Path = Path("metrics/report/parts/decorrelation/corpus.json"),
) -> None:
    """Render the three; `folder` holds the metrics of the stages from world to train."""
    results, published_pairs = read_results(used, evaluated), yaml.safe_load(published.read_text(encoding="utf-8"))
    sections = {
        "classes": classes_html(csv.read_csv(classes).to_pylist()),
        "co-occurrence": co_occurrence_html(folder, results.datasets),
        "removals": removals_html(
            folder,
            results.datasets,
            results,
            parameters.removals,
            parameters.paintings,
            published_pairs["synthetic_pairs"],
        ),
    }
    write_part(out, parameters.coco, sections)


if __name__ == "__main__":
    run_stage(main, "decorrelation.page.corpus", CorpusPageParameters)
