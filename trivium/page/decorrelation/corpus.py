"""What decorrelation's data sets are: what stands together, what could be removed, and how well phrases are found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pyarrow import csv

from trivium.core.tables import read_json
from trivium.decorrelation.painting.filling import FILLINGS
from trivium.page.decorrelation.results import Results
from trivium.page.html import Cell, Column, decimal, percent, render, signed, table
from trivium.page.published import DATASETS

REJECTED = "rejected_"
REASONS = {
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


def partner_rows(table: Sequence[Mapping[str, Any]], count: int = _PARTNERS) -> list[Mapping[str, Any]]:
    """Of every class the one that most often stands beside it; those with the highest probability first.

    Args:
        table: rows of the co-occurrence table: class, other, probability, lift, pictures_with_class.
        count: of rows.
    """
    best: dict[str, Mapping[str, Any]] = {}
    for row in table:
        known = row["probability"] is not None and row["lift"] is not None
        if known and (row["class"] not in best or row["probability"] > best[row["class"]]["probability"]):
            best[row["class"]] = row
    return sorted(best.values(), key=lambda row: (-row["probability"], row["class"]))[:count]


def co_occurrence_html(folder: Path, datasets: Sequence[str]) -> Markup:
    """What stands beside what in training pictures.

    Args:
        folder: of the metrics, with `co_occurrence_{dataset}.csv`.
        datasets: in the order of the page.
    """
    tables = Markup()
    for name in datasets:
        rows = [
            [
                Cell(row["class"], "narrow"),
                row["other"],
                decimal(row["probability"], 2),
                decimal(row["lift"]),
                row["pictures_with_class"],
            ]
            for row in partner_rows(csv.read_csv(folder / f"co_occurrence_{name}.csv").to_pylist())
        ]
        caption = f"{DATASETS[name]}: the class most often beside each, most certain first."
        tables += table(["Class", Column("beside it", "left"), "P", "lift", "pictures"], rows, caption)
    introduction = (
        "What a model can learn by heart. P: how often the other is there too, in training pictures with the class; "
        "lift: by what factor more often than in all of them, 1 being independence."
    )
    return Markup('<p>{}</p>\n<div class="figures">\n{}</div>').format(introduction, tables)


def counted(metrics: Mapping[str, float], prefix: str = "") -> list[tuple[str, float]]:
    """Metrics whose name begins so, by their names in words."""
    names = [name.removeprefix(prefix) for name in metrics if name.startswith(prefix)]
    return [(REASONS.get(name, name.replace("_", " ")), metrics[prefix + name]) for name in names]


def removals_html(
    folder: Path,
    datasets: Sequence[str],
    results: Results,
    delta: Mapping[str, float],
    paintings: Mapping[str, Mapping[str, str]],
    published: Mapping[str, int],
) -> Markup:
    """How many removals there are, what painted them, why others are not, their captions, and how phrases agree.

    Args:
        folder: of the metrics, with `removals_{dataset}.json`, `phrases_{dataset}.json`, `inpaint_{painting}.json`,
            `pairs_{dataset}_{filling}_{captions}.json` and `train_{cell}.json`.
        datasets: in the order of the page.
        results: of stage evaluate; its cells say which pairs there are.
        delta: δ1, δ2 and δ3.
        paintings: data set and filling of each.
        published: |D'| of the paper by data set.
    """
    recipes = dict.fromkeys(
        (cell.dataset, cell.filling, cell.captions) for cell in results.cells.values() if cell.synthetic
    )
    shown = []
    for name in datasets:
        removals, phrases = (read_json(folder / f"{stage}_{name}.json") for stage in ("removals", "phrases"))
        pairs = [
            (f"{captions.replace('_', ' ')} × {painter}", counted(read_json(file)))
            for dataset, painter, captions in recipes
            if dataset == name
            for file in (folder / f"pairs_{name}_{painter}_{captions}.json",)
        ]
        shown.append(
            {
                "name": DATASETS[name],
                "synthetic": synthetic_pairs(folder, results, name),
                "paper": published.get(name),
                "removals": counted({key: removals[key] for key in removals if not key.startswith(REJECTED)}),
                "rejected": counted(removals, REJECTED),
                "painted": _painted_html(folder, name, paintings),
                "pairs": pairs,
                "phrases": phrases,
                "counts": counted(phrases),
                "not_asked": results.metrics[f"{name}_synthetic_not_asked"],
            }
        )
    return render("decorrelation_removals.html", shown=shown, delta=delta)


def _painted_html(folder: Path, dataset: str, paintings: Mapping[str, Mapping[str, str]]) -> Markup:
    """How many pictures each filling painted over."""
    rows = [
        [FILLINGS[settings["filling"]].label, *(decimal(counts[part], 0) for part in ("train", "test", "empty"))]
        for painting, settings in paintings.items()
        if settings["dataset"] == dataset
        for counts in (read_json(folder / f"inpaint_{painting}.json"),)
    ]
    columns = ("with", "training", "test", "test, a box without objects")
    return table(columns, rows, "Pictures painted over") if rows else Markup()


def synthetic_pairs(folder: Path, results: Results, dataset: str) -> int | None:
    """|D'| as the first training of `ours` had it; None where there is none."""
    of_ours = (name for name, cell in results.cells.items() if (cell.dataset, cell.variant) == (dataset, "ours"))
    name = next(of_ours, None)
    return None if name is None else int(read_json(folder / f"train_{name}.json")["synthetic_pairs"])


def classes_html(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """ODmAP@1 by removed class of CLIP's finetune and ours on COCO, the largest gain first.

    Args:
        rows: of the table that stage evaluate writes by class.
    """
    pairs = class_pairs(rows, "coco", "clip")
    lines = [
        [
            Cell(name, "narrow"),
            after["queries"],
            percent(before["odmap@1"]),
            percent(after["odmap@1"]),
            signed(100 * (after["odmap@1"] - before["odmap@1"]), 1),
            percent(before["removed_named"], 0),
            percent(after["removed_named"], 0),
        ]
        for name, before, after in pairs
    ]
    columns = ("Removed class", "queries", "ODmAP@1\nfinetune", "ODmAP@1\nours", "gain", "named\nfinetune",
               "named\nours")  # fmt: skip
    numbers = table(columns, lines, "%; few queries of a class say little.")
    return render(
        "decorrelation_classes.html", classes=len(pairs), opened=len(pairs) <= _FEW, dataset=DATASETS["coco"],
        table=numbers,
    )  # fmt: skip


def class_pairs(
    rows: Sequence[Mapping[str, Any]], dataset: str, model: str
) -> list[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """(class, its row for finetune, its row for ours), the largest gain of ODmAP@1 first; see `classes_html`."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        for variant in ("finetune", "ours"):
            if row["set"] == "synthetic" and row["group"] == f"{dataset}_{model}_{variant}":
                found.setdefault(row["class"], {})[variant] = row
    pairs = [(name, both["finetune"], both["ours"]) for name, both in found.items() if len(both) == 2]
    pairs.sort(key=lambda each: (each[1]["odmap@1"] - each[2]["odmap@1"], each[0]))
    return pairs
