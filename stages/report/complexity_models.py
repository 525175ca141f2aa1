"""Complexity's Table 1 and Figure 2: how well every model answers, and how far frames differ."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from stages.measures.clustered import clustered_interval
from stages.report.common import environment
from stages.report.figures import profile

Metrics = Mapping[str, float]
KINDS = {
    "extractive": "extractive, fine-tuned",
    "seq2seq": "generative, fine-tuned",
    "causal": "generative, LoRA",
    "prompted": "generative, prompted",
    "brought": "answers brought",
    "baseline": "trivial baseline",
}
LABELS = {
    "camembert": "CamemBERT",
    "minilm": "MiniLM",
    "t5": "T5",
    "flan_t5": "FLAN-T5",
    "mt5": "mT5",
    "llama": "Llama",
    "mixtral": "Mixtral",
    "gpt": "GPT",
    "best_overlap_sentence": "Sentence with most words of the question",
    "random_span": "Random span, as long as an answer",
}
MEASURES = (
    ("rouge_l_paper", "ROUGE-L, paper’s setting"),
    ("rouge_l", "ROUGE-L, Unicode-aware"),
    ("em", "EM"),
    ("f1", "F1"),
)


def label(model: str) -> str:
    """What a model is called on the page: of ours, the family; sizes differ from the paper's."""
    return LABELS.get(model, model)


def order(kinds: Mapping[str, str], published: Mapping[str, Any]) -> list[str]:
    """Models as Table 1 has them, then others, then baselines; `kinds` gives each model's kind."""
    rows = [*published["table_1"]["rows"], *kinds]
    return sorted(kinds, key=lambda model: (kinds[model] == "baseline", rows.index(model)))


def weakness(model: str, metrics: Metrics, exact: float) -> str | None:
    """Why a model's scores say little, or None.

    A model is weak when its gain over the best-overlap sentence may be 0, when its own answers do as well at other
    questions with the same element, or when fewer than `exact` of its answers are exactly right.
    """
    reasons = []
    if metrics.get(f"{model}_over_baseline_low", 1) <= 0:
        reasons.append("not clearly above the sentence with most words of the question")
    if metrics.get(f"{model}_shuffled_rouge_l", 0) >= metrics[f"{model}_rouge_l_low"]:
        reasons.append("no better than its own answers shuffled: it guesses, it does not read")
    if metrics[f"{model}_em"] < exact:
        reasons.append(f"only {100 * metrics[f'{model}_em']:.0f} % exactly right")
    return "; ".join(reasons) or None


def table_1_html(
    kinds: Mapping[str, str],
    metrics: Metrics,
    judgements: Metrics,
    published: Mapping[str, Any],
    absent: Mapping[str, str],
    *,
    seeds: int,
    weak_exact: float,
    sample: bool,
) -> str:
    """Table 1: our models and baselines, the published numbers beside them, and what was not run.

    Args:
        kinds: {model: kind} of the models with scores.
        metrics, judgements: of stages score and judgements.
        published: tests/published/complexity.yaml.
        absent: {model: kind} of those that could have been run; models in `kinds` were.
        seeds: of the fine-tuned readers.
        weak_exact: see `weakness`.
        sample: whether the data are invented.
    """
    printed = published["table_1"]["rows"]
    every = {model: row["kind"] for model, row in printed.items()} | {**absent, **kinds}
    rows: list[dict[str, Any]] = []
    for model in order(every, published):
        row: dict[str, Any] = {"label": label(model), "paper": printed.get(model), "ran": model in kinds}
        if not row["ran"]:
            rows.append(row | {"kind": KINDS[every[model]]})
            continue
        kind = kinds[model]
        values = {name: (metrics[f"{model}_{name}"], metrics.get(f"{model}_{name}_sd")) for name, _ in MEASURES}
        counts = {name: int(metrics[f"{model}_{name}"]) for name in ("missing", "empty", "unknown")}
        row |= {
            "kind": KINDS[kind],
            "baseline": kind == "baseline",
            "values": values,
            "interval": (metrics[f"{model}_rouge_l_low"], metrics[f"{model}_rouge_l_high"]),
            "shuffled": metrics.get(f"{model}_shuffled_rouge_l"),
            "correct": judgements.get(f"{model}_correct"),
            "judged": judgements.get(f"{model}_judged"),
            "counts": {name: count for name, count in counts.items() if count},
            "weak": None if kind == "baseline" else weakness(model, metrics, weak_exact),
        }
        rows.append(row)
    return (
        environment()
        .get_template("complexity_models.html")
        .render(
            rows=rows,
            measures=MEASURES,
            metrics=metrics,
            kappa=judgements.get("kappa"),
            seeds=seeds,
            weak_exact=weak_exact,
            sample=sample,
            source=published["source"],
            published=published,
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
    *,
    confidence: float,
    resamples: int,
    seed: int,
) -> str:
    """Figure 2 of every model, and of its human scores where there are judgements: frames sorted by their mean.

    Args:
        scores, factors: of stages score and factors.
        models: in the order of the page.
        metrics: of stage score: spread of the frames, and the test whether they differ.
        judged: rows of stage judgements: model, frame, judged, correct.
        confidence, resamples, seed: see `frame_points`.
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
                "label": label(model),
                "svg": Markup(profile(points, title=f"Score by frame: {label(model)}", xlabel="ROUGE-L")),
                "range": metrics[f"{model}_frame_range"],
                "sd": metrics.get(f"{model}_frame_sd"),
                "h": metrics.get(f"{model}_frame_h"),
                "p": metrics.get(f"{model}_frame_p"),
            }
        )
    human = []
    for model in models:
        shares = [(row["frame"], row["correct"], None) for row in judged if row["model"] == model]
        if shares:
            shares.sort(key=lambda point: (point[1], point[0]))
            svg = profile(shares, title=f"Judged correct by frame: {label(model)}", xlabel="share judged correct")
            human.append({"label": label(model), "svg": Markup(svg), "range": shares[-1][1] - shares[0][1]})
    return environment().get_template("complexity_frames.html").render(drawn=drawn, human=human, confidence=confidence)
