"""Where decorrelation's effect comes from, and where a model is too weak for it to say much; computed from numbers."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trivium.core.tables import read_json
from trivium.page.decorrelation.corpus import ClassPair, class_pairs
from trivium.page.decorrelation.results import Results, model_label, shown
from trivium.page.html import render
from trivium.page.published import DATASETS

WEAK = 0.5  # of CLIP's R@1, below which a model is called weak
_FEW = 3  # classes at either end
_MOVED = {1: "rises with D′", 0: "is not shown to change with D′", -1: "falls with D′"}


def diagnosis_html(
    results: Results, classes: Sequence[Mapping[str, Any]], models: Mapping[str, Any], level: float, margin: float,
    folder: Path,
) -> Markup:  # fmt: skip
    """Which removed classes gain, which models are weak, and which trainings ended above collapse.

    Args:
        results: of stage evaluate.
        classes: its rows by removed class.
        models: how each is trained.
        level: of significance.
        margin: difference in [0, 1] above which a class gains.
        folder: of the metrics, with `train_{cell}.json`.
    """
    pairs, control = class_pairs(classes, "coco", "clip"), class_pairs(classes, "control", "clip")
    return render(
        "decorrelation_diagnosis.html",
        gains=class_gains(pairs, margin, control) if len(pairs) > 1 else None,
        margin=margin,
        weak=weak_models(results, level),
        unlearnt=unlearnt(results, models, folder),
    )


def class_gains(pairs: Sequence[ClassPair], margin: float, control: Sequence[ClassPair]) -> dict[str, Any]:
    """Which removed classes gain ODmAP@1 and which do not, with how often the first sentence named what is gone.

    Args:
        pairs: at least two, the largest gain first.
        margin: difference in [0, 1] above which a class gains.
        control: the same of the control world, empty where it was not run.

    Returns:
        `gaining`, `idle`: how many classes gain more than the margin, or nothing; `first` and `last` ones of the list;
        `usual`: how often finetune names what is gone; of the last ones `seldom` named less than half as often, and
        `still` named by ours; `elsewhere`: how often finetune names the latter in the control world, None where that
        is not known of all, beside `usual_elsewhere`.
    """
    few = min(_FEW, len(pairs) // 2)
    gains = [after["odmap@1"] - before["odmap@1"] for _, before, after in pairs]
    last, usual = pairs[: -few - 1 : -1], _usually_named(pairs)
    often = [pair for pair in last if pair[1]["removed_named"] >= usual / 2]
    still = [name for name, before, after in often if after["removed_named"] >= before["removed_named"] - margin]
    named = {name: before["removed_named"] for name, before, _ in control}
    return {
        "classes": len(pairs),
        "gaining": sum(gain > margin for gain in gains),
        "idle": sum(gain <= 0 for gain in gains),
        "first": pairs[:few],
        "last": last,
        "usual": usual,
        "seldom": [name for name, before, _ in last if before["removed_named"] < usual / 2],
        "still": still,
        "elsewhere": [named[name] for name in still] if named.keys() >= set(still) else None,
        "usual_elsewhere": _usually_named(control),
    }


def _usually_named(pairs: Sequence[ClassPair]) -> float:
    """The share of queries whose removed class finetune names; 0 without queries."""
    queries = sum(before["queries"] for _, before, _ in pairs)
    return sum(before["removed_named"] * before["queries"] for _, before, _ in pairs) / max(queries, 1)


def weak_models(results: Results, level: float) -> list[dict[str, Any]]:
    """Models whose R@1 on untouched pictures is below `WEAK` of CLIP's, by finetune or by ours, and what that does."""
    weak = []
    for dataset, model in product(results.datasets, results.models):
        own, clip = _recalls(results, dataset, model), _recalls(results, dataset, "clip")
        recalls = [(variant, own[variant], clip[variant]) for variant in own if variant in clip]
        if any(recall < WEAK * clips for _, recall, clips in recalls):
            gain = results.against_finetune(dataset, model, "synthetic", "odmap@1")
            fit = results.against_finetune(dataset, model, "image_to_text", "r@1")
            moved = fit and _MOVED[shown(fit, level)]
            weak.append({"model": model_label(model), "dataset": DATASETS[dataset], "recalls": recalls,
                         "gain": gain, "fit": fit, "moved": moved})  # fmt: skip
    return weak


def unlearnt(results: Results, train: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Where VSE++'s loss ended, against twice the margin a pair: its value when all similarities are the same."""
    ended = []
    for members in results.members.values():
        cell = next(iter(members.values()))
        if cell.model.startswith("vse") and cell.variant != "zero_shot":
            settings = train[cell.model]
            losses = [read_json(folder / f"train_{name}.json")["loss"] / settings["batch_size"] for name in members]
            title = f"{model_label(cell.model)} on {DATASETS[cell.dataset]}, {cell.variant}"
            ended.append({"title": title, "losses": losses, "collapse": 2 * settings["margin"]})
    return ended


def _recalls(results: Results, dataset: str, model: str) -> dict[str, float]:
    names = {variant: f"{dataset}_{model}_{variant}_image_to_text_r@1" for variant in ("finetune", "ours")}
    return {variant: results.metrics[name] for variant, name in names.items() if name in results.metrics}
