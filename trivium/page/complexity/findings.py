"""What complexity's Table 2 says, factor by factor, beside the paper's, and what our examples offer as reasons."""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

from markupsafe import Markup

from trivium.page.complexity.material import Effect, Material
from trivium.page.complexity.reasons import PROPERTIES, breakdowns, corpus_of, reason
from trivium.page.html import render

_VERDICTS: dict[str, Callable[[Effect, float], bool]] = {  # by an effect that has a δ, and the risk
    "validated": lambda effect, _: effect["validated"],
    "significant": lambda effect, _: effect["significant"],
    "holm": lambda effect, _: effect["holm_significant"],
    "found": lambda effect, _: effect["found"],
    "gains": lambda effect, risk: effect["delta"] > 0 and effect["p"] is not None and effect["p"] <= risk,
    "joint_disagrees": lambda effect, _: effect["joint"] is not None and (effect["joint"] < 0) != (effect["delta"] < 0),
    "only_examples": lambda effect, risk: (
        effect["significant"] and (effect["p_frame"] is None or effect["p_frame"] > risk)
    ),
}


def findings(of: Material) -> list[dict[str, Any]]:
    """What our analysis and the paper's table say of each factor, and what our numbers offer as reasons.

    Returns:
        For each factor: models with δ < 0 here and in the paper, models of each verdict, the models whose cells
        would be read differently by another analysis, and those whose δ has another sign than the paper's or, where
        the signs do not differ, an interval without it: their effect and the paper's δ, None for a model that the paper
        does not have, which is held against the mean of all. Of a factor that the paper does not have there is no
        paper's mean, and no such model.
    """
    printed, metrics, rows = of.printed_deltas(), of.metrics("factors"), []
    for factor, name in of.names.items():
        known = {model: row[factor] for model, row in of.effects.items() if row[factor]["delta"] is not None}
        theirs = {model: values[factor] for model, values in printed.items() if factor in values}
        mean = fmean(theirs.values()) if theirs else None
        paper = {} if mean is None else {model: theirs.get(model, mean) for model in known}
        turned = [model for model, value in paper.items() if differs(known[model], value)]
        outside = [model for model, value in paper.items() if model not in turned and not holds(known[model], value)]
        rows.append(
            {
                "factor": factor,
                "name": name,
                "models": len(known),
                **{
                    verdict: [of.labels[model] for model, effect in known.items() if test(effect, of.risk)]
                    for verdict, test in _VERDICTS.items()
                },
                "paper_mean": mean,
                "paper_models": len(theirs),
                "paper_negative": sum(value < 0 for value in theirs.values()),
                "balance": metrics.get(f"{factor}_balance"),
                "corrected": metrics.get(f"{factor}_balance_corrected"),
                "other_sign": {model: (known[model], theirs.get(model)) for model in turned},
                "other_size": {model: (known[model], theirs.get(model)) for model in outside},
                "smaller": min((min(effect["yes"], effect["no"]) for effect in known.values()), default=0),
            }
        )
    return rows


def differs(effect: Effect, paper: float) -> bool:
    """Whether δ has another sign than the paper's, whose 0 is rounded down: it has none."""
    return paper != 0 and (effect["delta"] < 0) != (paper < 0)


def holds(effect: Effect, paper: float) -> bool:
    """Whether the interval of δ holds the paper's, which is rounded down: anywhere from that to a point more."""
    return effect["low"] is None or (effect["low"] < paper + 1 and effect["high"] >= paper)


def sizes(of: Material, means: Mapping[str, float]) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """How large δ is on the whole, model by model, beside the paper's, and what goes along with it.

    Args:
        of: what is shown.
        means: of the measure analysed, in [0, 1], by model.

    Returns:
        A row a model: `room` up to a mean of 100, `size` (mean |δ|) and `half` width of the intervals in points, how
        many `intervals` there are and hold the paper's δ (`inside`), the paper's `paper_room` and `paper_size` (None
        for a model of ours alone). And sums: intervals, inside; models that the paper has (`beside`), those of a larger
        mean |δ| than there (`wide`), and of these those with more room (`roomier`).
    """
    scores, printed = of.published["table_1"]["rows"], of.printed_deltas()
    average = {factor: fmean(row[factor] for row in printed.values()) for factor in next(iter(printed.values()), {})}
    rows: list[dict[str, Any]] = []
    for model, by_factor in of.effects.items():
        paper = printed.get(model)
        papers = average if paper is None else paper
        known = [effect["delta"] for effect in by_factor.values() if effect["delta"] is not None]
        bounded = {factor: effect for factor, effect in by_factor.items() if effect["low"] is not None}
        halves = [(effect["high"] - effect["low"]) / 2 for effect in bounded.values()]
        beside = [holds(effect, papers[factor]) for factor, effect in bounded.items() if factor in papers]
        rows.append(
            {
                "label": of.labels[model],
                "room": 100 * (1 - means[model]),
                "size": fmean(map(abs, known)) if known else None,
                "half": fmean(halves) if halves else None,
                "intervals": len(beside),
                "inside": sum(beside),
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


def findings_html(of: Material) -> Markup:
    """The findings in words, factor by factor, with what goes along with them in the examples."""
    rows, corpus = findings(of), corpus_of(of)
    for row in rows:
        factor, row["turned"], row["sizes"] = row["factor"], [], []
        for model, (effect, paper) in row["other_sign"].items():
            goes = reason(corpus, model, factor, effect["delta"])
            row["turned"].append((of.labels[model], effect, paper, goes))
        for model, (effect, paper) in row["other_size"].items():
            known = row["paper_mean"] if paper is None else paper
            goes, stronger = reason(corpus, model, factor, effect["delta"] - known), abs(effect["delta"]) > abs(known)
            row["sizes"].append((of.labels[model], effect, paper, stronger, goes))
    levels, inside = sizes(of, {model: float(corpus.scores[model].mean()) for model in of.effects})
    return render(
        "complexity_findings.html",
        of=of,
        rows=rows,
        levels=levels,
        inside=inside,
        properties=list(PROPERTIES),
        breakdowns=breakdowns(corpus, list(of.effects), of.labels),
    )
