"""Complexity's Table 2: what each factor costs each model, by the paper's analysis and by those beyond it."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from trivium.claims.registry import Verdict
from trivium.complexity.effects.analysed_tables import read_factors
from trivium.complexity.effects.planted_effects import CRITERIA, Curves, by_curve, power_at
from trivium.complexity.effects.regression import of_frames
from trivium.page.complexity.material import Effect, Material, Metrics
from trivium.page.figures import forest
from trivium.page.html import Column, between, decimal, figure, interval, percent, render, signed, small, table
from trivium.page.thorough import claim_html

METHODS = {  # analysis → its name, and its sign or source
    "mann_whitney": ("Mann–Whitney", "the paper’s test"),
    "holm": ("the same after Holm’s correction", ""),
    "bootstrap": ("bootstrap interval of δ, by text", ""),
    "frame": ("frames as units", ""),
    "joint": ("regression on all factors together", ""),
    "found": ("found by every analysis", "◆"),
    "found_holm": ("that after Holm’s correction", "◆◆"),
}
_VERDICTS = {
    "validated": "models where validated",
    "significant": "and significant",
    "holm_significant": "and after Holm",
    "found": "found by every analysis",
}


def marks(effect: Effect, risk: float) -> str:
    """The signs beside a δ; they need no colour.

    ↓ validated (δ < 0), * significant too, ** after Holm's correction too, ◆ found by every analysis, ◆◆ that after
    Holm's correction; ↑ a gain whose Mann-Whitney p is at most the risk.
    """
    if effect["delta"] is None:
        return ""
    signs = "↓" * effect["validated"]
    signs += "**" if effect["holm_significant"] else "*" * effect["significant"]
    signs += "◆◆" if effect["found_holm"] else "◆" * effect["found"]
    gain = effect["delta"] > 0 and effect["p"] is not None and effect["p"] <= risk
    return signs + "↑" * gain


def table_2_html(of: Material) -> Markup:
    """Table 2: δ of every model and factor, marked, its numbers to unfold, the published δ beneath."""
    printed, metrics, simulated = of.printed_deltas(), of.metrics("validate"), of.metrics("simulate")
    rows = [
        {
            "label": of.labels[model],
            "cells": [{**by_factor[factor], "marks": marks(by_factor[factor], of.risk)} for factor in of.names],
            "paper": [printed[model].get(factor) for factor in of.names] if model in printed else None,
        }
        for model, by_factor in of.effects.items()
    ]
    absent = [
        {"label": of.published["table_1"]["rows"][model]["label"], "paper": [row.get(factor) for factor in of.names]}
        for model, row in printed.items()
        if model not in of.effects
    ]
    majority = of.used["partition"]["majority"]
    alarms = {"Holm’s correction over the table": "holm", "◆": "found", "◆◆": "found_holm"}
    return render(
        "complexity_factors.html",
        of=of,
        rows=rows,
        absent=absent,
        verdicts={name: [int(metrics[f"{factor}_{key}"]) for factor in of.names] for key, name in _VERDICTS.items()},
        metrics=metrics,
        alarms=[(sign, rate(simulated, f"null_any_false_alarm_{key}")) for sign, key in alarms.items()],
        untested=[
            factor
            for factor in of.names
            if any(row[factor]["delta"] is not None and row[factor]["p"] is None for row in of.effects.values())
        ],
        validated=held_for_most(metrics, of.names, "validated", majority),
        found=held_for_most(metrics, of.names, "found", majority),
        majority=majority,
    )


def rate(metrics: Metrics, name: str) -> tuple[float, float, float] | None:
    """A rate of stage simulate with its interval, None where nothing could be counted."""
    return (metrics[name], metrics[f"{name}_low"], metrics[f"{name}_high"]) if name in metrics else None


def held_for_most(metrics: Metrics, factors: Iterable[str], verdict: str, majority: float) -> int:
    """How many factors have a verdict in more than this share of the models, from the metrics of stage validate."""
    return sum(metrics[f"{factor}_{verdict}"] > majority * metrics["models"] for factor in factors)


def forest_html(of: Material) -> Markup:
    """Each model's δ beside the factor's coefficient when all factors are held together, as figures and a table.

    Of factors that are constant in every frame it gives Cramér's V with the element asked for, where that is defined.
    """
    coded, balance = read_factors(of.data / "factors.parquet"), of.metrics("factors")
    constant = of_frames(coded.factors, coded.frames)
    whole = {name: balance.get(f"{name}_balance") for name, same in zip(coded.names, constant, strict=True) if same}
    drawn, rows = Markup(), []
    for model, by_factor in of.effects.items():
        series = {
            "plain δ": [_estimate(effect, "delta", "low", "high") for effect in by_factor.values()],
            "all factors together": [
                _estimate(effect, "joint", "joint_low", "joint_high") for effect in by_factor.values()
            ],
        }
        title = f"Effects of the factors on {of.labels[model]}"
        svg = forest(list(by_factor), series, title=title, xlabel=f"points of {of.measure}")
        drawn += figure(svg, Markup("<strong>{}</strong>").format(of.labels[model]))
        for factor, effect in by_factor.items():
            rows.append(
                [
                    f"{of.labels[model]}, {factor}",
                    effect["yes"],
                    effect["no"],
                    signed(effect["delta"], 2),
                    between(effect["low"], effect["high"]),
                    *(decimal(effect[key], 4) for key in ("p", "p_holm", "p_frame")),
                    signed(effect["joint"], 2),
                    between(effect["joint_low"], effect["joint_high"]),
                    *(decimal(effect[key], 4) for key in ("joint_p", "p_all")),
                ]
            )
    columns = ("Model and factor", "yes", "no", "δ", "interval", "p", "p Holm", "p frames", "joint", "interval",
               "p joint", "largest p")  # fmt: skip
    numbers = table(columns, rows)
    return render("complexity_forest.html", drawn=drawn, numbers=numbers, whole=whole, confidence=of.confidence)


def _estimate(effect: Effect, value: str, low: str, high: str) -> tuple[float, float, float] | None:
    numbers = effect[value], effect[low], effect[high]
    return None if None in numbers else numbers


def shares_html(of: Material) -> Markup:
    """How many examples each factor calls harder, the threshold used, those it does not count; the paper's share."""
    paper, metrics = of.printed_shares(), of.metrics("factors")
    rows = []
    for factor, name in of.names.items():
        threshold = metrics.get(f"{factor}_threshold")
        rows.append(
            [
                Markup("<b>{}</b> {}").format(factor, name),
                percent(metrics[f"{factor}_share"]),
                int(metrics[f"{factor}_uncounted"]),
                None if threshold is None else f"{threshold:.4g}",
                decimal(metrics.get(f"{factor}_balance"), 2),
                decimal(metrics.get(f"{factor}_balance_corrected"), 2),
                paper.get(factor),
            ]
        )
    columns = ("Factor", "harder", "not counted", "threshold", "tied to the element", "without bias",
               Column("harder\npaper", "published"))  # fmt: skip
    caption = render("complexity_shares_caption.html", examples=metrics["examples"])
    return table(columns, rows, caption) + render("complexity_shares.html", factors=list(of.names), metrics=metrics)


