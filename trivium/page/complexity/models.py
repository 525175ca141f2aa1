"""Complexity's Table 1 and Figure 2: how well every model answers, and how far frames differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.measures.bootstrap import clustered_interval
from trivium.page.common import environment
from trivium.page.figures import profile
from trivium.page.thorough import Thorough

Metrics = Mapping[str, float]
KINDS = {
    "extractive": "extractive, fine-tuned",
    "seq2seq": "generative, fine-tuned",
    "causal": "generative, LoRA",
    "prompted": "generative, prompted",
    "brought": "answers brought",
    "baseline": "trivial baseline",
}
COLUMNS = (
    ("rouge_l_paper", "ROUGE-L, paper’s setting"),
    ("rouge_l", "ROUGE-L, Unicode-aware"),
    ("em", "EM"),
    ("f1", "F1"),
)


def _said(kind: str) -> str:
    """What the table calls a kind; one that was added goes by its name."""
    return KINDS.get(kind, f"{kind}, fine-tuned")


def order(kinds: Mapping[str, str], published: Mapping[str, Any]) -> list[str]:
    """Models as Table 1 has them, then others, then baselines; `kinds` gives each model's kind."""
    rows = [*published["table_1"]["rows"], *kinds]
    return sorted(kinds, key=lambda model: (kinds[model] == "baseline", rows.index(model)))


def table_1_html(
    kinds: Mapping[str, str],
    metrics: Metrics,
    judgements: Metrics,
    published: Mapping[str, Any],
    absent: Mapping[str, str],
    labels: Mapping[str, str],
    *,
    weak: Mapping[str, str],
    trained: Mapping[str, str],
    seeds: int,
    thorough: Thorough | None = None,
    **said: Any,
) -> str:
    """Table 1: our models and baselines, the published numbers beside them, and what was not run.

    Args:
        kinds: {model: kind} of the models with scores.
        metrics, judgements: of stages score and judgements.
        published: tests/published/complexity.yaml.
        absent: {model: kind} of those that could have been run; models in `kinds` were.
        labels: what each model is called.
        weak: {model: why its scores say little}.
        trained: {fine-tuned model: its size, and how long it was trained}.
        seeds: how many trainings of each reader.
        thorough: what stage score gave in `make thorough`, for what was trained once here, or not run.
        said: what else the template says: `weak_exact` (see `weakness`), `measure` and
            `other_measure` (the score that is analysed, in words, and whether it is not Figure 2's), `replies`,
            `leaks`, `sample_seed` (the sample world's, or None).
    """
    printed = published["table_1"]["rows"]
    every = {model: row["kind"] for model, row in printed.items()} | {**absent, **kinds}
    rows: list[dict[str, Any]] = []
    for model in order(every, published):
        few = thorough is not None and (model not in kinds or (seeds == 1 and model in trained))
        again = {name: thorough.mean(f"{model}_{name}") if thorough and few else None for name, _ in COLUMNS}
        row: dict[str, Any] = {
            "label": labels[model],
            "paper": printed.get(model),
            "ran": model in kinds,
            "again": again,
        }
        if not row["ran"]:
            rows.append(row | {"kind": _said(every[model])})
            continue
        kind = kinds[model]
        values = {name: (metrics[f"{model}_{name}"], metrics.get(f"{model}_{name}_sd")) for name, _ in COLUMNS}
        counts = {name: int(metrics[f"{model}_{name}"]) for name in ("missing", "empty", "unknown")}
        row |= {
            "kind": _said(kind),
            "baseline": kind == "baseline",
            "values": values,
            "interval": (metrics[f"{model}_rouge_l_low"], metrics[f"{model}_rouge_l_high"]),
            "shuffled": metrics.get(f"{model}_shuffled_rouge_l"),
            "correct": judgements.get(f"{model}_correct"),
            "judged": judgements.get(f"{model}_judged"),
            "counts": {name: count for name, count in counts.items() if count},
            "weak": weak.get(model),
            "trained": trained.get(model),
        }
        rows.append(row)
    return (
        environment()
        .get_template("complexity_models.html")
        .render(
            rows=rows,
            measures=COLUMNS,
            metrics=metrics,
            kappa=judgements.get("kappa"),
            source=published["source"],
            published=published,
            seeds=seeds,
            thorough=thorough,
            **said,
        )
    )


