"""Decorrelation's sections of the page, in their order."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.page.common import sizes_html
from trivium.page.decorrelation.corpus import classes_html, co_occurrence_html, removals_html
from trivium.page.decorrelation.diagnosis import diagnosis_html
from trivium.page.decorrelation.entities import entities_html
from trivium.page.decorrelation.findings import findings_html
from trivium.page.decorrelation.results import Results
from trivium.page.decorrelation.sweep import figure_4_html
from trivium.page.decorrelation.tables import appendix_b_html, table_1_html, table_2_html, table_3_html

MATRIX = "cells"  # of params.yaml; its rows are the tables, not sizes


def sections_html(
    results: Results,
    section: Mapping[str, Any],
    *,
    printed: Mapping[str, Any],
    published_scale: dict[str, Any],
    by_class: Sequence[Mapping[str, Any]],
    gallery: str,
    entities: Mapping[str, Any],
    folder: Path,
    samples: Sequence[str],
    level: float,
    margin: float,
) -> dict[tuple[str, str], str]:
    """{(id, title): HTML} of every section.

    Args:
        results: of stage evaluate.
        section: `decorrelation` of the params.yaml that the stages have used.
        printed: tests/published/decorrelation.yaml.
        published_scale: the paper's parameters.
        by_class: rows of classes.csv.
        gallery: its HTML.
        entities: the table of stage entities.
        folder: of the stages' metrics.
        samples: data sets that are sample worlds.
        level: p up to which a difference counts as shown.
        margin: difference up to which two values count as the same.
    """
    confidence, trained = section["evaluate"]["confidence"], section["train"]["models"]
    published_models = published_scale["decorrelation"]["train"]["models"]
    as_long = [name for name, each in trained.items() if each["steps"] == published_models.get(name, {}).get("steps")]
    return {
        ("table-1", "Table 1: who is fooled"): table_1_html(
            results,
            printed,
            samples=samples,
            as_long=as_long,
            matching=section["phrases"]["matching"],
            level=level,
        ),
        ("findings", "What it shows"): findings_html(
            results,
            level=level,
            margin=margin,
            confidence=confidence,
            folder=folder,
            usual=section["evaluate"]["partner_probability"],
        )
        + diagnosis_html(
            results,
            by_class,
            train=trained,
            folder=folder,
            level=level,
            margin=margin,
        ),
        ("table-2", "Table 2: retrieval"): table_2_html(results, printed, samples=samples, as_long=as_long),
        ("gallery", "Figure 3: gallery"): gallery,
        ("table-3", "Table 3: text × image synthesis"): table_3_html(results, printed, folder),
        ("figure-4", "Figure 4: how much is needed"): figure_4_html(
            results,
            printed,
            confidence=confidence,
            synthetic_share=trained["clip"]["synthetic_share"],
            one_removal=section["removals"]["training"] == "one",
        ),
        ("appendix-b", "Appendix B: equal sizes"): appendix_b_html(results, printed),
        ("entities", "Into KVQAE"): entities_html(entities, level=level, confidence=section["entities"]["confidence"]),
        ("classes", "By removed class"): classes_html(by_class),
        ("co-occurrence", "What stands together"): co_occurrence_html(folder, results.datasets),
        ("removals", "Removals"): removals_html(
            folder, results.datasets, results, section["removals"], section["paintings"], printed["synthetic_pairs"]
        ),
        ("sizes", "Sizes used"): sizes_html(
            {"decorrelation": {name: values for name, values in section.items() if name != MATRIX}},
            published_scale,
        ),
    }
