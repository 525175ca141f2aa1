"""What complexity's Table 2 says, factor by factor, beside the paper's, and what our examples offer as reasons."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from stages.complexity.effects.factor_table import FACTORS
from stages.report.common import environment
from stages.report.complexity_factors import Cell, Cells, Metrics
from stages.report.complexity_reasons import PROPERTIES, Corpus, breakdowns, reason


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
        For each factor: models with δ < 0 here and in the paper, models of each verdict, the models whose cells
        would be read differently by another analysis, and those whose δ has another sign than the paper's: their cell
        and the paper's δ, None for a model that the paper does not have, which is held against the mean of all.
    """
    printed = published["table_2"]["rows"]
    rows = []
    for place, factor in enumerate(FACTORS):
        known = {model: each[factor] for model, each in found.items() if each[factor]["delta"] is not None}

        def models(test: Any, known: Mapping[str, Cell] = known) -> list[str]:
            return [labels[model] for model, cell in known.items() if test(cell)]

        mean = fmean(values[place] for values in printed.values())
        paper = {model: printed[model][place] if model in printed else mean for model in known}
        rows.append(
            {
                "factor": factor,
                "name": names[factor],
                "models": len(known),
                "validated": models(lambda cell: cell["validated"]),
                "significant": models(lambda cell: cell["significant"]),
                "holm": models(lambda cell: cell["holm_significant"]),
                "found": models(lambda cell: cell["found"]),
                "paper_mean": mean,
                "paper_models": len(printed),
                "paper_negative": sum(values[place] < 0 for values in printed.values()),
                "gains": models(lambda cell: cell["delta"] > 0 and cell["p"] is not None and cell["p"] <= risk),
                "balance": metrics.get(f"{factor}_balance"),
                "other_sign": {
                    model: (cell, paper[model] if model in printed else None)
                    for model, cell in known.items()
                    if (cell["delta"] < 0) != (paper[model] < 0)
                },
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
    corpus: Corpus,
    *,
    measure: str,
    risk: float,
    confidence: float,
    sample: bool,
) -> str:
    """The findings in words, factor by factor, with what goes along with them in the examples.

    Args:
        found, published, metrics, names, labels, risk: see `findings`.
        corpus: the examples.
        measure: the score that was analysed, in words.
        confidence: of the intervals of δ.
        sample: whether the examples are the sample world's.
    """
    rows = findings(found, published, metrics, names, labels, risk=risk)
    for row in rows:
        row["turned"] = [
            (labels[model], cell, paper, reason(corpus, model, row["factor"], cell["delta"]))
            for model, (cell, paper) in row["other_sign"].items()
        ]
    return (
        environment()
        .get_template("complexity_findings.html")
        .render(
            rows=rows,
            properties=list(PROPERTIES),
            breakdowns=breakdowns(corpus, list(found), labels),
            measure=measure,
            risk=risk,
            confidence=confidence,
            sample=sample,
        )
    )
