"""The questions that the page asks of the comparisons, and what stands beside single answers.

Is the effect there, is it not something else; what painting itself does, and what the control world is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pyarrow import csv

from trivium.core.tables import read_json
from trivium.page.decorrelation.corpus import partner_rows
from trivium.page.decorrelation.results import Results, shown
from trivium.page.html import points, probability
from trivium.page.published import DATASETS

Expected = Literal["more", "less", "same", "open"]  # what would speak for the method
Row = Mapping[str, Any]
USUAL = {"dataset": "coco", "model": "clip", "set": "synthetic", "measure": "odmap@1", "subset": "all"}
_EMPTY_BOX = {"set": "empty_image_to_text", "other_set": "image_to_text", "measure": "r@1"}
_NOT_RENDERED = {
    "flickr30k": "its classes are types such as animals, a scene is drawn again without one kind of them; "
}


@dataclass(frozen=True)
class Check:
    """A question, and the fields of the row of comparisons.json that answers it."""

    question: str
    expected: Expected
    wanted: Row


def check(question: str, expected: Expected, variants: Sequence[str], **changes: str) -> Check:
    """A check of two variants on one set, or (`other_set`) of one variant on two sets: as USUAL but for changes."""
    wanted = USUAL | {"variant": variants[0], "other_variant": variants[1]} | changes
    return Check(question, expected, {"other_set": wanted["set"]} | wanted)


def checks(datasets: Sequence[str]) -> list[Check]:
    """All questions, those about empty boxes for each of these data sets before the last."""
    made = [check(**row) for row in yaml.safe_load(Path(__file__).with_name("checks.yaml").read_text(encoding="utf-8"))]
    asked = {"ours": "Does a painted empty box leave retrieval as it is, for ours?", "finetune": "And for finetune?"}
    boxes = [
        check(question, "same", (variant, variant), dataset=name, **_EMPTY_BOX)
        for name in datasets
        for variant, question in asked.items()
    ]
    return [*made[:-1], *boxes, made[-1]]


def notes(results: Results, wanted: Row, level: float, folder: Path, usual: float) -> list[str]:
    """Sentences that belong beside the answer to a question about the gain on painted queries; none beside others.

    Args:
        results: of stage evaluate.
        wanted: of the question.
        level: of significance.
        folder: of the metrics, with `co_occurrence_{dataset}.csv` and `world_{dataset}.json`.
        usual: P(other | class) from which the other is the class's partner.
    """
    dataset, model = wanted["dataset"], wanted["model"]
    gain = check("", "more", ("ours", "finetune"), dataset=dataset, model=model).wanted
    row = results.comparison(**gain)
    if wanted != gain or row is None:
        return []
    said = _of_painting(results, dataset, model, level)
    return said + (_of_control(results, folder, usual, row) if dataset == "control" else [])


def _of_painting(results: Results, dataset: str, model: str, level: float) -> list[str]:
    """What painting alone does to retrieval, where that limits what a gain on painted queries says.

    That is where an empty box changes R@1, and where no query was rendered again without its object.
    """
    asked = {"dataset": dataset, "model": model, **_EMPTY_BOX}
    compared = {
        name: results.comparison(**check("", "same", (name, name), **asked).wanted) for name in ("ours", "finetune")
    }
    boxes = {name: row for name, row in compared.items() if row is not None and row["low"] is not None}
    traced = any(shown(row, level) for row in boxes.values())
    rendered, said = results.against_finetune(dataset, model, "rendered", "odmap@1") is not None, []
    if boxes and (traced or not rendered):
        changes = " and ".join(
            f"{points(row['difference'])} points ({variant}, p {probability(row['p'])})"
            for variant, row in boxes.items()
        )
        said.append(
            f"Painting an empty box alone changes R@1 by {changes}: painting itself leaves a trace here, or such a box "
            "holds what nobody annotated; a painted picture differs by more than the missing object."
            if traced
            else f"Painting an empty box alone is not shown to change R@1: {changes}."
        )
    if not rendered:
        said.append(
            f"{DATASETS[dataset]} has no queries rendered again without the object ({_NOT_RENDERED.get(dataset, '')}"
            "photographs cannot be): whether the gain is the in-painting’s cannot be told there."
        )
    return said


def _of_control(results: Results, folder: Path, usual: float, row: Row) -> list[str]:
    """How much of COCO's co-occurrence the control world still has, how large both are, and from how many seeds."""
    names = [name for name in ("control", "coco") if name == "control" or name in results.datasets]
    tables = {name: csv.read_csv(folder / f"co_occurrence_{name}.csv").to_pylist() for name in names}
    said = []
    if pairs := planted(tables.get("coco", ()), tables["control"], usual):
        control, coco = zip(*pairs, strict=True)
        here, there = (sum(pair["lift"] for pair in rows) / len(rows) for rows in (control, coco))
        weakened = "is weakened there, not gone" if here > 1 else "is gone there"
        said.append(
            f"Pairs that stand together in COCO have a lift of {_range(coco, 'lift', 1)} there "
            f"(P {_range(coco, 'probability', 2)}) and of {_range(control, 'lift', 1)} in the control world "
            f"(P {_range(control, 'probability', 2)}), 1 being independence: co-occurrence "
            f"{weakened if here < there else 'is not weaker in the control world'}."
        )
    pictures = {name: int(read_json(folder / f"world_{name}.json")["pictures_train"]) for name in names}
    sizes = ", ".join(f"{DATASETS[name]} {count}" for name, count in pictures.items())
    seeds = min(row["seeds"], row["other_seeds"])
    return [*said, f"Training pictures: {sizes}. {'One seed only' if seeds == 1 else f'{seeds} seeds'}."]


def planted(coco: Sequence[Row], control: Sequence[Row], usual: float) -> list[tuple[Row, Row]]:
    """(row in control, row in COCO) of COCO's classes with a usual partner, as far as control holds the pair."""
    there = {(row["class"], row["other"]): row for row in control if row["lift"] is not None}
    return [
        (there[row["class"], row["other"]], row)
        for row in partner_rows(coco, len(coco))
        if row["probability"] >= usual and row["lift"] > 1 and (row["class"], row["other"]) in there
    ]


def _range(rows: Sequence[Row], name: str, digits: int) -> str:
    low, high = (f"{pick(row[name] for row in rows):.{digits}f}" for pick in (min, max))
    return low if low == high else f"{low} to {high}"
