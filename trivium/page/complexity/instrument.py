"""What follows from complexity's analysis: how far models agree, and partitions from easy to hard."""

from typing import Any

from markupsafe import Markup

from trivium.page.complexity.material import Material
from trivium.page.complexity.models import weak_models
from trivium.page.figures import curves
from trivium.page.html import render

MEAN = "mean"  # of all models, as stage partition names it


def agreement(of: Material) -> Markup:
    """Spearman's ρ of the scores of every pair of models, and how far the hardest quarter is the same."""
    pairs = {frozenset((row["model"], row["other"])): row for row in of.rows("agreement")}
    matrix = [[pairs.get(frozenset((model, other))) for other in of.models] for model in of.models]
    return render("agreement.html", names=of.called, matrix=matrix, metrics=of.metrics("validate"))


def partitions(of: Material) -> Markup:
    """The score of every model by how many factors hold, and every partition from easiest to hardest."""
    parts: dict[str, dict[str, Any]] = {}
    for row in of.rows("partitions"):
        parts.setdefault(row["partition"], {**row, "scores": {}})["scores"][row["model"]] = row["score"]
    counts = sorted((part for part in parts.values() if part["kind"] == "count"), key=lambda part: int(part["level"]))
    lines = {
        of.labels.get(model, model): [
            (place, [part["scores"][model]] if part["scores"].get(model) is not None else [], None)
            for place, part in enumerate(counts)
        ]
        for model in [*of.models, MEAN]
    }
    svg = curves(
        lines,
        title="Score by how many complexity factors hold",
        ylabel=of.in_words("partition"),
        ticks=[f"{part['level']}\n({part['examples']})" for part in counts],
    )
    factors = [part for part in parts.values() if part["kind"] == "factor"]
    groups = {
        "By how many of the chosen factors hold": sorted(counts, key=lambda part: part["rank"]),
        "By each factor": sorted(factors, key=lambda part: -part["scores"][MEAN]),
    }
    return render("complexity/partitions.html", of=of, drawn=svg, groups=groups, weak=weak_models(of))
