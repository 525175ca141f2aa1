"""How well complexity's models answer: Table 1, Figure 2 by frame, how far they agree, and partitions by difficulty."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.measures.bootstrap import clustered_interval
from trivium.page.complexity.material import LABELS, Material, Metrics, order_models
from trivium.page.figures import draw_curves, draw_estimates
from trivium.page.html import Cell, Row, percent, render, small
from trivium.page.thorough import Thorough, dagger, measured_cell

BOUNDED = "rouge_l"  # has intervals
MEAN = "mean"  # of all models, as stage partition names it
Frame = tuple[str, float, tuple[float, float] | None]  # name, mean, interval


def weakness(model: str, metrics: Metrics, exact: float, *, meant: bool) -> str:
    """Why a model's scores say little, as where fewer than `exact` of its answers are right, or it was `meant` so."""
    reasons = []
    if metrics.get(f"{model}_over_baseline_low", 1) <= 0:
        reasons.append("not clearly above the sentence with most words of the question")
    if metrics.get(f"{model}_shuffled_rouge_l", 0) >= metrics[f"{model}_rouge_l_low"]:
        reasons.append("no better than its own answers shuffled: it guesses, it does not read")
    if metrics[f"{model}_em"] < exact:
        reasons.append(f"only {100 * metrics[f'{model}_em']:.0f} % exactly right")
    if meant:
        reasons.append("a small configuration, there to exercise the path: params.yaml calls it weak")
    return "; ".join(reasons)


def weak_models(of: Material) -> dict[str, str]:
    """{model: why its scores say little}."""
    score, exact, readers = of.metrics("score"), of.used["page"]["weak_exact"], of.used["finetune"]["models"]
    meant = {model for model in of.trained if readers[model].get("weak", False)}
    reasons = {model: weakness(model, score, exact, meant=model in meant) for model in of.models}
    return {model: reason for model, reason in reasons.items() if reason}


def training_of(trained: Metrics) -> str:
    """The size of a reader and how long it was trained, from the metrics of stage finetune."""
    size = _count(trained["parameters"])
    if trained["parameters_trained"] < trained["parameters"]:
        size = f"{_count(trained['parameters_trained'])} of {size}"
    return f"{size} parameters, {trained['steps']:.0f} steps = {trained['epochs']:.1f} epochs"


def _count(parameters: float) -> str:
    if parameters >= 1e9:
        return f"{parameters / 1e9:.1f} B"
    return f"{parameters / 1e6:.1f} M" if parameters >= 1e5 else f"{parameters / 1e3:.0f} k"


def unusual_answers(of: Material) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """(model, questions asked, how many answers were unusual in which way), of readers that met some and of prompts."""
    prompted, unusual = of.metrics("prompt"), []
    for model, seed in of.trained.items():
        answered = of.metrics(f"answer_{model}_{seed}")
        counts = [(text, int(answered[name])) for name, text in LABELS["cuts"].items() if answered[name]]
        unusual += [(of.labels[model], int(answered["questions"]), counts)] if counts else []
    for model in of.used["prompt"]["models"]:
        if prompted[f"{model}_run"]:
            counts = [(text, int(prompted[f"{model}_{kind}"])) for kind, text in LABELS["replies"].items()]
            unusual.append((of.labels[model], int(prompted[f"{model}_questions"]), counts))
    return unusual


def table_1(of: Material, thorough: Thorough | None = None) -> Markup:
    """Table 1: our models and baselines, the published numbers beside them, and what was not run.

    `thorough` is what stage score gave in `make thorough`, for what was trained once here, or not run.
    """
    printed, score, judgements = of.published["table_1"]["rows"], of.metrics("score"), of.metrics("judgements")
    readers, prompted, weak = of.used["finetune"]["models"], of.used["prompt"]["models"], weak_models(of)
    kinds = {model: row["kind"] for model, row in printed.items()}
    kinds |= {model: settings["kind"] for model, settings in readers.items()} | dict.fromkeys(prompted, "prompted")
    rows, below, columns = [], Markup('{}<span class="interval">{}</span>'), LABELS["columns"]
    for model in order_models(kinds | of.kinds, of.published):
        ran, paper = model in of.kinds, printed.get(model)
        few = thorough if not ran or (len(of.used["finetune"]["seeds"]) == 1 and model in of.trained) else None
        kind = (kinds | of.kinds)[model]
        heading = of.labels[model] + " " + small(LABELS["kinds"].get(kind, f"{kind}, fine-tuned"))
        if model in of.trained:
            heading += small(training_of(of.metrics(f"finetune_{model}_{of.trained[model]}")))
        if model in weak:
            heading += Markup('<details class="weak"><summary>weak</summary>{}</details>').format(weak[model])
        counts = {name: int(score.get(f"{model}_{name}", 0)) for name in ("missing", "empty", "unknown")}
        none = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        cells: list[Any] = [measured_cell(score, f"{model}_{name}", few, bounded=name == BOUNDED) for name in columns]
        cells += [percent(score.get(f"{model}_shuffled_rouge_l")), "–"]
        if f"{model}_correct" in judgements:
            judged = f"of {judgements[f'{model}_judged']:.0f}"
            cells[-1] = below.format(percent(judgements[f"{model}_correct"], 0), judged)
        if not ran and not (few and few.render_metric(f"{model}_rouge_l")):
            cells = [Cell("not run", "absent", 6)]
        values = [below.format(percent(paper["values"][0], 0), paper["size"]), paper["values"][1]] if paper else "––"
        cells += [Cell(value, "published") for value in values]
        rows.append(Row([heading + small(none and f"{none} answers"), *cells], kind if kind == "baseline" else ""))
    return render(
        "complexity/table-1.html", of=of, score=score, rows=rows, columns=list(columns.values()),
        dagger=dagger(thorough), kappa=judgements.get("kappa"),
        unusual=unusual_answers(of), figure_2=figure_2_measure(of), measures=LABELS["measures"],
        leaks=[(int(of.metrics("world")[name]), text) for name, text in LABELS["leaks"].items()],
    )  # fmt: skip


