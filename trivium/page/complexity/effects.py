"""What complexity's factors cost: Table 2, and the sentences about it beside the paper's."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from markupsafe import Markup

from trivium.claims.registry import Verdict
from trivium.complexity.effects.analysed_tables import read_factors
from trivium.complexity.effects.regression import of_frames
from trivium.measures.effects import floor_points
from trivium.page.complexity.material import Effect, Material
from trivium.page.complexity.reasons import PROPERTIES, breakdowns, corpus_of, reason
from trivium.page.figures import estimates
from trivium.page.html import figure, render, signed
from trivium.page.thorough import claim_html

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
    return signs + "↑" * _VERDICTS["gains"](effect, risk)


def table_2(of: Material) -> Markup:
    """δ of every model and factor, marked, its numbers to unfold, the published δ beneath."""
    metrics = of.metrics("validate")
    others = [name for name in of.names if any(f"{model}_{name}_other_delta_points" in metrics for model in of.effects)]
    smallest = [smallest_loss([row[factor] for row in of.effects.values()]) for factor in of.names]
    return render(
        "complexity/table-2.html",
        of=of,
        metrics=metrics,
        marks=marks,
        others=others,
        floor=floor_points,
        smallest=smallest,
    )


def smallest_loss(effects: Sequence[Effect]) -> float | None:
    """The loss in points that a table of such intervals finds in four of five studies: 2.8 mean standard errors.

    2.8 is the 97.5 % quantile of the normal distribution plus its 80 % quantile; a standard error is a quarter of an
    interval's 3.92.
    """
    widths = [effect["high"] - effect["low"] for effect in effects if effect["low"] is not None]
    return 2.8 * fmean(widths) / 3.92 if widths else None


def forest(of: Material) -> Markup:
    """Each model's δ beside the factor's coefficient when all factors are held together, as figures and a table.

    Of factors that are constant in every frame it gives Cramér's V with the element asked for, where that is defined.
    """
    coded, balance = read_factors(of.data / "factors.parquet"), of.metrics("factors")
    constant = of_frames(coded.factors, coded.frames)
    whole = {name: balance.get(f"{name}_balance") for name, same in zip(coded.names, constant, strict=True) if same}
    drawn = []
    for model, by_factor in of.effects.items():
        series = {
            entry: [
                None if None in (values := tuple(effect[name] for name in names)) else values
                for effect in by_factor.values()
            ]
            for entry, names in (
                ("plain δ", ("delta", "low", "high")),
                ("all factors together", ("joint", "joint_low", "joint_high")),
            )
        }
        label, measure = of.labels[model], f"points of {of.measure}"
        svg = estimates(list(by_factor), series, title=f"Effects of the factors on {label}", xlabel=measure)
        drawn.append(figure(svg, Markup("<strong>{}</strong>").format(label)))
    return render("complexity/forest.html", of=of, drawn=drawn, whole=whole)


def first_claim_html(
    effects: Mapping[str, Mapping[str, Effect]], names: Mapping[str, str], labels: Mapping[str, str], measure: str
) -> Markup:
    """What complexity's page begins with: whether there is a factor that costs every model something.

    It holds where δ is below 0 for every model and, after Holm's correction, significant for more than half of them.
    """
    everywhere = {
        factor: [row[factor] for row in effects.values()]
        for factor in names
        if all(row[factor]["delta"] is not None and row[factor]["delta"] < 0 for row in effects.values())
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
    return claim_html(
        "There are meanings that make questions harder for every model.", said, seen if costs else nothing
    )


def findings(of: Material) -> list[dict[str, Any]]:
    """What our analysis and the paper's table say of each factor.

    Returns:
        For each factor: models with δ < 0 here and in the paper, models of each verdict, the models whose cells
        would be read differently by another analysis, and those whose δ has another sign than the paper's or, where
        the signs do not differ, an interval without it: their effect and the paper's δ, None for a model that the paper
        does not have, which is held against the mean of all. Of a factor that the paper does not have there is no
        paper's mean, and no such model.
    """
    metrics, rows = of.metrics("factors"), []
    for factor, name in of.names.items():
        known = {model: row[factor] for model, row in of.effects.items() if row[factor]["delta"] is not None}
        theirs = {model: values[factor] for model, values in of.printed_deltas.items() if factor in values}
        mean = fmean(theirs.values()) if theirs else None
        paper = {} if mean is None else {model: theirs.get(model, mean) for model in known}
        turned = [model for model, value in paper.items() if value and (known[model]["delta"] < 0) != (value < 0)]
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


def holds(effect: Effect, paper: float) -> bool:
    """Whether the interval of δ holds the paper's, which is rounded down: anywhere from that to a point more."""
    return effect["low"] is None or (effect["low"] < paper + 1 and effect["high"] >= paper)


def sizes(of: Material, means: Mapping[str, float]) -> list[dict[str, Any]]:
    """How large δ is on the whole, model by model, beside the paper's.

    Args:
        of: what is shown.
        means: of the measure analysed, in [0, 1], by model.

    Returns:
        A row a model: `room` up to a mean of 100, `size` (mean |δ|) and `half` width of the intervals in points, how
        many `intervals` there are and hold the paper's δ (`inside`), the paper's `paper_room` and `paper_size`; None
        where there is nothing, as of the paper for a model of ours alone.
    """
    scores, printed, rows = of.published["table_1"]["rows"], of.printed_deltas, []
    average = {factor: fmean(row[factor] for row in printed.values()) for factor in next(iter(printed.values()), {})}
    for model, by_factor in of.effects.items():
        paper = printed.get(model)
        papers = average if paper is None else paper
        known = [abs(effect["delta"]) for effect in by_factor.values() if effect["delta"] is not None]
        bounded = {factor: effect for factor, effect in by_factor.items() if effect["low"] is not None}
        halves = [(effect["high"] - effect["low"]) / 2 for effect in bounded.values()]
        inside = [holds(effect, papers[factor]) for factor, effect in bounded.items() if factor in papers]
        rows.append(
            {
                "label": of.labels[model],
                "room": 100 * (1 - means[model]),
                "size": fmean(known) if known else None,
                "half": fmean(halves) if halves else None,
                "intervals": len(inside),
                "inside": sum(inside),
                "paper_room": None if paper is None else 100 * (1 - scores[model]["values"][0]),
                "paper_size": fmean(map(abs, paper.values())) if paper else None,
            }
        )
    return rows


def findings_html(of: Material) -> Markup:
    """The findings in words, factor by factor, with what goes along with them in the examples."""
    rows, corpus = findings(of), corpus_of(of)
    for row in rows:
        for model, (effect, paper) in row["other_sign"].items():
            row["other_sign"][model] = effect, paper, reason(corpus, model, row["factor"], effect["delta"])
        for model, (effect, paper) in row["other_size"].items():
            known = row["paper_mean"] if paper is None else paper
            goes = reason(corpus, model, row["factor"], effect["delta"] - known)
            row["other_size"][model] = effect, paper, goes, abs(effect["delta"]) > abs(known)
    levels = sizes(of, {model: float(corpus.scores[model].mean()) for model in of.effects})
    both = [row for row in levels if row["paper_size"] is not None and row["size"] is not None]
    return render(
        "complexity/findings.html", of=of, rows=rows, levels=levels, properties=list(PROPERTIES), both=both,
        wide=[row for row in both if row["size"] > row["paper_size"]],
        breakdowns=breakdowns(corpus, list(of.effects), of.labels),
    )  # fmt: skip
