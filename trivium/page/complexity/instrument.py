"""What complexity's analysis rests on, and what follows: planted effects, parsers, agreement, partitions, frames."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from trivium.complexity.effects.planted_effects import CRITERIA, Curves, by_curve, smallest_delta
from trivium.page.complexity.factors import METHODS, method_label, rate
from trivium.page.complexity.material import MEASURES, Material
from trivium.page.figures import curves, trends
from trivium.page.html import agreement_table, figure, interval, percent, render, signed

CURVES = ("mann_whitney", "holm", "found", "found_holm")
COLUMNS = {
    "power": "planted effects found",
    "planted_false_alarms": "false alarms beside them",
    "null_false_alarms": "false alarms, nothing planted",
    "null_any_false_alarm": "tables with any false alarm, nothing planted",
    "confounded": "confounded factor called an effect",
}
PARSERS = {
    "conllu": "read from the gold CoNLL-U that comes with the texts",
    "stanza": "stanza’s parser",
    "spacy": "spaCy’s parser",
}
_SCORED = {
    "trigger": "triggers",
    "frame": "triggers and frames",
    "baseline_frame": "the same by the most frequent frame of each lemma",
    "element": "triggers, frames and elements",
    "element_given_frame": "elements, given triggers and frames",
}
MEAN = "mean"  # of all models, as stage partition names it
_ENDS = 3  # frames shown as the hardest, and as the easiest


def planted(effects: Mapping[str, float], published: Mapping[str, Any]) -> dict[str, float]:
    """How strong the planted effects, in [-1, 0] by factor, are beside the paper's δ.

    Returns:
        `planted_weakest` and `planted_strongest`, in points before scores are cut to 0 … 1; `published_effects`, how
        many δ the paper prints; `published_as_strong`, the share of them that is at or below the weakest planted one;
        `published_strongest`, the lowest of them.
    """
    points = [100 * effect for effect in effects.values()]
    printed = [value for row in published["table_2"]["rows"].values() for value in row]
    return {
        "planted_weakest": max(points),
        "planted_strongest": min(points),
        "published_effects": float(len(printed)),
        "published_as_strong": sum(value <= max(points) for value in printed) / len(printed),
        "published_strongest": float(min(printed)),
    }


def simulation_html(of: Material) -> Markup:
    """Power and false alarms of each analysis on simulated scores, with intervals."""
    metrics, effects = of.metrics("simulate"), of.used["simulate"]["effects"]
    rows = []
    for method in METHODS:
        rates = [rate(metrics, f"{column}_{method}") for column in COLUMNS]
        cells = [percent(found and found[0], 0) + interval(found and found[1:], digits=0) for found in rates]
        rows.append([method_label(method), *cells])
    powers = [
        (factor, of.names[factor], effect, rate(metrics, f"power_found_{factor}"))
        for factor, effect in sorted(effects.items())
    ]
    return render(
        "complexity_simulation.html",
        of=of,
        rows=rows,
        columns=list(COLUMNS.values()),
        powers=powers,
        simulations=metrics["simulations"],
        planted=planted(effects, of.published),
    )


def sensitivity_html(of: Material) -> Markup:
    """The smallest δ that is found, by factor and criterion, and curves of power over δ."""
    wanted, groups = of.used["simulate"]["sensitivity"]["power"], by_curve(of.powers)
    factors = {power.factor: of.names[power.factor] for power in of.powers}
    tables: dict[str, list[Any]] = {}
    figures = []
    for size in dict.fromkeys(power.size for power in of.powers):
        tables[size] = []
        for criterion in CRITERIA:
            deltas = [smallest_delta(groups[size, criterion, factor], wanted) for factor in factors]
            tables[size].append([method_label(criterion), *(signed(delta, 1) for delta in deltas)])
        svg = _curves(groups, size, list(factors))
        figures.append(figure(svg, f"Size of the {size}: share of effects that is found."))
    of_factors = [figure(_curves(groups, "paper", [factor]), f"{factor}: {name}") for factor, name in factors.items()]
    return render(
        "complexity_sensitivity.html", of=of, factors=factors, tables=tables, figures=figures, of_factors=of_factors
    )


def _curves(groups: Curves, size: str, factors: Sequence[str]) -> str:
    """Power over -δ, a line a criterion, the mean over factors at every planted effect."""
    lines = {}
    for criterion in CURVES:
        by_effect = zip(*(groups[size, criterion, factor] for factor in factors), strict=True)
        points = sorted(
            (-sum(power.delta for power in same) / len(same), sum(power.power for power in same) / len(same))
            for same in by_effect
        )
        lines[METHODS[criterion][0]] = ([x for x, _ in points], [y for _, y in points])
    over = factors[0] if len(factors) == 1 else f"mean over {len(factors)} factors"
    title = f"Power over the strength of an effect, {over}"
    return curves(lines, title=title, xlabel="points that a yes costs (−δ)", ylabel="share found")


def parsers_html(of: Material) -> Markup:
    """The frame parser's scores beside the most frequent frame of each lemma, and which syntax was used."""
    frames, syntax = of.metrics("frame_parser"), of.metrics("syntax")
    return render(
        "complexity_parsers.html",
        scored=_SCORED,
        frames=frames,
        syntax=syntax,
        used=next(text for name, text in PARSERS.items() if syntax[f"parser_{name}"]),
    )


