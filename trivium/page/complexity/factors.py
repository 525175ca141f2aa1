"""Complexity's Table 2: what each factor costs each model, by the paper's analysis and by those beyond it."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from markupsafe import Markup

from trivium.claims.registry import Verdict
from trivium.complexity.effects.analysed_tables import read_factors
from trivium.complexity.effects.regression import of_frames
from trivium.measures.effects import floor_points
from trivium.page.complexity.material import Effect, Material, Metrics
from trivium.page.figures import forest
from trivium.page.html import figure, render, signed
from trivium.page.thorough import claim_html

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
    metrics, majority = of.metrics("validate"), of.used["partition"]["majority"]
    printed = {model: [row.get(factor) for factor in of.names] for model, row in of.printed_deltas().items()}
    return render(
        "complexity_factors.html",
        of=of,
        rows=[
            (of.labels[model], [row[factor] for factor in of.names], printed.get(model))
            for model, row in of.effects.items()
        ],
        marks=marks,
        others=[name for name in of.names if any(f"{model}_{name}_other_delta" in metrics for model in of.effects)],
        other={
            of.labels[model]: [metrics.get(f"{model}_{factor}_other_delta") for factor in of.names]
            for model in of.effects
        },
        floor=floor_points,
        absent=[
            (of.published["table_1"]["rows"][model]["label"], row)
            for model, row in printed.items()
            if model not in of.effects
        ],
        verdicts={name: [int(metrics[f"{factor}_{key}"]) for factor in of.names] for key, name in _VERDICTS.items()},
        metrics=metrics,
        smallest=[smallest_loss([row[factor] for row in of.effects.values()]) for factor in of.names],
        untested=[
            factor
            for factor in of.names
            if any(row[factor]["delta"] is not None and row[factor]["p"] is None for row in of.effects.values())
        ],
        validated=held_for_most(metrics, of.names, "validated", majority),
        found=held_for_most(metrics, of.names, "found", majority),
        majority=majority,
    )


def smallest_loss(effects: Sequence[Effect]) -> float | None:
    """The loss in points that a table of such intervals finds in four of five studies: 2.8 mean standard errors.

    2.8 is the 97.5 % quantile of the normal distribution plus its 80 % quantile; a standard error is a quarter of an
    interval's 3.92.
    """
    widths = [effect["high"] - effect["low"] for effect in effects if effect["low"] is not None]
    return 2.8 * fmean(widths) / 3.92 if widths else None


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
    drawn = []
    for model, by_factor in of.effects.items():
        series = {
            "plain δ": [_estimate(effect, "delta", "low", "high") for effect in by_factor.values()],
            "all factors together": [
                _estimate(effect, "joint", "joint_low", "joint_high") for effect in by_factor.values()
            ],
        }
        label, measure = of.labels[model], f"points of {of.measure}"
        svg = forest(list(by_factor), series, title=f"Effects of the factors on {label}", xlabel=measure)
        drawn.append(figure(svg, Markup("<strong>{}</strong>").format(label)))
    return render("complexity_forest.html", of=of, drawn=drawn, whole=whole)


def _estimate(effect: Effect, value: str, low: str, high: str) -> tuple[float, float, float] | None:
    numbers = effect[value], effect[low], effect[high]
    return None if None in numbers else numbers


def shares_html(of: Material) -> Markup:
    """How many examples each factor calls harder, the threshold used, those it does not count; the paper's share."""
    return render("complexity_shares.html", of=of, paper=of.printed_shares(), metrics=of.metrics("factors"))


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
