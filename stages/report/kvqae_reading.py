"""KVQAE's Table 7, the score by number of passages read, and what makes questions hard."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from stages.report.common import environment
from stages.report.figures import curves

# Our rows of the reader, and the paper's row that each stands beside; the re-ranked ones wait for re-ranking.
READING_ROWS: dict[str, str | None] = {
    "zero_shot_fused": "zero_shot_initial",
    "zero_shot_reranked": "zero_shot_reranked",
    "zero_shot_reranked_weighted": "zero_shot_weighted",
    "zero_shot_fused_weighted": None,
    "few_shot_text": None,
    "few_shot_fused": "few_shot_initial",
    "few_shot_fused_chosen": None,
    "few_shot_fused_weighted": None,
    "few_shot_reranked": "few_shot_reranked",
    "few_shot_reranked_weighted": "few_shot_weighted",
    "few_shot_semi_oracle": "few_shot_semi_oracle",
    "few_shot_full_oracle": "few_shot_full_oracle",
    "triviaqa": "triviaqa_bm25",
    "triviaqa_weighted": "triviaqa_bm25_weighted",
}


def reading_html(
    metrics: Mapping[str, float], published: dict[str, Any], rows: Mapping[str, str | None], seeds: int
) -> str:
    """Table 7: our rows, the published ones beside them, and the paper's rows that wait for re-ranking."""
    table = published["table_7"]["rows"]
    shown = []
    for ours, theirs in rows.items():
        values = None
        if f"{ours}_f1" in metrics:
            keys = ("f1", "em", "f1_sd", "em_sd")
            values = {key: metrics.get(f"{ours}_{key}") for key in keys}
        label = table[theirs]["label"] if theirs else ours.replace("_", " ")
        shown.append({"label": label, "ours": values, "published": table[theirs] if theirs else None})
    return environment().get_template("reading_table.html").render(rows=shown, seeds=seeds)


def sweep_html(table: pa.Table) -> str:
    """How many passages to read: validation EM and F1 by their number."""
    count = table["passages"].to_pylist()
    title = "Passages read at inference, validation questions"
    lines = {
        label: (count, [100 * value for value in table[name].to_pylist()])
        for name, label in (("em", "EM"), ("f1", "F1"))
    }
    caption = "The number of passages at inference is chosen on validation; the paper finds 5 clearly best."
    drawn = curves(lines, title=title, xlabel="passages", ylabel="%")
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def difficulty_html(rows: Sequence[Mapping[str, Any]], metrics: Mapping[str, float], confidence: float) -> str:
    """Which factors make questions hard for the reader: rows and metrics of stage difficulty."""
    template = environment().get_template("kvqae_difficulty.html")
    return template.render(rows=rows, metrics=metrics, confidence=confidence)
