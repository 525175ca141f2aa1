"""Decorrelation's fragment of the page: Tables 1 to 3, Figures 3 and 4, appendix B, and the checks on a sample."""

from pathlib import Path

import yaml
from pyarrow import csv
from pydantic import Field

from trivium.decorrelation.matrix import parse_cells
from trivium.files.tables import read_json, read_table, write_json
from trivium.harness.parameters import Parameters, read_parameters
from trivium.harness.stage import Context, run_stage
from trivium.page.common import sizes_html
from trivium.page.decorrelation.corpus import classes_html, co_occurrence_html, removals_html
from trivium.page.decorrelation.diagnosis import diagnosis_html
from trivium.page.decorrelation.entities import entities_html
from trivium.page.decorrelation.findings import findings_html
from trivium.page.decorrelation.gallery import gallery_html
from trivium.page.decorrelation.results import Results
from trivium.page.decorrelation.sweep import figure_4_html
from trivium.page.decorrelation.tables import appendix_b_html, table_1_html, table_2_html, table_3_html

MATRIX = "cells"  # of params.yaml; its rows are the tables, not sizes


class DecorrelationFragmentParameters(Parameters):
    """Section `decorrelation.fragment`."""

    examples: int = Field(ge=1, description="Test queries in the gallery")
    image_side: int = Field(ge=32, description="Pixels of the longer side of the gallery's pictures")
    sentence_characters: int = Field(ge=20, description="Characters of a sentence that the gallery shows")
    significance: float = Field(gt=0, lt=1, description="p up to which a difference counts as shown")
    margin: float = Field(gt=0, lt=1, description="Difference up to which two values count as the same")
    seed: int = Field(ge=0, description="Of the draw of queries")


def main(
    parameters: DecorrelationFragmentParameters,
    context: Context,
    *,
    evaluation: Path,
    comparisons: Path,
    classes: Path,
    entities: Path,
    folder: Path,
    raw: Path,
    phrases: Path,
    removals: Path,
    painted: Path,
    retrieved: Path,
    published: Path,
    used: Path,
    paper: Path,
    out: Path,
) -> dict[str, float]:
    """Render decorrelation's sections; `folder` holds the stages' metrics, `entities` is the table of that stage."""
    printed = yaml.safe_load(published.read_text(encoding="utf-8"))
    everything = read_parameters(used)
    section, world = everything["decorrelation"], everything["world"]
    results = Results(parse_cells(section[MATRIX], used), read_json(folder / "evaluate.json"), read_json(comparisons))
    samples = [name for name in results.datasets if world.get(name, "sample") == "sample"]
    confidence, trained = section["evaluate"]["confidence"], section["train"]["models"]
    published_scale = read_parameters(paper)
    published_models = published_scale["decorrelation"]["train"]["models"]
    as_long = [name for name, each in trained.items() if each["steps"] == published_models.get(name, {}).get("steps")]
    by_class = csv.read_csv(classes).to_pylist()
    columns = ["cell", "set", "query", "odmap@1", "removed_named", "partner_remains"]
    gallery, shown = gallery_html(
        results,
        read_table(evaluation, columns),
        raw=raw,
        phrases=phrases,
        removals=removals,
        painted=painted,
        retrieved=retrieved,
        count=parameters.examples,
        seed=parameters.seed,
        side=parameters.image_side,
        longest=parameters.sentence_characters,
    )
    sections = {
        ("table-1", "Table 1: who is fooled"): table_1_html(
            results,
            printed,
            samples=samples,
            as_long=as_long,
            matching=section["phrases"]["matching"],
            level=parameters.significance,
        ),
        ("findings", "What it shows"): findings_html(
            results,
            level=parameters.significance,
            margin=parameters.margin,
            confidence=confidence,
            folder=folder,
            usual=section["evaluate"]["partner_probability"],
        )
        + diagnosis_html(
            results,
            by_class,
            train=trained,
            folder=folder,
            level=parameters.significance,
            margin=parameters.margin,
        ),
        ("table-2", "Table 2: retrieval"): table_2_html(results, printed, samples=samples, as_long=as_long),
        ("gallery", "Figure 3: gallery"): gallery,
        ("table-3", "Table 3: text × image synthesis"): table_3_html(results, printed, folder),
        ("figure-4", "Figure 4: how much is needed"): figure_4_html(
            results,
            printed,
            confidence=confidence,
            synthetic_share=trained["clip"]["synthetic_share"],
            captions=section["pairs"]["captions_an_image"],
            one_removal=section["removals"]["training"] == "one",
        ),
        ("appendix-b", "Appendix B: equal sizes"): appendix_b_html(results, printed),
        ("entities", "Into KVQAE"): entities_html(
            read_json(entities), level=parameters.significance, confidence=section["entities"]["confidence"]
        ),
        ("classes", "By removed class"): classes_html(by_class),
        ("co-occurrence", "What stands together"): co_occurrence_html(folder, results.datasets),
        ("removals", "Removals"): removals_html(folder, results.datasets, results, section["removals"]),
        ("sizes", "Sizes used"): sizes_html(
            {"decorrelation": {name: values for name, values in section.items() if name != MATRIX}},
            published_scale,
        ),
    }
    fragment = {
        "pipeline": "decorrelation",
        "title": "Decorrelation: does image-text retrieval look at the image, or say what usually stands together",
        "world": "sample" if "coco" in samples else world["coco"],
        "sections": [
            {"id": f"decorrelation-{name}", "title": title, "html": html} for (name, title), html in sections.items()
        ],
    }
    write_json(out, fragment)
    return shown | {"bytes": float(out.stat().st_size)}


if __name__ == "__main__":
    run_stage(main, "decorrelation.fragment", DecorrelationFragmentParameters)
