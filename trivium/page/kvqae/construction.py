"""KVQAE's Table 1, our own statistics, and how many questions each step of the construction keeps (kvqae.md §2)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from trivium.page.html import Column, render, table, thousands

ABSENT, RELEASED = "–", "released_"  # RELEASED: metrics of the data set as published
Metrics = Mapping[str, Mapping[str, float]]  # stage → its metrics
ROWS = yaml.safe_load(Path(__file__).with_name("construction.yaml").read_text(encoding="utf-8"))


def cell(value: float | None, kind: str) -> str:
    """A number as the tables print it: a count, two decimals, or a share in per cent; a dash where there is none."""
    if value is None:
        return ABSENT
    if kind == "percent":
        return f"{100 * value:.1f} %"
    return thousands(value) if kind == "count" else f"{value:.2f}"


def _printed(values: Mapping[str, float], row: Mapping[str, str]) -> str:
    """The published value of a row, whose shares are in per cent; a dash where the paper has none."""
    if "paper" not in row:
        return ABSENT
    return f"{values[row['paper']]:,}".replace(",", " ") + (" %" if row["kind"] == "percent" else "")


def construction_sections(metrics: Metrics, published: Mapping[str, Any], *, simulated: bool) -> dict[str, Markup]:
    """Table 1 and the steps.

    Args:
        metrics: of the stages of the construction.
        published: tests/published/kvqae.yaml.
        simulated: whether annotators of real questions were simulated: what they decided stands beside nothing of the
            paper's, and is left out.
    """
    note = Markup()
    if simulated:
        released = {name: value for name, value in metrics["rebuild"].items() if name.startswith(RELEASED)}
        metrics, note = {**metrics, "rebuild": released}, render("kvqae_nobody_annotated.html")
    return {
        "table-1": note + statistics_html(metrics["rebuild"], published),
        "construction": note + construction_html(metrics, published),
    }


def statistics_html(rebuild: Mapping[str, float], published: Mapping[str, Any]) -> Markup:
    """Table 1: the released set, the rebuilt one, and what the paper's text says of its own."""
    rows = []
    for name, row in ROWS["statistics"].items():
        ours = [cell(rebuild.get(prefix + name), row["kind"]) for prefix in (RELEASED, "")]
        rows.append([row["label"], *ours, _printed(published["table_1"]["values"], row)])
    columns = ["Statistic", "released", "rebuilt", Column("ViQuAE\npaper", "published")]
    introduction = (
        "Our own statistics of the released set and of the one that the stages rebuild from TriviaQA. The paper’s "
        "table compares ViQuAE with KVQA; the text at hand has lost it, so that there is no column about KVQA: the "
        "paper’s column holds what its prose says of ViQuAE."
    )
    caption = "All three splits together; overlaps between training and test."
    return Markup("<p>{}</p>\n").format(introduction) + table(columns, rows, caption)


def construction_html(metrics: Metrics, published: Mapping[str, Any]) -> Markup:
    """The funnel from TriviaQA to the rebuilt set, and how far its annotators agree, beside the paper's numbers."""
    printed, computed = published["construction"]["values"], metrics.get("rebuild", {})
    steps = [_step(step, metrics.get(step["stage"], {}), printed) for step in ROWS["steps"]]
    columns = ["Step", "in", "kept", "share", Column("paper", "published"), Column("left out", "left")]
    caption = "What each step keeps, and why it leaves out the rest. Only what is kept goes on to the next step."
    agreement = [
        [
            row["label"],
            *(cell(computed.get(key), row["kind"]) for key in (name, f"{name}_expected")),
            _printed(printed, row),
        ]
        for name, row in ROWS["agreement"].items()
    ]
    known = (
        "Annotation. Known: what the simulated annotators’ own chances of seeing the opposite make κ, and their edits; "
        "there is none where people annotated. A discarded question counts as changed in all three decisions."
    )
    return table(columns, steps, caption) + table(
        ["Quantity", "computed", "known", Column("paper", "published")], agreement, known
    )


def _step(step: Mapping[str, Any], found: Mapping[str, float], printed: Mapping[str, Any]) -> list[str]:
    """What a step keeps of what enters it, the share, the paper's, and why it leaves out the rest."""
    entered, kept = found.get(step["entered"]), found.get(step.get("kept", step.get("lost")))
    if "lost" in step and entered is not None and kept is not None:
        kept = entered - kept
    share = cell(kept / entered if entered and kept is not None else None, "percent")
    instead = step.get("share", {})
    if instead and instead["key"] in found:
        share = instead["said"].format(cell(found[instead["key"]], instead["kind"]))
    paper = ABSENT
    if "paper" in step:
        counts = (f"{printed[name]:,}".replace(",", " ") for name in step["paper"]["values"])
        paper = step["paper"]["said"].format(*counts)
    reasons = [f"{name.replace('_', ' ')} {cell(found[name], 'count')}" for name in step["reasons"] if found.get(name)]
    row = [cell(entered, "count"), cell(kept, "count"), share, paper]
    return [step["label"], *row, ", ".join(reasons) or ABSENT]
