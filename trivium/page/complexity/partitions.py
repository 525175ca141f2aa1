"""Complexity's corpora of increasing complexity: curves from easiest to hardest, and frames as illustrations."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from trivium.page.common import environment
from trivium.page.figures import trends

MEAN = "mean"  # of all models, as stage partition names it
Rows = Sequence[Mapping[str, Any]]
_ENDS = 3  # frames shown as the hardest, and as the easiest


def partitions_html(
    rows: Rows,
    models: Sequence[str],
    metrics: Mapping[str, float],
    names: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    measure: str,
    majority: float,
    weak: Sequence[str],
) -> str:
    """The score of every model by how many factors hold, and every partition from easiest to hardest.

    Args:
        rows: of stage partition's curves: a partition and model each, and the mean of all models.
        models: in the order of the page.
        metrics: of that stage: which factors are used, and whether they had to be assumed.
        names: what each factor says.
        labels: what each model is called.
        measure: the score that is shown, in words.
        majority: see that stage.
        weak: models whose scores say little; they vote, too.
    """
    parts: dict[str, dict[str, Any]] = {}
    for row in rows:
        part = parts.setdefault(row["partition"], {**row, "scores": {}})
        part["scores"][row["model"]] = row["score"]
    counts = sorted((part for part in parts.values() if part["kind"] == "count"), key=lambda part: int(part["level"]))
    figure = trends(
        [f"{part['level']}\n({part['examples']})" for part in counts],
        {labels.get(model, model): [part["scores"].get(model) for part in counts] for model in [*models, MEAN]},
        title="Score by how many complexity factors hold",
        ylabel=measure,
    )
    ordered = {
        "By how many of the chosen factors hold": sorted(counts, key=lambda part: part["rank"]),
        "By each factor": [part for part in parts.values() if part["kind"] == "factor"],
    }
    ordered["By each factor"].sort(key=lambda part: -part["scores"][MEAN])
    return (
        environment()
        .get_template("complexity_partitions.html")
        .render(
            figure=Markup(figure),
            chosen=[(factor, names[factor]) for factor in names if metrics[f"uses_{factor}"]],
            assumed=bool(metrics["fallback"]),
            ordered=ordered,
            models=[(model, labels[model]) for model in models],
            mean=MEAN,
            measure=measure,
            majority=majority,
            weak=[labels[model] for model in weak],
            falling=int(metrics["models_falling"]),
        )
    )


def illustrations_html(rows: Rows, models: Sequence[str], published: Mapping[str, Any], *, measure: str) -> str:
    """The hardest and easiest frames with what may make them so, beside the frames that the paper names.

    Args:
        rows: of stage partition's frames, lowest mean first.
        models: whose range of scores is shown.
        published: tests/published/complexity.yaml.
        measure: the score that is shown, in words.
    """
    ends = [*rows[:_ENDS], *rows[max(_ENDS, len(rows) - _ENDS) :]]
    paper = {each["frame"] for each in published["illustrations"]}
    shown = [*ends, *(row for row in rows if row["frame"] in paper and row not in ends)]
    shown = [
        {**row, "range": (min(row[model] for model in models), max(row[model] for model in models))}
        for row in sorted(shown, key=lambda row: row[MEAN])
    ]
    return (
        environment()
        .get_template("complexity_illustrations.html")
        .render(rows=shown, frames=len(rows), mean=MEAN, measure=measure, paper=published["illustrations"])
    )
