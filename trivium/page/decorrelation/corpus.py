"""What decorrelation's data sets are: what stands together, what could be removed, and how well phrases are found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pyarrow import csv

from trivium.core.tables import read_json
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.page.decorrelation.results import Results
from trivium.page.html import render
from trivium.page.published import DATASETS

REASONS = {  # and other counts in words
    "pictures_train": "training pictures",
    "pictures_test": "test pictures",
    "removals_train": "possible removals from training pictures",
    "removals_test": "possible removals from test pictures",
    "drawn_train": "removals drawn for training",
    "drawn_unnamed": "of these, of a class that no caption names",
    "empty_boxes": "boxes without an object",
    "dropped_unnamed": "removals of a class that no caption names",
    "dropped_emptied": "captions of which nothing would remain",
    "captions_annotated": "captions with annotated phrases",
    "chunker_spacy": "spaCy found the phrases (1: yes)",
    "named_precision": "named classes that are in the picture, share",
    "named_recall": "classes in the picture that are named, share",
    "single_class": "the picture holds one class only",
    "crowd": "a crowd under one annotation",
    "crowd_covered": "a crowd would be covered",
    "nothing_remains": "no class would remain",
    "overlap": "covers too much of another class (δ1)",
    "size": "too large a part of the picture (δ3)",
    "empty_no_object": "no empty box: the picture holds no object",
    "empty_no_place": "no empty box: no free place found",
}
_FEW = 24  # classes that are shown without asking
_PARTNERS = 12  # classes with the most certain partner


def partner_rows(table: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the classes whose partner, what most often stands beside them, is most certain."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in table:
        is_defined = row["probability"] is not None and row["lift"] is not None
        if is_defined and (row["class"] not in best or row["probability"] > best[row["class"]]["probability"]):
            best[row["class"]] = row
    return sorted(best.values(), key=lambda row: (-row["probability"], row["class"]))[:_PARTNERS]


def co_occurrence_html(folder: Path, datasets: Sequence[str]) -> Markup:
    """What stands beside what in training pictures, from `co_occurrence_{dataset}.csv` in the folder of the metrics."""
    tables = {name: csv.read_csv(folder / f"co_occurrence_{name}.csv").to_pylist() for name in datasets}
    shown = {DATASETS[name]: partner_rows(table) for name, table in tables.items()}
    return render("decorrelation_co_occurrence.html", shown=shown)


def removals_html(folder: Path, results: Results, used: Mapping[str, Any], published: Mapping[str, int]) -> Markup:
    """How many removals there are, what painted them, why others are not, their captions, and how phrases agree.

    Args:
        folder: of the metrics.
        results: of stage evaluate; its cells say which pairs there are.
        used: section `decorrelation` of the parameters.
        published: |D'| of the paper by data set.
    """
    cells = results.cells.items()
    ours = {cell.dataset: name for name, cell in reversed(list(cells)) if cell.variant == "ours"}
    recipes = list(dict.fromkeys((cell.dataset, cell.filling, cell.captions) for _, cell in cells if cell.synthetic))
    return render(
        "decorrelation_removals.html", results=results, used=used, paper=published, names=DATASETS, reasons=REASONS,
        fillings=FILLINGS, ours=ours, recipes=recipes, read=lambda name: read_json(folder / f"{name}.json"),
    )  # fmt: skip


def classes_html(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """ODmAP@1 by removed class of CLIP's finetune and ours on COCO, the largest gain first: rows of stage evaluate."""
    variants = {f"coco_clip_{variant}": variant for variant in ("finetune", "ours")}
    by_class: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        if row["set"] == "synthetic" and row["group"] in variants:
            by_class.setdefault(row["class"], {})[variants[row["group"]]] = row
    pairs = [(name, both["finetune"], both["ours"]) for name, both in by_class.items() if len(both) == 2]
    pairs.sort(key=lambda pair: (pair[1]["odmap@1"] - pair[2]["odmap@1"], pair[0]))
    return render("decorrelation_classes.html", pairs=pairs, opened=len(pairs) <= _FEW, dataset=DATASETS["coco"])