def agreement_html(of: Material) -> Markup:
    """Spearman's ρ of the scores of every pair of models, and how far the hardest quarter is the same."""
    pairs = {frozenset((row["model"], row["other"])): row for row in of.rows("agreement")}
    lines = [
        (of.labels[model], [None if other == model else pairs.get(frozenset((model, other))) for other in of.models])
        for model in of.models
    ]
    return agreement_table(lines, [of.labels[model] for model in of.models], of.metrics("validate"))


def partitions_html(of: Material) -> Markup:
    """The score of every model by how many factors hold, and every partition from easiest to hardest."""
    metrics, settings = of.metrics("partition"), of.used["partition"]
    measure = MEASURES[settings["measure"]]
    parts: dict[str, dict[str, Any]] = {}
    for row in of.rows("partitions"):
        parts.setdefault(row["partition"], {**row, "scores": {}})["scores"][row["model"]] = row["score"]
    counts = sorted((part for part in parts.values() if part["kind"] == "count"), key=lambda part: int(part["level"]))
    svg = trends(
        [f"{part['level']}\n({part['examples']})" for part in counts],
        {of.labels.get(model, model): [part["scores"].get(model) for part in counts] for model in [*of.models, MEAN]},
        title="Score by how many complexity factors hold",
        ylabel=measure,
    )
    factors = [part for part in parts.values() if part["kind"] == "factor"]
    groups = {
        "By how many of the chosen factors hold": sorted(counts, key=lambda part: part["rank"]),
        "By each factor": sorted(factors, key=lambda part: -part["scores"][MEAN]),
    }
    return render(
        "complexity_partitions.html",
        drawn=svg,
        measure=measure,
        groups=groups,
        models={model: of.labels[model] for model in of.models},
        chosen=[(factor, name) for factor, name in of.names.items() if metrics[f"uses_{factor}"]],
        assumed=bool(metrics["fallback"]),
        majority=settings["majority"],
        weak=[of.labels[model] for model in of.weak],
        falling=int(metrics["models_falling"]),
    )


def illustrations_html(of: Material) -> Markup:
    """The hardest and easiest frames with what may make them so, beside the frames that the paper names."""
    frames, paper = of.rows("illustrations"), of.published["illustrations"]  # lowest mean first
    ends = [*frames[:_ENDS], *frames[max(_ENDS, len(frames) - _ENDS) :]]
    named = {illustration["frame"] for illustration in paper}
    shown = [*ends, *(row for row in frames if row["frame"] in named and row not in ends)]
    shown.sort(key=lambda row: row[MEAN])
    measure = MEASURES[of.used["partition"]["measure"]]
    return render("complexity_illustrations.html", of=of, shown=shown, frames=len(frames), measure=measure, paper=paper)
