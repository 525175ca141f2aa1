"""KVQAE's Table 1, our own statistics, and how many questions each step of the construction keeps (kvqae.md §2)."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.page.html import decimal, percent, render, thousands

ABSENT, RELEASED = "–", "released_"  # RELEASED: metrics of the data set as published
Metrics = Mapping[str, Mapping[str, float]]  # stage → its metrics
ROWS = read_beside(__file__, "construction.yaml")


def cell(value: float | None, kind: str) -> str:
    """A number as the tables print it: a count, two decimals, or a share in per cent; a dash where there is none."""
    if value is None:
        return ABSENT
    return f"{percent(value)} %" if kind == "percent" else thousands(value) if kind == "count" else decimal(value, 2)


def construction_sections(metrics: Metrics, published: Mapping[str, Any], *, simulated: bool) -> dict[str, Markup]:
    """Table 1, and the funnel from TriviaQA to the rebuilt set with how far its annotators agree; beside the paper's.

    They are of the metrics of the construction's stages and tests/published/kvqae.yaml. What annotators of real
    questions decided is left out where they were simulated.
    """
    note, rebuild = Markup(), metrics["rebuild"]
    if simulated:
        rebuild = {name: value for name, value in rebuild.items() if name.startswith(RELEASED)}
        note = render("kvqae_nobody_annotated.html")
    rows = _rows("statistics", rebuild, (RELEASED + "{}", "{}"), published["table_1"]["values"])
    printed, metrics = published["construction"]["values"], {**metrics, "rebuild": rebuild}
    agreement = _rows("agreement", rebuild, ("{}", "{}_expected"), printed)
    steps = [_step(step, metrics.get(step["stage"], {}), printed) for step in ROWS["steps"]]
    return {
        "table-1": note + render("kvqae_statistics.html", rows=rows),
        "construction": note + render("kvqae_construction.html", steps=steps, agreement=agreement),
    }


def _rows(table: str, metrics: Mapping[str, float], keys: tuple[str, str], printed: Mapping[str, float]) -> list[Any]:
    """Rows of a label, the values at two keys, which are formats of the row's name, and the paper's."""
    rows = []
    for name, row in ROWS[table].items():
        cells = [cell(metrics.get(key.format(name)), row["kind"]) for key in keys]
        paper = _printed(printed[row["paper"]]) + " %" * (row["kind"] == "percent") if "paper" in row else ABSENT
        rows.append([row["label"], *cells, paper])
    return rows


def _step(step: Mapping[str, Any], metrics: Mapping[str, float], printed: Mapping[str, float]) -> list[str]:
    """What a step keeps of what enters it, the share, the paper's, and why it leaves out the rest."""
    entered, kept = metrics.get(step["entered"]), metrics.get(step.get("kept", step.get("lost")))
    if "lost" in step and entered is not None and kept is not None:
        kept = entered - kept
    share, paper = cell(kept / entered if entered and kept is not None else None, "percent"), ABSENT
    if (said := step.get("share")) and said["key"] in metrics:
        share = said["said"].format(cell(metrics[said["key"]], said["kind"]))
    if said := step.get("paper"):
        paper = said["said"].format(*(_printed(printed[name]) for name in said["values"]))
    reasons = [f"{name.replace('_', ' ')} {thousands(metrics[name])}" for name in step["reasons"] if metrics.get(name)]
    return [step["label"], cell(entered, "count"), cell(kept, "count"), share, paper, ", ".join(reasons) or ABSENT]


def _printed(value: float) -> str:
    """A number of the paper as it prints it, with spaces between thousands; its shares are in per cent."""
    return f"{value:,}".replace(",", " ")
