"""What complexity's analysis rests on: power on planted effects, frame parser, syntax, models in agreement."""

from collections.abc import Mapping, Sequence
from typing import Any

from trivium.complexity.effects.sensitivity import CRITERIA, Curves, Power, by_curve, smallest_delta
from trivium.page.common import environment
from trivium.page.complexity.factors import rate
from trivium.page.figures import curves

Metrics = Mapping[str, float]
METHODS = {
    "mann_whitney": ("Mann–Whitney", "the paper’s test"),
    "holm": ("the same after Holm’s correction", ""),
    "bootstrap": ("bootstrap interval of δ, by text", ""),
    "frame": ("frames as units", ""),
    "joint": ("regression on all factors together", ""),
    "found": ("found by every analysis", "◆"),
    "found_holm": ("that after Holm’s correction", "◆◆"),
}
CURVES = ("mann_whitney", "holm", "found", "found_holm")
COLUMNS = (
    ("power", "planted effects found"),
    ("planted_false_alarms", "false alarms beside them"),
    ("null_false_alarms", "false alarms, nothing planted"),
    ("null_any_false_alarm", "tables with any false alarm, nothing planted"),
    ("confounded", "confounded factor called an effect"),
)
PARSERS = {
    "conllu": "read from the gold CoNLL-U that comes with the texts",
    "stanza": "stanza’s parser",
    "spacy": "spaCy’s parser",
}


def planted(parameters: Mapping[str, Any], published: Mapping[str, Any]) -> dict[str, float]:
    """How strong the planted effects are, beside the paper's δ.

    Args:
        parameters: section `complexity.simulate` of params.yaml.
        published: tests/published/complexity.yaml.

    Returns:
        `planted_weakest` and `planted_strongest`, in points before scores are cut to 0 … 1; `published_effects`, how
        many δ the paper prints; `published_as_strong`, the share of them that is at or below the weakest planted one;
        `published_strongest`, the lowest of them.
    """
    points = [100 * effect for effect in parameters["effects"].values()]
    printed = [value for row in published["table_2"]["rows"].values() for value in row]
    return {
        "planted_weakest": max(points),
        "planted_strongest": min(points),
        "published_effects": float(len(printed)),
        "published_as_strong": sum(value <= max(points) for value in printed) / len(printed),
        "published_strongest": float(min(printed)),
    }


def simulation_html(
    metrics: Metrics, parameters: Mapping[str, Any], names: Mapping[str, str], published: Mapping[str, Any]
) -> str:
    """Power and false alarms of each analysis on simulated scores, with intervals.

    Args:
        metrics: of stage simulate.
        parameters: its section of params.yaml.
        names: what each factor says.
        published: tests/published/complexity.yaml.
    """
    rows = [
        {
            "name": name,
            "note": note,
            "rates": [rate(metrics, f"{column}_{method}") for column, _ in COLUMNS],
        }
        for method, (name, note) in METHODS.items()
    ]
    powers = [
        {"factor": factor, "name": names[factor], "effect": effect, "rate": rate(metrics, f"power_found_{factor}")}
        for factor, effect in sorted(parameters["effects"].items())
    ]
    return (
        environment()
        .get_template("complexity_simulation.html")
        .render(
            rows=rows,
            columns=COLUMNS,
            powers=powers,
            metrics=metrics,
            parameters=parameters,
            planted=planted(parameters, published),
        )
    )


def sensitivity_html(every: Sequence[Power], parameters: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The smallest δ that is found, by factor and criterion, and curves of power over δ.

    Args:
        every: of stage simulate.
        parameters: section `complexity.simulate` of params.yaml.
        names: what each factor says.
    """
    wanted = parameters["sensitivity"]["power"]
    groups = by_curve(every)
    factors = list(dict.fromkeys(each.factor for each in every))
    sizes = list(dict.fromkeys(each.size for each in every))
    tables = [
        {
            "size": size,
            "rows": [
                (METHODS[criterion], [smallest_delta(groups[size, criterion, factor], wanted) for factor in factors])
                for criterion in CRITERIA
            ],
            "curves": _curves(groups, size, factors),
        }
        for size in sizes
    ]
    return (
        environment()
        .get_template("complexity_sensitivity.html")
        .render(
            tables=tables,
            of_factors=[(factor, _curves(groups, "paper", [factor])) for factor in factors],
            factors=factors,
            names=names,
            wanted=wanted,
            parameters=parameters,
            strongest=100 * min(parameters["sensitivity"]["planted"]),
        )
    )


def _curves(groups: Curves, size: str, factors: Sequence[str]) -> str:
    """Power over -δ, a line a criterion, the mean over factors at every planted effect."""
    lines = {}
    for criterion in CURVES:
        by_effect = zip(*(groups[size, criterion, factor] for factor in factors), strict=True)
        points = sorted(
            (-sum(each.delta for each in same) / len(same), sum(each.power for each in same) / len(same))
            for same in by_effect
        )
        lines[METHODS[criterion][0]] = ([x for x, _ in points], [y for _, y in points])
    over = factors[0] if len(factors) == 1 else f"mean over {len(factors)} factors"
    title = f"Power over the strength of an effect, {over}"
    return curves(lines, title=title, xlabel="points that a yes costs (−δ)", ylabel="share found")


def parsers_html(frames: Metrics, syntax: Metrics) -> str:
    """The frame parser's scores beside the most frequent frame of each lemma, and which syntax was used."""
    scored = [
        (name, *(frames[f"{prefix}_{part}"] for part in ("precision", "recall", "f1")))
        for prefix, name in (
            ("trigger", "triggers"),
            ("frame", "triggers and frames"),
            ("baseline_frame", "the same by the most frequent frame of each lemma"),
            ("element", "triggers, frames and elements"),
            ("element_given_frame", "elements, given triggers and frames"),
        )
    ]
    used = next(text for name, text in PARSERS.items() if syntax[f"parser_{name}"])
    attachment = {name: syntax[name] for name in ("uas", "las", "upos", "lemmas") if name in syntax}
    return (
        environment()
        .get_template("complexity_parsers.html")
        .render(scored=scored, frames=frames, syntax=syntax, used=used, attachment=attachment)
    )


def agreement_html(
    rows: Sequence[Mapping[str, Any]], models: Sequence[str], metrics: Metrics, labels: Mapping[str, str]
) -> str:
    """Spearman's ρ of the scores of every pair of models, and how far the hardest quarter is the same.

    Args:
        rows: the pairs of stage validate: model, other, spearman, hardest_overlap; None where undefined.
        models: in the order of the page.
        metrics: of that stage: concordance and means.
        labels: what each model is called.
    """
    pairs = {frozenset((row["model"], row["other"])): row for row in rows}
    lines = [
        (labels[model], [None if other == model else pairs.get(frozenset((model, other))) for other in models])
        for model in models
    ]
    return (
        environment()
        .get_template("complexity_agreement.html")
        .render(lines=lines, names=[labels[model] for model in models], metrics=metrics)
    )
