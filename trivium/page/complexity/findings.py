"""What complexity's Table 2 says, factor by factor, beside the paper's, and what our examples offer as reasons."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from trivium.claims.registry import Verdict
from trivium.page.claims import claim_html
from trivium.page.common import environment, signed
from trivium.page.complexity.factors import Cell, Cells, Metrics
from trivium.page.complexity.published import published_deltas
from trivium.page.complexity.reasons import PROPERTIES, Corpus, breakdowns, reason


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
        would be read differently by another analysis, and those whose δ has another sign than the paper's or, where
        the signs do not differ, an interval without it: their cell and the paper's δ, None for a model that the paper
        does not have, which is held against the mean of all. Of a factor that the paper does not have there is no
        paper's mean, and no such model.
    """
    printed = published_deltas(published, names)
    rows = []
    for factor, name in names.items():
        known = {model: each[factor] for model, each in found.items() if each[factor]["delta"] is not None}

        def models(test: Any, known: Mapping[str, Cell] = known) -> list[str]:
            return [labels[model] for model, cell in known.items() if test(cell)]

        theirs = {model: values[factor] for model, values in printed.items() if factor in values}
        mean = fmean(theirs.values()) if theirs else None
        paper = {} if mean is None else {model: theirs.get(model, mean) for model in known}
        rows.append(
            {
                "factor": factor,
                "name": name,
                "models": len(known),
                "validated": models(lambda cell: cell["validated"]),
                "significant": models(lambda cell: cell["significant"]),
                "holm": models(lambda cell: cell["holm_significant"]),
                "found": models(lambda cell: cell["found"]),
                "paper_mean": mean,
                "paper_models": len(theirs),
                "paper_negative": sum(value < 0 for value in theirs.values()),
                "gains": models(lambda cell: cell["delta"] > 0 and cell["p"] is not None and cell["p"] <= risk),
                "balance": metrics.get(f"{factor}_balance"),
                "corrected": metrics.get(f"{factor}_balance_corrected"),
                "other_sign": {
                    model: (known[model], theirs.get(model))
                    for model, value in paper.items()
                    if differs(known[model], value)
                },
                "other_size": {
                    model: (known[model], theirs.get(model))
                    for model, value in paper.items()
                    if not differs(known[model], value) and not holds(known[model], value)
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


def differs(cell: Cell, paper: float) -> bool:
    """Whether δ has another sign than the paper's, whose 0 is rounded down: it has none."""
    return paper != 0 and (cell["delta"] < 0) != (paper < 0)


def holds(cell: Cell, paper: float) -> bool:
    """Whether the interval of δ holds the paper's, which is rounded down: anywhere from that to a point more."""
    return cell["low"] is None or (cell["low"] < paper + 1 and cell["high"] >= paper)


def sizes(
    found: Cells, published: Mapping[str, Any], means: Mapping[str, float], labels: Mapping[str, str]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """How large δ is on the whole, model by model, beside the paper's, and what goes along with it.

    Args:
        found, published, labels: see `findings`.
        means: of the measure analysed, in [0, 1], by model.

    Returns:
        A row a model: `room` up to a mean of 100, `size` (mean |δ|) and `half` width of the intervals in points, how
        many `intervals` there are and hold the paper's δ (`inside`), the paper's `paper_room` and `paper_size` (None
        for a model of ours alone). And sums: intervals, inside; models that the paper has (`beside`), those of a larger
        mean |δ| than there (`wide`), and of these those with more room (`roomier`).
    """
    scores = published["table_1"]["rows"]
    printed = published_deltas(published, next(iter(found.values()), {}))
    average = {factor: fmean(row[factor] for row in printed.values()) for factor in next(iter(printed.values()), {})}
    rows: list[dict[str, Any]] = []
    for model, by_factor in found.items():
        paper = printed.get(model)
        beside = average if paper is None else paper
        known = {factor: cell for factor, cell in by_factor.items() if cell["delta"] is not None}
        bounded = {factor: cell for factor, cell in known.items() if cell["low"] is not None}
        rows.append(
            {
                "label": labels[model],
                "room": 100 * (1 - means[model]),
                "size": fmean(abs(cell["delta"]) for cell in known.values()) if known else None,
                "half": fmean((cell["high"] - cell["low"]) / 2 for cell in bounded.values()) if bounded else None,
                "intervals": sum(factor in beside for factor in bounded),
                "inside": sum(holds(cell, beside[factor]) for factor, cell in bounded.items() if factor in beside),
                "paper_room": None if paper is None else 100 * (1 - scores[model]["values"][0]),
                "paper_size": fmean(map(abs, paper.values())) if paper else None,
            }
        )
    both = [row for row in rows if row["paper_size"] is not None and row["size"] is not None]
    wide = [row for row in both if row["size"] > row["paper_size"]]
    return rows, {
        "intervals": sum(row["intervals"] for row in rows),
        "inside": sum(row["inside"] for row in rows),
        "beside": len(both),
        "wide": len(wide),
        "roomier": sum(row["room"] > row["paper_room"] for row in wide),
    }


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
        row["sizes"] = [
            (labels[model], cell, paper, abs(cell["delta"]) > abs(known), reason(corpus, model, row["factor"], beyond))
            for model, (cell, paper) in row["other_size"].items()
            for known in (row["paper_mean"] if paper is None else paper,)
            for beyond in (cell["delta"] - known,)
        ]
    means = {model: float(corpus.scores[model].mean()) for model in found}
    levels, inside = sizes(found, published, means, labels)
    return (
        environment()
        .get_template("complexity_findings.html")
        .render(
            rows=rows,
            levels=levels,
            inside=inside,
            properties=list(PROPERTIES),
            breakdowns=breakdowns(corpus, list(found), labels),
            measure=measure,
            risk=risk,
            confidence=confidence,
            sample=sample,
        )
    )


def first_claim_html(found: Cells, names: Mapping[str, str], labels: Mapping[str, str], measure: str) -> str:
    """What complexity's page begins with: whether there is a factor that costs every model something.

    It holds where δ is below 0 for every model and, after Holm's correction, significant for more than half of them.
    """
    everywhere = {
        factor: [each[factor] for each in found.values()]
        for factor in names
        if all(each[factor]["delta"] is not None and each[factor]["delta"] < 0 for each in found.values())
    }
    shown = [
        factor for factor, row in everywhere.items() if 2 * sum(cell["holm_significant"] for cell in row) > len(row)
    ]
    said: Verdict = "holds" if shown else "cannot tell" if everywhere else "does not hold"
    costs = [
        f"{factor} ({names[factor]}) by {', '.join(signed(cell['delta'], 1) for cell in row)} points, after Holm’s "
        f"correction significant for {sum(cell['holm_significant'] for cell in row)}"
        for factor, row in everywhere.items()
    ]
    models = ", ".join(labels[model] for model in found)
    seen = f"Mean {measure} of {models} changes where a factor is present: " + "; ".join(costs) + "."
    nothing = f"No factor lowers the mean {measure} of each of {models}."
    sentence = "There are meanings that make questions harder for every model."
    return claim_html(sentence, said, seen if costs else nothing)
