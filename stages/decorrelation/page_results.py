"""Stage `decorrelation-page_results`. Decorrelation's sections of the page, but for entities, and the released sets."""

from pathlib import Path
from typing import Any

from pyarrow import csv
from pydantic import Field

from trivium.core.parameters import Parameters, read_parameters, shared, used_values
from trivium.core.stage import stage
from trivium.core.tables import read_json
from trivium.decorrelation.benchmark.release import export_sets
from trivium.decorrelation.matrix import parse_cells
from trivium.page.decorrelation import tables
from trivium.page.decorrelation.gallery import gallery_html
from trivium.page.decorrelation.results import Results, findings_html, first_claim_html
from trivium.page.html import sizes_html, write_part
from trivium.page.thorough import read_thorough

MATRIX = "cells"  # its rows are the tables, not sizes


class Gallery(Parameters):
    """Section `decorrelation.page.gallery`."""

    examples: int = Field(ge=1, description="Test queries in the gallery")
    image_side: int = Field(default=192, ge=32, description="Pixels of the longer side of the gallery's pictures")
    seed: int = Field(ge=0, description="Of the draw of queries")


class ResultsPageParameters(Parameters):
    """Section `decorrelation.page`; the sections show what all other stages of the pipeline used, too."""

    coco: str = shared("world.coco", description="Where COCO's data comes from")
    flickr30k: str = shared("world.flickr30k", description="Where Flickr30k's data comes from")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")
    margin: float = Field(gt=0, lt=1, description="Difference up to which two values count as the same")
    gallery: Gallery = Field(description="What the gallery shows")


@stage("decorrelation.page", metrics="metrics/decorrelation/page_results.json")
def main(
    parameters: ResultsPageParameters,
    *,
    data: Path = Path("data/decorrelation"),
    measured: Path = Path("metrics/decorrelation"),
    published: Path = Path("tests/published/decorrelation.yaml"),
    thorough: Path = Path("metrics/thorough/decorrelation.json"),
    used: Path = Path("params.yaml"),
    paper: Path = Path("scales/paper.yaml"),
    out: Path = Path("metrics/report/parts/decorrelation/results.json"),
    out_sets: Path = Path("data/decorrelation/sets"),
) -> dict[str, float]:
    """Make the sections of what the stages before left in `data` and `measured`; `thorough` is from `make thorough`.

    `out_sets` gets the sets that `trivium odmap` uses, one file for each data set.
    """
    export_sets(used, data, out_sets)
    decorrelation: dict[str, Any] = used_values(used, "decorrelation")
    printed, papers = read_parameters(published), read_parameters(paper)
    evaluated, compared = (read_json(measured / f"{name}.json") for name in ("evaluate", "comparisons"))
    results = Results(parse_cells(decorrelation["cells"], used), evaluated, compared)
    worlds = {"coco": parameters.coco, "flickr30k": parameters.flickr30k}
    sample = all(worlds.get(name, "sample") == "sample" for name in results.datasets)
    more = read_thorough(thorough, "evaluate", decorrelation["world"], sample=sample)
    shown = tables.Tables(results, printed, decorrelation, parameters.significance, more)
    limits: dict[str, Any] = {"level": parameters.significance, "margin": parameters.margin}
    classes = csv.read_csv(measured / "classes.csv").to_pylist()
    gallery, counts = gallery_html(results, data, parameters.gallery.model_dump())
    sections = {
        "claim": first_claim_html(results, **limits),
        "table-1": tables.table_1_html(shown),
        "findings": findings_html(results, decorrelation["evaluate"], **limits),
        "table-2": tables.table_2_html(shown),
        "table-3": tables.table_3_html(shown, measured),
        "figure-4": tables.figure_4_html(shown),
        "appendix-b": tables.appendix_b_html(shown),
        "classes": tables.classes_html(classes),
        "co-occurrence": tables.co_occurrence_html(measured, results.datasets),
        "removals": tables.removals_html(measured, results, decorrelation, printed["synthetic_pairs"]),
        "sizes": sizes_html({"decorrelation": decorrelation | {MATRIX: {}}}, papers),
    }
    write_part(out, parameters.coco, gallery | sections)
    return counts
