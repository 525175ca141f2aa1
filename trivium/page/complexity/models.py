"""Complexity's Table 1 and Figure 2: how well every model answers, and how far frames differ."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from trivium.measures.bootstrap import clustered_interval
from trivium.page.complexity.material import MEASURES, Material, order, training_of, unusual_answers
from trivium.page.figures import profile
from trivium.page.html import Cell, Row, percent, render, small
from trivium.page.thorough import Thorough, dagger, measured_cell

KINDS = {
    "extractive": "extractive, fine-tuned",
    "seq2seq": "generative, fine-tuned",
    "causal": "generative, LoRA",
    "prompted": "generative, prompted",
    "brought": "answers brought",
    "baseline": "trivial baseline",
}
COLUMNS = {
    "rouge_l_paper": "ROUGE-L,\npaper’s setting",
    "rouge_l": "ROUGE-L,\nUnicode-aware",
    "em": "EM",
    "f1": "F1",
}
BOUNDED = "rouge_l"  # has intervals
_LEAKS = {
    "calor_test_texts_in_fquad": "evaluation texts overlap with contexts of the adaptation corpus",
    "calor_texts_in_train_and_test": "with the frame parser’s training texts",
    "calor_texts_in_validation_and_test": "with its validation texts",
    "fquad_contexts_in_train_and_validation": (
        "validation contexts of the adaptation corpus overlap with training ones"
    ),
}
_SPREAD = ("range", "sd", "h", "p", "sd_by_chance", "sd_p")  # of the means of frames


def table_1_html(of: Material, thorough: Thorough | None = None) -> Markup:
    """Table 1: our models and baselines, the published numbers beside them, and what was not run.

    Args:
        of: what is shown.
        thorough: what stage score gave in `make thorough`, for what was trained once here, or not run.
    """
    printed, score, judgements = of.published["table_1"]["rows"], of.metrics("score"), of.metrics("judgements")
    readers, prompted, seeds = of.used["finetune"]["models"], of.used["prompt"]["models"], of.used["finetune"]["seeds"]
    kinds = {model: row["kind"] for model, row in printed.items()}
    kinds |= {model: settings["kind"] for model, settings in readers.items()} | dict.fromkeys(prompted, "prompted")
    kinds |= of.kinds
    rows, below = [], Markup('{}<span class="interval">{}</span>')
    for model in order(kinds, of.published):
        ran, paper = model in of.kinds, printed.get(model)
        few = thorough if not ran or (len(seeds) == 1 and model in of.trained) else None
        heading = of.labels[model] + " " + small(KINDS.get(kinds[model], f"{kinds[model]}, fine-tuned"))
        cells: list[Any] = [measured_cell(score, f"{model}_{name}", few, bounded=name == BOUNDED) for name in COLUMNS]
        correct: Any = "–"
        if ran:
            heading += _told(of, model, score)
        if f"{model}_correct" in judgements:
            correct = below.format(
                percent(judgements[f"{model}_correct"], 0), f"of {judgements[f'{model}_judged']:.0f}"
            )
        cells += [percent(score.get(f"{model}_shuffled_rouge_l")), correct]
        if not ran and not (few and few.again(f"{model}_rouge_l")):
            cells = [Cell("not run", "absent", 6)]
        values = [below.format(percent(paper["values"][0], 0), paper["size"]), paper["values"][1]] if paper else "––"
        cells += [Cell(value, "published") for value in values]
        rows.append(Row([heading, *cells], "baseline" if of.kinds.get(model) == "baseline" else ""))
    world = of.metrics("world")
    return render(
        "complexity_models.html", of=of, score=score, rows=rows, columns=list(COLUMNS.values()), seeds=len(seeds),
        kappa=judgements.get("kappa"), other_measure=of.used["validate"]["measure"] != figure_2_measure(of),
        sample_seed=of.used["world"]["seed"] if of.sample else None, dagger=dagger(thorough),
        figure_2=MEASURES[figure_2_measure(of)],
        unusual=[(of.labels[model], *told) for model, *told in unusual_answers(of)],
        leaks=[(int(world[name]), text) for name, text in _LEAKS.items()],
    )  # fmt: skip


def _told(of: Material, model: str, score: Mapping[str, float]) -> Markup:
    """What stands below a model's name: its training, whether it is weak, and answers that are none."""
    told = Markup()
    if model in of.trained:
        told += small(training_of(of.metrics(f"finetune_{model}_{of.trained[model]}")))
    if model in of.weak:
        told += Markup('<details class="weak"><summary>weak</summary>{}</details>').format(of.weak[model])
    counts = {name: int(score[f"{model}_{name}"]) for name in ("missing", "empty", "unknown")}
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return told + small(said and f"{said} answers")


