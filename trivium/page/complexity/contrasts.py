"""The sample's own answer: what a factor costs when the same fact is told and asked with it and without it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from trivium.complexity.effects.contrasts import sides
from trivium.core.tables import read_table
from trivium.formats.facts import FACTORS
from trivium.measures.contrasts import ContrastMean, mean_contrast
from trivium.page.complexity.material import Material
from trivium.page.html import render

MARGIN = 2.0  # points up to which a cost counts as none, as in the claims
# What the two versions of a fact are, with the factor and without it.
VERSIONS = {
    "f0": ("after learning the frame from few questions", "after learning it from many"),
    "f1": ("a pronoun stands for the answer", "the answer is named again"),
    "f2": ("told by a noun", "told by a verb"),
    "f3": ("asked by another word than told", "asked by the same word"),
    "f4": ("answer two arcs and more from the event’s word", "answer next to it"),
    "f5": ("two elements", "four elements"),
    "f6": ("after learning many words for the frame", "after learning one"),
}


def contrasts_html(of: Material) -> Markup:
    """The mean points that each factor costs each reader, and one fact in both versions."""
    folder, facts = of.data / "contrasts", read_table(of.data / "raw" / "crossed" / "facts.parquet").to_pylist()
    readers = {
        reader: [read_table(file) for file in sorted((folder / reader).glob("seed-*.parquet"))]
        for reader in of.used["contrasts"]["readers"]
    }
    if not facts:
        return Markup("<p>Facts that are told twice are of the sample world alone; this run has other texts.</p>")
    asked = [factor for factor in FACTORS if any(row[factor] is not None for row in facts)]
    means = {factor: {reader: cost(tables, factor) for reader, tables in readers.items()} for factor in asked}
    hardest = max(asked, key=lambda factor: min(mean.value for mean in means[factor].values()))
    return render(
        "complexity_contrasts.html",
        rows=[(factor, *VERSIONS[factor], list(means[factor].values())) for factor in asked],
        labels=[of.labels[reader] for reader in readers],
        said={factor: say(list(of_readers.values())) for factor, of_readers in means.items()},
        facts=len({row["fact"] for row in facts}),
        trainings=min(map(len, readers.values())),
        margin=MARGIN,
        pair=pair(facts, {of.labels[reader]: tables[0] for reader, tables in readers.items()}, hardest),
        versions=VERSIONS[hardest],
    )


def cost(tables: Sequence[pa.Table], factor: str) -> ContrastMean:
    """The mean points that a factor costs a reader over facts and the trainings of `tables`."""
    found = [sides(table, factor) for table in tables]
    return mean_contrast([100 * np.stack([without - present for _, without, present in found], axis=1)])


def say(means: Sequence[ContrastMean]) -> str:
    """What the intervals of all readers together say of this world."""
    intervals = [mean.interval() for mean in means]
    if all(low > 0 for low, _ in intervals):
        return "costs every reader"
    if all(high < 0 for _, high in intervals):
        return "helps every reader"
    if all(high < MARGIN for _, high in intervals):
        return f"costs none more than {MARGIN:.0f} points"
    return "cannot be told from this run"


def pair(
    facts: Sequence[Mapping[str, Any]], scores: Mapping[str, pa.Table], factor: str
) -> dict[bool, dict[str, Any]] | None:
    """The first fact that readers lose most of by a factor: by whether it is there, what is asked and what they answer.

    Args:
        facts: rows of `facts.parquet`.
        scores: of one training of each reader, by what it is called.
        factor: of `FACTORS`.
    """
    lost: dict[str, float] = {}
    for table in scores.values():
        names, without, present = sides(table, factor)
        for name, value in zip(names, without - present, strict=True):
            lost[name] = lost.get(name, 0) + float(value)
    fact = max(lost, key=lambda name: lost[name])
    answers = {
        (row["id"], reader): row["answer"] for reader, table in scores.items() for row in table.to_pylist()
    }  # a version of f0 and f6 is asked of one corpus' readers, others of both: the last one's stand here
    versions = {}
    for row in facts:
        if row["fact"] == fact and row[factor] is not None and row[factor] not in versions:
            versions[row[factor]] = row | {"answers": {reader: answers[row["id"], reader] for reader in scores}}
    return versions