def frame_points(
    answers: pa.Table, texts: Mapping[str, str], frames: Mapping[str, str], **bootstrap: Any
) -> list[Frame]:
    """Figure 2's points of one model: frame, mean ROUGE-L over questions and seeds, interval; worst frame first.

    `answers` are id and `score` of all seeds, `texts` and `frames` of every question by its id. The `bootstrap` is over
    texts (`clustered_interval`); a frame within one text has no interval.
    """
    means = answers.group_by("id").aggregate([("score", "mean")])
    scores: dict[str, list[tuple[str, float]]] = {}
    for identifier, value in zip(means["id"].to_pylist(), means["score_mean"].to_pylist(), strict=True):
        scores.setdefault(frames[identifier], []).append((texts[identifier], value))
    points = []
    for frame, pairs in scores.items():
        clusters, values = zip(*pairs, strict=True)
        bounds = clustered_interval(values, clusters, **bootstrap) if len(set(clusters)) > 1 else None
        points.append((frame, float(np.mean(values)), bounds))
    return sorted(points, key=lambda point: (point[1], point[0]))


def figure_2_measure(of: Material) -> str:
    """The score that Figure 2 draws, whichever is analysed."""
    return str(of.used["score"].get("figure_2", "rouge_l"))


def figure_2(of: Material) -> Markup:
    """Figure 2 of every model, and of its human scores where there are judgements: frames sorted by their mean.

    Whether the spread of the frames exceeds chance is a permutation test's p, at most the risk.
    """
    score, judged, settings = of.metrics("score"), of.rows("frame_judgements"), of.used["page"]["models"]
    ids = of.factors["id"].to_pylist()
    texts, frames = (dict(zip(ids, of.factors[name].to_pylist(), strict=True)) for name in ("text_id", "frame"))
    drawn, human, measure = [], [], figure_2_measure(of)
    for model in of.models:
        label, rows = of.labels[model], of.scores.filter(pc.equal(of.scores["model"], model)).select(["id", measure])
        points = frame_points(rows.rename_columns(["id", "score"]), texts, frames, **settings)
        tests: dict[str, Any] = {name: score.get(f"{model}_frame_{name}") for name in
                                 ("range", "sd", "h", "p", "sd_by_chance", "sd_p")}  # fmt: skip
        drawn.append(tests | {"label": label, "svg": _profile(points, f"Score by frame: {label}", "ROUGE-L")})
        if shares := sorted((row["correct"], row["frame"]) for row in judged if row["model"] == model):
            points = [(frame, share, None) for share, frame in shares]
            svg = _profile(points, f"Judged correct by frame: {label}", "share judged correct")
            human.append({"label": label, "svg": svg, "range": shares[-1][0] - shares[0][0]})
    return render("complexity/figure-2.html", drawn=drawn, human=human, of=of, measure=LABELS["measures"][measure],
                  confidence=settings["confidence"])  # fmt: skip


def _profile(points: list[Frame], title: str, xlabel: str) -> Markup:
    """Frames from the worst at the bottom, with their mean as a dotted line."""
    shown = {"": [(value, *(bounds or (value, value))) for _, value, bounds in reversed(points)]}
    mean = sum(value for _, value, _ in points) / len(points)
    names = [name for name, _, _ in reversed(points)]
    return draw_estimates(names, shown, title=title, xlabel=xlabel, line=mean, limits=(-0.02, 1.02))


def agreement(of: Material) -> Markup:
    """Spearman's ρ of the scores of every pair of models, and how far the hardest quarter is the same."""
    pairs = {frozenset((row["model"], row["other"])): row for row in of.rows("agreement")}
    names = [of.labels[model] for model in of.models]
    matrix = [[pairs.get(frozenset((model, other))) for other in of.models] for model in of.models]
    return render("agreement.html", names=names, matrix=matrix, metrics=of.metrics("validate"))


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
    ticks = [f"{part['level']}\n({part['examples']})" for part in counts]
    title = "Score by how many complexity factors hold"
    svg = draw_curves(lines, title=title, ylabel=of.partition_measure, ticks=ticks)
    factors = [part for part in parts.values() if part["kind"] == "factor"]
    groups = {
        "By how many of the chosen factors hold": sorted(counts, key=lambda part: part["rank"]),
        "By each factor": sorted(factors, key=lambda part: -part["scores"][MEAN]),
    }
    return render("complexity/partitions.html", of=of, drawn=svg, groups=groups, weak=weak_models(of),
                  called=[of.labels[model] for model in of.models])  # fmt: skip