def frame_points(
    table: pa.Table,
    texts: Mapping[str, str],
    frames: Mapping[str, str],
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> list[tuple[str, float, tuple[float, float] | None]]:
    """Figure 2's points of one model: frame, mean ROUGE-L over questions and seeds, interval; worst frame first.

    Args:
        table: id and rouge_l of one model's answers, all seeds.
        texts, frames: of every question by its id.
        confidence, resamples, seed: of the bootstrap over texts; a frame within one text has no interval.
    """
    means = table.group_by("id").aggregate([("rouge_l", "mean")])
    scores: dict[str, list[tuple[str, float]]] = {}
    for identifier, value in zip(means["id"].to_pylist(), means["rouge_l_mean"].to_pylist(), strict=True):
        scores.setdefault(frames[identifier], []).append((texts[identifier], value))
    points = []
    for frame, pairs in scores.items():
        clusters, values = zip(*pairs, strict=True)
        interval = None
        if len(set(clusters)) > 1:
            interval = clustered_interval(values, clusters, confidence=confidence, resamples=resamples, seed=seed)
        points.append((frame, float(np.mean(values)), interval))
    return sorted(points, key=lambda point: (point[1], point[0]))


def figure_2_html(
    scores: pa.Table,
    factors: pa.Table,
    models: Sequence[str],
    metrics: Metrics,
    judged: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str],
    *,
    confidence: float,
    resamples: int,
    seed: int,
    risk: float,
) -> str:
    """Figure 2 of every model, and of its human scores where there are judgements: frames sorted by their mean.

    Args:
        scores, factors: of stages score and factors.
        models: in the order of the page.
        metrics: of stage score: spread of the frames, what it would be by chance, and the tests whether they differ.
        judged: rows of stage judgements: model, frame, judged, correct.
        labels: what each model is called.
        confidence, resamples, seed: see `frame_points`.
        risk: below which, or at which, a permutation p says that the spread exceeds chance.
    """
    ids = factors["id"].to_pylist()
    texts = dict(zip(ids, factors["text_id"].to_pylist(), strict=True))
    frames = dict(zip(ids, factors["frame"].to_pylist(), strict=True))
    drawn = []
    for model in models:
        rows = scores.filter(pc.equal(scores["model"], model)).select(["id", "rouge_l"])
        points = frame_points(rows, texts, frames, confidence=confidence, resamples=resamples, seed=seed)
        drawn.append(
            {
                "label": labels[model],
                "svg": Markup(profile(points, title=f"Score by frame: {labels[model]}", xlabel="ROUGE-L")),
                "range": metrics[f"{model}_frame_range"],
                "sd": metrics.get(f"{model}_frame_sd"),
                "h": metrics.get(f"{model}_frame_h"),
                "p": metrics.get(f"{model}_frame_p"),
                "chance": metrics.get(f"{model}_frame_sd_by_chance"),
                "chance_p": metrics.get(f"{model}_frame_sd_p"),
            }
        )
    human = []
    for model in models:
        shares = [(row["frame"], row["correct"], None) for row in judged if row["model"] == model]
        if shares:
            shares.sort(key=lambda point: (point[1], point[0]))
            svg = profile(shares, title=f"Judged correct by frame: {labels[model]}", xlabel="share judged correct")
            human.append({"label": labels[model], "svg": Markup(svg), "range": shares[-1][1] - shares[0][1]})
    return (
        environment()
        .get_template("complexity_frames.html")
        .render(drawn=drawn, human=human, confidence=confidence, risk=risk)
    )
