"""Where decorrelation's effect comes from, and where a model is too weak for it to say much; computed from numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trivium.core.tables import read_json
from trivium.decorrelation.matrix import groups
from trivium.page.decorrelation.corpus import class_pairs
from trivium.page.decorrelation.results import Results, model_label, shown
from trivium.page.html import points, render
from trivium.page.published import DATASETS

WEAK = 0.5  # of CLIP's R@1, below which a model is called weak
_FEW = 3  # classes at either end
ClassPair = tuple[str, Mapping[str, Any], Mapping[str, Any]]


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
    pairs = class_pairs(classes, "coco", "clip")
    return render(
        "decorrelation_diagnosis.html",
        classes=class_gains(pairs, margin, class_pairs(classes, "control", "clip")),
        warnings=weak_models(results, level) + unlearnt(results, models, folder),
    )


def class_gains(pairs: Sequence[ClassPair], margin: float, control: Sequence[ClassPair]) -> list[str]:
    """Which removed classes gain ODmAP@1 and which do not, with how often the first sentence named what is gone.

    Args:
        pairs: (class, its row for finetune, its row for ours), the largest gain first.
        margin: difference in [0, 1] above which a class gains.
        control: the same of the control world, empty where it was not run.
    """
    few = min(_FEW, len(pairs) // 2)
    if not few:
        return []
    gains = [_gain(pair) for pair in pairs]
    said = [
        f"By removed class, CLIP on COCO: {sum(gain > margin for gain in gains)} of {len(pairs)} classes gain more "
        f"than {100 * margin:g} points of ODmAP@1, {sum(gain <= 0 for gain in gains)} gain nothing; single classes "
        "have no intervals. In brackets how often the first sentence names what is gone, finetune → ours.",
        f"Largest gains: {', '.join(_told(pair) for pair in pairs[:few])}.",
        f"Smallest: {', '.join(_told(pair) for pair in pairs[:-few - 1:-1])}.",
    ]  # fmt: skip
    queries = sum(after["queries"] for _, _, after in pairs)
    usual = sum(before["removed_named"] * before["queries"] for _, before, _ in pairs) / queries
    last = pairs[: -few - 1 : -1]
    seldom = [name for name, before, _ in last if before["removed_named"] < usual / 2]
    still = [
        name
        for name, before, after in last
        if before["removed_named"] >= usual / 2 and after["removed_named"] >= before["removed_named"] - margin
    ]
    if seldom:
        said.append(
            f"Little to gain: {', '.join(seldom)}, named less than half as often by finetune as removed objects are on "
            f"average ({100 * usual:.0f} %)."
        )
    if still:
        said.append(f"Not learnt: {', '.join(still)}, named by ours within {100 * margin:g} points as often as before.")
        said.append(_unplanted(still, control))
    return said


def _unplanted(names: Sequence[str], control: Sequence[ClassPair]) -> str:
    """How often classes are named after they went where nothing is planted, which tells recognition from habit."""
    named = {name: before["removed_named"] for name, before, _ in control}
    if any(name not in named for name in names):
        return "Why was not investigated in this run."
    queries = sum(before["queries"] for _, before, _ in control)
    usual = sum(before["removed_named"] * before["queries"] for _, before, _ in control) / queries
    shares = ", ".join(f"{100 * named[name]:.0f}" for name in names)
    text = (
        f"In the control world, where nothing is planted, finetune names {', '.join(names)} after they went in "
        f"{shares} %, any class in {100 * usual:.0f} % of the queries: "
    )
    if all(named[name] > usual for name in names):
        return text + "other things are taken for them there too, so that co-occurrence is not all of the cause."
    return text + "not all of them are mistaken more often than others; the cause was not investigated."


def weak_models(results: Results, level: float) -> list[str]:
    """A warning for every model whose R@1 on untouched pictures is below `WEAK` of CLIP's, by finetune or by ours."""
    said = []
    for dataset in results.datasets:
        clip = _recalls(results, dataset, "clip")
        for model in results.models:
            own = _recalls(results, dataset, model)
            both = [variant for variant in own if variant in clip]
            if not any(own[variant] < WEAK * clip[variant] for variant in both):
                continue
            ours, other = (
                ", ".join(f"{100 * values[variant]:.1f} % ({variant})" for variant in both) for values in (own, clip)
            )
            text = (
                f"{model_label(model)} on {DATASETS[dataset]} seldom finds the caption of an untouched picture: "
                f"R@1 {ours}; CLIP: {other}. "
            )
            said.append(text + _mixed(results, dataset, model, level))
    return said


def unlearnt(results: Results, train: Mapping[str, Any], folder: Path) -> list[str]:
    """Where VSE++'s loss ended, against twice the margin a pair: its value when all similarities are the same."""
    said = []
    for members in groups(results.cells).values():
        cell = next(iter(members.values()))
        if not cell.model.startswith("vse"):
            continue
        settings = train[cell.model]
        collapse = 2 * settings["margin"]
        losses = [read_json(folder / f"train_{each}.json")["loss"] / settings["batch_size"] for each in members]
        above = sum(loss > collapse for loss in losses)
        text = (
            f"{model_label(cell.model)} on {DATASETS[cell.dataset]}, {cell.variant}: the loss ended at "
            f"{', '.join(f'{loss:.3f}' for loss in losses)} a pair (mean of the last tenth of the steps); a model for "
            f"which every caption fits every picture alike has 2 × margin = {collapse:.3f}. "
        )
        if above:
            which = "The training" if len(losses) == 1 else f"{above} of {len(losses)} trainings"
            text += (
                f"{which} ended above it: the hardest negatives still cost more than if no pair were told from another."
            )
        else:
            text += "No training ended above it."
        said.append(text)
    return said


def _gain(pair: ClassPair) -> float:
    return float(pair[2]["odmap@1"] - pair[1]["odmap@1"])


def _told(pair: ClassPair) -> str:
    name, before, after = pair
    named = f"{100 * before['removed_named']:.0f} → {100 * after['removed_named']:.0f} %"
    return f"{name} {points(_gain(pair))} ({named})"


def _recalls(results: Results, dataset: str, model: str) -> dict[str, float]:
    found = {name: results.value(f"{dataset}_{model}_{name}", "image_to_text", "r@1") for name in ("finetune", "ours")}
    return {name: value.mean for name, value in found.items() if value is not None}


def _mixed(results: Results, dataset: str, model: str, level: float) -> str:
    fields = {"dataset": dataset, "model": model, "variant": "ours", "other_variant": "finetune"}
    gain = results.comparison(**fields, set="synthetic", measure="odmap@1")
    fit = results.comparison(**fields, set="image_to_text", measure="r@1")
    if gain is None or fit is None:
        return "What its ODmAP says about looking at the picture is little."
    moved = {1: "rises with D′", 0: "is not shown to change with D′", -1: "falls with D′"}[shown(fit, level)]
    return (
        f"Its difference in ODmAP@1 ({points(gain['difference'])} points) mixes better fitting with looking at the "
        f"picture; R@1 {moved} ({points(fit['difference'])} points)."
    )