def expected_finds(curves: Curves, deltas: Iterable[tuple[str, float]], criterion: str) -> float:
    """How many of these (factor, δ) a study of the paper's size finds in the mean, were each of them true."""
    return sum(power_at(curves["paper", criterion, factor], delta) for factor, delta in deltas)


def method_label(criterion: str, behind: str = "") -> Markup:
    """An analysis with its sign, as the heading of a row."""
    name, note = METHODS[criterion]
    sign = Markup(" ") + small(note) if note else Markup()
    return Markup("{}{}{}").format(name, sign, behind)


def paper_study_html(of: Material) -> Markup:
    """What a study of the paper's size can say beside its Table 2.

    How often each criterion calls a factor worse that does nothing, where one half of the risk lies on the side of
    "worse"; and how many of the paper's losses it finds.
    """
    curves, nominal = by_curve(of.powers), of.risk / 2
    factors = list(dict.fromkeys(power.factor for power in of.powers))
    nothing = {key: next(power for power in group if power.planted == 0) for key, group in curves.items()}
    called = [
        [
            method_label(criterion, f", size of the {size}"),
            *(
                percent(power.power) + interval((power.low, power.high), digits=0)
                for factor in factors
                for power in (nothing[size, criterion, factor],)
            ),
        ]
        for size in dict.fromkeys(power.size for power in of.powers)
        for criterion in CRITERIA
    ]
    losses = [
        (model, factor, value)
        for model, row in of.printed_deltas().items()
        for factor, value in row.items()
        if value < 0 and factor in factors
    ]
    counts = [sum(factor == wanted for _, factor, _ in losses) for wanted in factors]
    finds: list[list[Any]] = [["negative δ in the paper", *counts, len(losses), len(losses)]]
    for criterion in CRITERIA:
        each = [expected_finds(curves, [(factor, value)], criterion) for _, factor, value in losses]
        nearer = sum(expected_finds(curves, [(factor, value + 1)], criterion) for _, factor, value in losses)
        by_factor = [
            sum(found for found, (_, factor, _) in zip(each, losses, strict=True) if factor == wanted)
            for wanted in factors
        ]
        finds.append([method_label(criterion), *map(decimal, by_factor), decimal(sum(each)), decimal(nearer)])
    strongest = {factor: min(power.delta for power in curves["paper", CRITERIA[0], factor]) for factor in factors}
    columns = ["Analysis", *(Column(factor, tip=of.names[factor]) for factor in factors)]
    alone = (
        "Nothing is planted: cells that are called worse, %. Brackets: 95 % interval with simulations as the trials."
    )
    negative = (
        "The paper’s negative δ that a study of its size is expected to find, had it the texts and factors of this "
        "corpus"
    )
    return render(
        "complexity_paper_study.html",
        nominal=nominal,
        called=table(columns, called, alone),
        too_often={
            METHODS[criterion][0]: [f for f in factors if nothing["paper", criterion, f].low > nominal]
            for criterion in ("mann_whitney", "frame")
        },
        losses=len(losses),
        finds=table([*columns, "all", Column("all, a point nearer to 0", "wrap")], finds, negative),
        outside=[
            (of.published["table_1"]["rows"][model]["label"], factor, value, strongest[factor])
            for model, factor, value in losses
            if value < strongest[factor]
        ],
    )


