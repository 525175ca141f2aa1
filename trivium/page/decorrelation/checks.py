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

Expected = Literal["more", "less", "same", "open"]
_PHOTOGRAPHS = "photographs cannot be"
_NOT_RENDERED = {
    "coco": _PHOTOGRAPHS,
    "flickr30k": "its classes are types such as animals, a scene is drawn again without one kind of them; "
    "photographs cannot be",
    "control": _PHOTOGRAPHS,
}
_GAIN = {"variant": "ours", "other_variant": "finetune", "measure": "odmap@1", "subset": "all"}


@dataclass(frozen=True)
class Check:
    """A question, and the comparison that answers it.

    Attributes:
        question: in words.
        expected: what would speak for the method, or `open`.
        wanted: fields of the row of comparisons.json.
    """

    question: str
    expected: Expected
    wanted: Mapping[str, Any]


def check(question: str, expected: Expected, left: str, right: str, **changes: str) -> Check:
    """A check of two variants on the same set, or (`other_set`) of one variant on two sets: CLIP on COCO but for
    changes.
    """
    wanted = {"dataset": "coco", "model": "clip", "variant": left, "other_variant": right, "set": "synthetic",
              "measure": "odmap@1", "subset": "all"} | changes  # fmt: skip
    return Check(question, expected, {"other_set": wanted["set"]} | wanted)


def empty_box(question: str, dataset: str, variant: str, model: str = "clip") -> Check:
    """Whether R@1 of one variant stays as it is when a box without objects is painted over."""
    sets = {"set": "empty_image_to_text", "other_set": "image_to_text", "measure": "r@1"}
    return check(question, "same", variant, variant, dataset=dataset, model=model, **sets)


def checks(datasets: Sequence[str]) -> list[Check]:
    """All questions, those about empty boxes for each of these data sets before the last."""
    asked = yaml.safe_load(Path(__file__).with_name("checks.yaml").read_text(encoding="utf-8"))
    made = [check(row.pop("question"), row.pop("expected"), *row.pop("variants"), **row) for row in asked]
    boxes = [
        empty_box(question, name, variant)
        for name in datasets
        for question, variant in (
            ("Does a painted empty box leave retrieval as it is, for ours?", "ours"),
            ("And for finetune?", "finetune"),
        )
    ]
    return [*made[:-1], *boxes, made[-1]]


def notes(results: Results, asked: Check, *, level: float, folder: Path, usual: float) -> list[str]:
    """Sentences that belong beside the answer to a question; none beside most.

    Args:
        results: of stage evaluate.
        asked: the question.
        level: of significance.
        folder: of the metrics, with `co_occurrence_{dataset}.csv` and `world_{dataset}.json`.
        usual: P(other | class) from which the other is the class's partner.
    """
    wanted = asked.wanted
    gain = wanted["set"] == wanted["other_set"] == "synthetic" and _GAIN.items() <= wanted.items()
    row = results.comparison(**wanted)
    if not gain or row is None:
        return []
    found = painting_note(results, wanted["dataset"], wanted["model"], level)
    if wanted["dataset"] == "control":
        seeds = min(row["seeds"], row["other_seeds"])
        found += control_note(folder, usual, seeds, compared="coco" in results.datasets)
    return found


def painting_note(results: Results, dataset: str, model: str, level: float) -> list[str]:
    """What painting alone does to retrieval, where that limits what a gain on painted queries says.

    That is where an empty box changes R@1, and where no query was rendered again without its object.
    """
    boxes = {}
    for variant in ("ours", "finetune"):
        row = results.comparison(**empty_box("", dataset, variant, model).wanted)
        if row is not None and row["low"] is not None:
            boxes[variant] = row
    traced = any(shown(row, level) for row in boxes.values())
    rendered = results.comparison(dataset=dataset, model=model, set="rendered", **_GAIN) is not None
    if rendered and not traced:
        return []
    found = []
    if boxes:
        changes = " and ".join(
            f"{points(row['difference'])} points ({variant}, p {probability(row['p'])})"
            for variant, row in boxes.items()
        )
        if traced:
            found.append(
                f"Painting an empty box alone changes R@1 by {changes}: painting itself leaves a trace here, or such a "
                "box holds what nobody annotated; a painted picture differs by more than the missing object."
            )
        else:
            found.append(f"Painting an empty box alone is not shown to change R@1: {changes}.")
    if not rendered:
        found.append(
            f"{DATASETS[dataset]} has no queries rendered again without the object ({_NOT_RENDERED[dataset]}): "
            "whether the gain is the in-painting’s cannot be told there."
        )
    return found


def control_note(folder: Path, usual: float, seeds: int, *, compared: bool) -> list[str]:
    """How much of COCO's co-occurrence the control world still has, how large both are, and from how many seeds.

    Args:
        folder, usual: see `notes`.
        seeds: of the finding.
        compared: whether COCO is there.
    """
    names = ("control", "coco") if compared else ("control",)
    tables = {name: csv.read_csv(folder / f"co_occurrence_{name}.csv").to_pylist() for name in names}
    pictures = {name: int(read_json(folder / f"world_{name}.json")["pictures_train"]) for name in names}
    pairs = planted(tables[names[-1]], tables["control"], usual)
    found = []
    if compared and pairs:
        control, coco = ([each[place] for each in pairs] for place in (0, 1))
        found.append(
            f"Pairs that stand together in COCO have a lift of {_range(coco, 'lift', 1)} there "
            f"(P {_range(coco, 'probability', 2)}) and of {_range(control, 'lift', 1)} in the control world "
            f"(P {_range(control, 'probability', 2)}), 1 being independence: {_weakened(control, coco)}."
        )
    sizes = ", ".join(f"{DATASETS[name]} {count}" for name, count in pictures.items())
    return [*found, f"Training pictures: {sizes}. {'One seed only' if seeds == 1 else f'{seeds} seeds'}."]


def planted(
    coco: Sequence[Mapping[str, Any]], control: Sequence[Mapping[str, Any]], usual: float
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """(row in control, row in COCO) of COCO's classes with a usual partner, as far as control holds the pair."""
    there = {(row["class"], row["other"]): row for row in control if row["lift"] is not None}
    return [
        (there[pair], row)
        for row in partner_rows(coco, len(coco))
        for pair in ((row["class"], row["other"]),)
        if row["probability"] >= usual and row["lift"] > 1 and pair in there
    ]


def _range(rows: Sequence[Mapping[str, Any]], name: str, digits: int) -> str:
    low, high = (f"{pick(row[name] for row in rows):.{digits}f}" for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def _weakened(control: Sequence[Mapping[str, Any]], coco: Sequence[Mapping[str, Any]]) -> str:
    here, there = (sum(row["lift"] for row in rows) / len(rows) for rows in (control, coco))
    if here >= there:
        return "co-occurrence is not weaker in the control world"
    return "co-occurrence is weakened there, not gone" if here > 1 else "co-occurrence is gone there"
