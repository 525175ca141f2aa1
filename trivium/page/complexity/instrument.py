"""What complexity's analysis rests on, and what follows: parsers, agreement, partitions, frames."""

from typing import Any

from markupsafe import Markup

from trivium.page.complexity.material import MEASURES, Material
from trivium.page.figures import trends
from trivium.page.html import agreement_table, render

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