def first_claim_html(
    effects: Mapping[str, Mapping[str, Effect]], names: Mapping[str, str], labels: Mapping[str, str], measure: str
) -> Markup:
    """What complexity's page begins with: whether there is a factor that costs every model something.

    It holds where δ is below 0 for every model and, after Holm's correction, significant for more than half of them.
    """
    everywhere = {
        factor: [each[factor] for each in effects.values()]
        for factor in names
        if all(each[factor]["delta"] is not None and each[factor]["delta"] < 0 for each in effects.values())
    }
    shown = any(2 * sum(effect["holm_significant"] for effect in row) > len(row) for row in everywhere.values())
    said: Verdict = "holds" if shown else "cannot tell" if everywhere else "does not hold"
    costs = [
        f"{factor} ({names[factor]}) by {', '.join(signed(effect['delta'], 1) for effect in row)} points, after Holm’s "
        f"correction significant for {sum(effect['holm_significant'] for effect in row)}"
        for factor, row in everywhere.items()
    ]
    models = ", ".join(labels[model] for model in effects)
    seen = f"Mean {measure} of {models} changes where a factor is present: " + "; ".join(costs) + "."
    nothing = f"No factor lowers the mean {measure} of each of {models}."
    sentence = "There are meanings that make questions harder for every model."
    return claim_html(sentence, said, seen if costs else nothing)
