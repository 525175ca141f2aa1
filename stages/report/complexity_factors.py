"""Complexity's Table 2: what each factor costs each model, by the paper's analysis and by those beyond it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from stages.complexity.factor_table import FACTORS
from stages.report.common import environment
from stages.report.figures import forest

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
    names: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    measure: str,
    risk: float,
    confidence: float,
) -> str:
    """Table 2: δ of every model and factor, marked, its numbers to unfold, the published δ beneath.

    Args:
        found: the effects.
        published: tests/published/complexity.yaml.
        metrics: of stage validate: in how many models each factor is validated.
        names: what each factor says.
        labels: what each model is called.
        measure: the score that was analysed, in words.
        risk, confidence: of that stage.
    """
    printed = published["table_2"]["rows"]
    rows = [
        {
            "label": labels[model],
            "cells": [{**by_factor[factor], "marks": marks(by_factor[factor], risk)} for factor in FACTORS],
            "paper": printed.get(model),
        }
        for model, by_factor in found.items()
    ]
    absent = [
        {"label": published["table_1"]["rows"][model]["label"], "paper": values}
        for model, values in printed.items()
        if model not in found
    ]
    verdicts = [
        (name, [int(metrics[f"{factor}_{key}"]) for factor in FACTORS])
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
            factors=FACTORS,
            names=names,
            rows=rows,
            absent=absent,
            verdicts=verdicts,
            metrics=metrics,
            measure=measure,
            risk=risk,
            confidence=confidence,
            source=published["source"],
        )
    )


def forest_html(found: Cells, labels: Mapping[str, str], *, measure: str, confidence: float) -> str:
    """Each model's δ beside the factor's coefficient when all factors are held together, as figures and a table."""
    drawn = []
    for model, by_factor in found.items():
        plain = [_estimate(by_factor[factor], "delta", "low", "high") for factor in FACTORS]
        joint = [_estimate(by_factor[factor], "joint", "joint_low", "joint_high") for factor in FACTORS]
        svg = forest(
            FACTORS,
            {"plain δ": plain, "all factors together": joint},
            title=f"Effects of the factors on {labels[model]}",
            xlabel=f"points of {measure}",
        )
        drawn.append({"label": labels[model], "svg": Markup(svg)})
    rows = [(labels[model], factor, by_factor[factor]) for model, by_factor in found.items() for factor in FACTORS]
    return environment().get_template("complexity_forest.html").render(drawn=drawn, rows=rows, confidence=confidence)


def _estimate(cell: Cell, value: str, low: str, high: str) -> tuple[float, float, float] | None:
    numbers = cell[value], cell[low], cell[high]
    return None if None in numbers else numbers


def shares_html(metrics: Metrics, published: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """How many examples each factor calls harder, the threshold used, those it does not count; the paper's share."""
    rows = [
        {
            "factor": factor,
            "name": names[factor],
            "share": metrics[f"{factor}_share"],
            "uncounted": int(metrics[f"{factor}_uncounted"]),
            "threshold": metrics.get(f"{factor}_threshold"),
            "balance": metrics.get(f"{factor}_balance"),
            "paper": share,
        }
        for factor, share in zip(FACTORS, published["table_2"]["shares"], strict=True)
    ]
    return environment().get_template("complexity_shares.html").render(rows=rows, metrics=metrics)


def findings(
    found: Cells,
    published: Mapping[str, Any],
    metrics: Metrics,
    names: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    risk: float,
) -> list[dict[str, Any]]:
    """What our analysis and the paper's table say of each factor, and what our numbers offer as reasons.

    Args:
        found: the effects.
        published: tests/published/complexity.yaml.
        metrics: of stage factors: how far each factor is tied to the element asked for.
        names: what each factor says.
        labels: what each model is called.
        risk: of the tests.

    Returns:
        For each factor: models with δ < 0 here and in the paper, models of each verdict, and the models whose cells
        would be read differently by another analysis.
    """
    printed = published["table_2"]["rows"]
    rows = []
    for place, factor in enumerate(FACTORS):
        known = {model: each[factor] for model, each in found.items() if each[factor]["delta"] is not None}

        def models(test: Any, known: Mapping[str, Cell] = known) -> list[str]:
            return [labels[model] for model, cell in known.items() if test(cell)]

        both = [model for model in known if model in printed]
        rows.append(
            {
                "factor": factor,
                "name": names[factor],
                "models": len(known),
                "validated": models(lambda cell: cell["validated"]),
                "significant": models(lambda cell: cell["significant"]),
                "holm": models(lambda cell: cell["holm_significant"]),
                "found": models(lambda cell: cell["found"]),
                "paper_models": len(printed),
                "paper_negative": sum(values[place] < 0 for values in printed.values()),
                "gains": models(lambda cell: cell["delta"] > 0 and cell["p"] is not None and cell["p"] <= risk),
                "balance": metrics.get(f"{factor}_balance"),
                "other_sign": [
                    labels[model] for model in both if (known[model]["delta"] < 0) != (printed[model][place] < 0)
                ],
                "joint_disagrees": models(
                    lambda cell: cell["joint"] is not None and (cell["joint"] < 0) != (cell["delta"] < 0)
                ),
                "only_examples": models(
                    lambda cell: cell["significant"] and (cell["p_frame"] is None or cell["p_frame"] > risk)
                ),
                "smaller": min((min(cell["yes"], cell["no"]) for cell in known.values()), default=0),
            }
        )
    return rows


def findings_html(
    found: Cells,
    published: Mapping[str, Any],
    metrics: Metrics,
    names: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    risk: float,
    sample: bool,
) -> str:
    """The findings in words, factor by factor; `metrics` are those of stage factors."""
    rows = findings(found, published, metrics, names, labels, risk=risk)
    return environment().get_template("complexity_findings.html").render(rows=rows, risk=risk, sample=sample)
