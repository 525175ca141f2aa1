"""Complexity's Table 2: what each factor costs each model, by the paper's analysis and by those beyond it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from trivium.page.common import environment
from trivium.page.complexity.published import published_deltas, published_shares
from trivium.page.figures import forest

Cell = Mapping[str, Any]  # one row of effects.parquet
Cells = Mapping[str, Mapping[str, Cell]]  # model → factor → cell
Metrics = Mapping[str, float]


def cells(rows: Iterable[Cell], models: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Rows of effects.parquet by model, in the given order, and factor."""
    found: dict[str, dict[str, Cell]] = defaultdict(dict)
    for row in rows:
        found[row["model"]][row["factor"]] = row
    return {model: found[model] for model in models if model in found}


def marks(cell: Cell, risk: float) -> str:
    """The signs beside a δ; they need no colour.

    ↓ validated (δ < 0), * significant too, ** after Holm's correction too, ◆ found by every analysis, ◆◆ that after
    Holm's correction; ↑ a gain whose Mann-Whitney p is at most the risk.
    """
    if cell["delta"] is None:
        return ""
    signs = "↓" * cell["validated"]
    signs += "**" if cell["holm_significant"] else "*" * cell["significant"]
    signs += "◆◆" if cell["found_holm"] else "◆" * cell["found"]
    gain = cell["delta"] > 0 and cell["p"] is not None and cell["p"] <= risk
    return signs + "↑" * gain


def table_2_html(
    found: Cells,
    published: Mapping[str, Any],
    metrics: Metrics,
    simulated: Metrics,
    simulated_models: int,
    names: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    measure: str,
    risk: float,
    confidence: float,
    majority: float,
) -> str:
    """Table 2: δ of every model and factor, marked, its numbers to unfold, the published δ beneath.

    Args:
        found: the effects.
        published: tests/published/complexity.yaml.
        metrics: of stage validate: in how many models each factor is validated.
        simulated: of stage simulate: how often a table is marked where nothing is planted.
        simulated_models: rows of its tables.
        names: what each factor says.
        labels: what each model is called.
        measure: the score that was analysed, in words.
        risk, confidence: of that stage.
        majority: share of the models that is most of them.
    """
    printed = published_deltas(published, names)
    rows = [
        {
            "label": labels[model],
            "cells": [{**by_factor[factor], "marks": marks(by_factor[factor], risk)} for factor in names],
            "paper": [printed[model].get(factor) for factor in names] if model in printed else None,
        }
        for model, by_factor in found.items()
    ]
    absent = [
        {"label": published["table_1"]["rows"][model]["label"], "paper": [values.get(factor) for factor in names]}
        for model, values in printed.items()
        if model not in found
    ]
    verdicts = [
        (name, [int(metrics[f"{factor}_{key}"]) for factor in names])
        for key, name in (
            ("validated", "models where validated"),
            ("significant", "and significant"),
            ("holm_significant", "and after Holm"),
            ("found", "found by every analysis"),
        )
    ]
    return (
        environment()
        .get_template("complexity_factors.html")
        .render(
            factors=list(names),
            names=names,
            rows=rows,
            absent=absent,
            verdicts=verdicts,
            metrics=metrics,
            alarms=[
                (sign, rate(simulated, f"null_any_false_alarm_{key}"))
                for sign, key in (("Holm’s correction over the table", "holm"), ("◆", "found"), ("◆◆", "found_holm"))
            ],
            simulated_models=simulated_models,
            untested=[
                factor
                for factor in names
                if any(row[factor]["delta"] is not None and row[factor]["p"] is None for row in found.values())
            ],
            validated=held_for_most(metrics, names, "validated", majority),
            found=held_for_most(metrics, names, "found", majority),
            majority=majority,
            measure=measure,
            risk=risk,
            confidence=confidence,
            source=published["source"],
        )
    )


def rate(metrics: Metrics, name: str) -> tuple[float, float, float] | None:
    """A rate of stage simulate with its interval, None where nothing could be counted."""
    return (metrics[name], metrics[f"{name}_low"], metrics[f"{name}_high"]) if name in metrics else None


def held_for_most(metrics: Metrics, factors: Iterable[str], verdict: str, majority: float) -> int:
    """How many factors have a verdict in more than this share of the models, from the metrics of stage validate."""
    return sum(metrics[f"{factor}_{verdict}"] > majority * metrics["models"] for factor in factors)


def forest_html(
    found: Cells,
    labels: Mapping[str, str],
    whole: Mapping[str, float | None],
    *,
    measure: str,
    confidence: float,
) -> str:
    """Each model's δ beside the factor's coefficient when all factors are held together, as figures and a table.

    Args:
        found: the effects.
        labels: what each model is called.
        whole: factors that are constant in every frame: Cramér's V with the element asked for, None where undefined.
        measure: the score that was analysed, in words.
        confidence: of the intervals.
    """
    drawn = []
    for model, by_factor in found.items():
        plain = [_estimate(by_factor[factor], "delta", "low", "high") for factor in by_factor]
        joint = [_estimate(by_factor[factor], "joint", "joint_low", "joint_high") for factor in by_factor]
        svg = forest(
            list(by_factor),
            {"plain δ": plain, "all factors together": joint},
            title=f"Effects of the factors on {labels[model]}",
            xlabel=f"points of {measure}",
        )
        drawn.append({"label": labels[model], "svg": Markup(svg)})
    rows = [(labels[model], factor, by_factor[factor]) for model, by_factor in found.items() for factor in by_factor]
    return (
        environment()
        .get_template("complexity_forest.html")
        .render(drawn=drawn, rows=rows, whole=whole, confidence=confidence)
    )


def _estimate(cell: Cell, value: str, low: str, high: str) -> tuple[float, float, float] | None:
    numbers = cell[value], cell[low], cell[high]
    return None if None in numbers else numbers


def shares_html(metrics: Metrics, published: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """How many examples each factor calls harder, the threshold used, those it does not count; the paper's share."""
    paper = published_shares(published, names)
    rows = [
        {
            "factor": factor,
            "name": name,
            "share": metrics[f"{factor}_share"],
            "uncounted": int(metrics[f"{factor}_uncounted"]),
            "threshold": metrics.get(f"{factor}_threshold"),
            "balance": metrics.get(f"{factor}_balance"),
            "corrected": metrics.get(f"{factor}_balance_corrected"),
            "paper": paper.get(factor),
        }
        for factor, name in names.items()
    ]
    return environment().get_template("complexity_shares.html").render(rows=rows, metrics=metrics)