def frame_points(
    answers: pa.Table, texts: Mapping[str, str], frames: Mapping[str, str], *, confidence: float, resamples: int,
    seed: int,
) -> list[tuple[str, float, tuple[float, float] | None]]:  # fmt: skip
    """Figure 2's points of one model: frame, mean ROUGE-L over questions and seeds, interval; worst frame first.

    Args:
        answers: id and `score` of one model's answers, all seeds.
        texts, frames: of every question by its id.
        confidence, resamples, seed: of the bootstrap over texts; a frame within one text has no interval.
    """
    means = answers.group_by("id").aggregate([("score", "mean")])
    scores: dict[str, list[tuple[str, float]]] = {}
    for identifier, value in zip(means["id"].to_pylist(), means["score_mean"].to_pylist(), strict=True):
        scores.setdefault(frames[identifier], []).append((texts[identifier], value))
    points = []
    for frame, pairs in scores.items():
        clusters, values = zip(*pairs, strict=True)
        bounds = None
        if len(set(clusters)) > 1:
            bounds = clustered_interval(values, clusters, confidence=confidence, resamples=resamples, seed=seed)
        points.append((frame, float(np.mean(values)), bounds))
    return sorted(points, key=lambda point: (point[1], point[0]))


def figure_2_measure(of: Material) -> str:
    """The score that Figure 2 draws, whichever is analysed."""
    return str(of.used["score"].get("figure_2", "rouge_l"))


def figure_2_html(of: Material) -> Markup:
    """Figure 2 of every model, and of its human scores where there are judgements: frames sorted by their mean.

    Whether the spread of the frames exceeds chance is a permutation test's p, at most the risk.
    """
    score, judged, settings = of.metrics("score"), of.rows("frame_judgements"), of.used["page"]["models"]
    ids = of.factors["id"].to_pylist()
    texts, frames = (dict(zip(ids, of.factors[name].to_pylist(), strict=True)) for name in ("text_id", "frame"))
    drawn: list[dict[str, Any]] = []
    human, measure = [], figure_2_measure(of)
    for model in of.models:
        label = of.labels[model]
        rows = of.scores.filter(pc.equal(of.scores["model"], model)).select(["id", measure])
        rows = rows.rename_columns(["id", "score"])
        svg = profile(frame_points(rows, texts, frames, **settings), title=f"Score by frame: {label}", xlabel="ROUGE-L")
        spread = {name: score.get(f"{model}_frame_{name}") for name in _SPREAD}
        drawn.append({"label": label, "svg": Markup(svg)} | spread)
        shares = sorted((row["correct"], row["frame"]) for row in judged if row["model"] == model)
        if shares:
            points = [(frame, share, None) for share, frame in shares]
            svg = profile(points, title=f"Judged correct by frame: {label}", xlabel="share judged correct")
            human.append({"label": label, "svg": Markup(svg), "range": shares[-1][0] - shares[0][0]})
    return render(
        "complexity_frames.html",
        drawn=drawn,
        measure=MEASURES[measure],
        human=human,
        confidence=settings["confidence"],
        risk=of.risk,
    )
