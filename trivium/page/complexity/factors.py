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
from trivium.page.html import decimal, figure, interval, percent, render, signed, small
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
_ALARMS = {"holm": "Holm’s correction over the table", "found": "◆", "found_holm": "◆◆"}


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
    metrics, simulated, majority = of.metrics("validate"), of.metrics("simulate"), of.used["partition"]["majority"]
    printed = {model: [row.get(factor) for factor in of.names] for model, row in of.printed_deltas().items()}
    return render(
        "complexity_factors.html",
        of=of,
        rows=[
            (of.labels[model], [row[factor] for factor in of.names], printed.get(model))
            for model, row in of.effects.items()
        ],
        marks=marks,
        absent=[
            (of.published["table_1"]["rows"][model]["label"], row)
            for model, row in printed.items()
            if model not in of.effects
        ],
        verdicts={name: [int(metrics[f"{factor}_{key}"]) for factor in of.names] for key, name in _VERDICTS.items()},
        metrics=metrics,
        alarms=[(sign, rate(simulated, f"null_any_false_alarm_{key}")) for key, sign in _ALARMS.items()],
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


def expected_finds(curves: Curves, deltas: Iterable[tuple[str, float]], criterion: str) -> float:
    """How many of these (factor, δ) a study of the paper's size finds in the mean, were each of them true."""
    return sum(power_at(curves["paper", criterion, factor], delta) for factor, delta in deltas)


def method_label(criterion: str, behind: str = "") -> Markup:
    """An analysis with its sign, as the heading of a row."""
    name, note = METHODS[criterion]
    return Markup("{}{}{}{}").format(name, " " * bool(note), small(note), behind)


def paper_study_html(of: Material) -> Markup:
    """What a study of the paper's size can say beside its Table 2.

    How often each criterion calls a factor worse that does nothing, where one half of the risk lies on the side of
    "worse"; and how many of the paper's losses it finds.
    """
    curves, nominal = by_curve(of.powers), of.risk / 2
    factors = list(dict.fromkeys(power.factor for power in of.powers))
    nothing = {key: next(power for power in group if power.planted == 0) for key, group in curves.items()}
    called = []
    for size in dict.fromkeys(power.size for power in of.powers):
        for criterion in CRITERIA:
            powers = [nothing[size, criterion, factor] for factor in factors]
            cells = [percent(power.power) + interval((power.low, power.high), digits=0) for power in powers]
            called.append([method_label(criterion, f", size of the {size}"), *cells])
    losses = [
        (model, factor, value)
        for model, row in of.printed_deltas().items()
        for factor, value in row.items()
        if value < 0 and factor in factors
    ]
    by_factor = {wanted: [(factor, value) for _, factor, value in losses if factor == wanted] for wanted in factors}
    counts = [len(deltas) for deltas in by_factor.values()]
    finds: list[list[Any]] = [["negative δ in the paper", *counts, len(losses), len(losses)]]
    for criterion in CRITERIA:
        found = [expected_finds(curves, deltas, criterion) for deltas in by_factor.values()]
        nearer = expected_finds(curves, [(factor, value + 1) for _, factor, value in losses], criterion)
        finds.append([method_label(criterion), *map(decimal, found), decimal(sum(found)), decimal(nearer)])
    strongest = {factor: min(power.delta for power in curves["paper", CRITERIA[0], factor]) for factor in factors}
    return render(
        "complexity_paper_study.html",
        nominal=nominal,
        factors={factor: of.names[factor] for factor in factors},
        called=called,
        too_often={
            METHODS[criterion][0]: [f for f in factors if nothing["paper", criterion, f].low > nominal]
            for criterion in ("mann_whitney", "frame")
        },
        losses=len(losses),
        finds=finds,
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
