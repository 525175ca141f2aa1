"""What `make real` measured on real texts, for the page, README and docs/results.md."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from trivium.core.parameters import read_beside
from trivium.core.tables import read_json
from trivium.page.html import between, markdown_table, points, probability, render, thousands

FOLDER = Path("metrics/real")
NOT_MEASURED = "Not measured yet: `make real`."
LABELS: dict[str, dict[str, str]] = read_beside(__file__, "real.yaml")
SEARCHERS, SEARCH, READERS, READING, FRAMES = (
    LABELS[name] for name in ("searchers", "search", "readers", "reading", "frames")
)


class Measured(NamedTuple):
    """What a file of `metrics/real` says: a text in lines, and a table."""

    title: str
    text: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def _dated(figures: Mapping[str, Any]) -> str:
    return f"Measured on {figures['date']} at commit {figures['commit'][:12]}"


def _cell(figures: Mapping[str, Any], name: str) -> str:
    """A figure with its interval and p, as far as there are any."""
    if name not in figures:
        return "–"
    p = f", p {probability(figures[f'{name}_p'])}" if f"{name}_p" in figures else ""
    return f"{figures[name]:.3f} [{figures[f'{name}_low']:.3f}, {figures[f'{name}_high']:.3f}]{p}"


def search(measured: Mapping[str, Any]) -> Measured:
    """Articles found by a line that describes them."""
    rows, lines = [], [f"{_dated(measured)}."]
    for collection, name in LABELS["collections"].items():
        if (figures := measured.get(collection)) is None:
            continue
        for system, label in SEARCHERS.items():
            rows.append([f"{name}: {label}", *(_cell(figures, f"{system}_{measure}") for measure in SEARCH)])
        weights = ", ".join(f"{SEARCHERS[system]} {weight:.1f}" for system, weight in figures["weights"].items())
        gain, *bounds = (figures[f"fused_mrr_gain{end}"] for end in ("", "_low", "_high"))
        lines.append(
            f"{name}: {thousands(figures['articles'])} articles in {thousands(figures['passages'])} passages;\n"
            f"{thousands(figures['choosing'])} questions chose the weights ({weights}),\n"
            f"{thousands(figures['asked'])} others measure. Both together gain {points(gain)} "
            f"{between(*(100 * bound for bound in bounds))} points of MRR."
        )
        if figures["verbatim"]:
            without = [f"{name} {figures[f'{key}_mrr_without_verbatim']:.3f}" for key, name in SEARCHERS.items()]
            lines.append(
                f"{thousands(figures['verbatim'])} of these descriptions stand in their article word for word;\n"
                f"without them MRR is {', '.join(without)}."
            )
    return Measured("Articles by a line that describes them", "\n".join(lines), ["", *SEARCH.values()], rows)


def piaf(figures: Mapping[str, Any]) -> Measured:
    """A reader beside trivial baselines, on PIAF."""
    values = {system: [figures[f"{system}_{measure}"] for measure in READING] for system in READERS}
    rows = [[name, *(f"{value:.3f}" for value in values[system])] for system, name in READERS.items()]
    compared = zip(READING.values(), values["reader"], values["overlap_sentence"], strict=True)
    better = [name for name, ours, trivial in compared if ours > trivial]
    mangled = 100 * figures["mangled_references"]
    text = f"""\
{_dated(figures)}: PIAF 1.0, {figures["questions"]} questions;
trained on {figures["trained_questions"]} of them, asked {figures["asked_questions"]}
about {figures["asked_articles"]} other articles. The paper's tokenizer mangles {mangled:.1f} % of the reference
answers. Answers that do not stand at their offset: {figures["wrong_offset_answers"]}, of the questions
{", ".join(figures["wrong_offset_ids"])}.
After so short a training the reader beats the sentence with most question words in
{" and ".join(better) or "nothing"}."""
    return Measured("French questions (PIAF)", text, ["", *READING.values()], rows)


def frames(figures: Mapping[str, Any]) -> Measured:
    """Parsers beside the lexicon, on the French FrameNet."""
    systems = {system: name for system, name in LABELS["parsers"].items() if f"{system}_trigger" in figures}
    rows = [[said, *(_cell(figures, f"{system}_{task}") for system in systems)] for task, said in FRAMES.items()]
    text = f"""\
{_dated(figures)}: {figures["sentences"]} sentences,
{figures["annotated"]} annotated occurrences, of which {figures["frames"]} evoke one of {figures["frame_types"]}
frames, with {figures["elements"]} elements. Linear models took {figures["linear_seconds"] / 60:.0f} minutes."""
    return Measured("French frames (the French FrameNet on Sequoia)", text, ["", *systems.values()], rows)


FILES: dict[str, Callable[[Mapping[str, Any]], Measured]] = {"search": search, "piaf": piaf, "frames": frames}


def markdown(root: Path, name: str) -> str:
    """The text and table of a file of `metrics/real`."""
    file = root / FOLDER / f"{name}.json"
    if not file.is_file():
        return NOT_MEASURED
    measured = FILES[name](read_json(file))
    return f"{measured.text}\n\n{markdown_table(measured.head, measured.rows)}"


def html(folder: Path) -> Markup:
    """The card of the page's first screen; nothing where nothing was measured."""
    files = {folder / f"{name}.json": describe for name, describe in FILES.items()}
    measured = [describe(read_json(file)) for file, describe in files.items() if file.is_file()]
    return render("real.html", measured=measured, sentence=sentence(folder)) if measured else Markup()


def sentence(folder: Path) -> str:
    """The finding on real articles in one sentence; nothing where it was not measured."""
    if not (folder / "search.json").is_file():
        return ""
    figures = read_json(folder / "search.json")
    english, french = figures["english"], figures["french"]
    return (
        f"On real texts, {thousands(english['articles'])} English and {thousands(french['articles'])} French articles "
        f"asked for by one line each, BM25 and MiniLM together reach MRR\n{english['fused_mrr']:.2f} and "
        f"{french['fused_mrr']:.2f}, {points(english['fused_mrr_gain'])} and {points(french['fused_mrr_gain'])} points "
        "over BM25 alone."
    )
