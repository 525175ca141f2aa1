"""The sample's own answer: what a factor costs when the same fact is told and asked with it and without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from trivium.core.tables import read_table
from trivium.formats.facts import FACTORS, sides
from trivium.measures.contrasts import ContrastMean, mean_contrast
from trivium.page.complexity.material import Material
from trivium.page.html import between, render, signed, small
from trivium.page.thorough import COSTLY, claim_html

COSTS = "costs every reader"
MARGIN = 2.0  # points up to which a cost counts as none, as in the claims
# What the two versions of a fact are, with the factor and without it.
VERSIONS = {
    "f0": ("after few questions about such events (their frame)", "after many"),
    "f1": ("a pronoun stands for the answer", "the answer is named again"),
    "f2": ("told by a noun", "told by a verb"),
    "f3": ("asked by another word than told", "asked by the same word"),
    "f4": ("answer two grammatical steps (arcs) or more from the event’s word", "answer next to it"),
    "f5": ("two things said of the event (its elements)", "four things"),
    "f6": ("after learning many words for such events", "after learning one"),
}


@dataclass(frozen=True)
class Contrasts:
    """What a run's readers made of the facts."""

    facts: Sequence[Mapping[str, Any]]  # rows of `facts.parquet`; none where the world is not the sample's
    scores: Mapping[str, Sequence[pa.Table]]  # by what a reader is called, the tables of its trainings
    means: Mapping[str, Mapping[str, ContrastMean]]  # by factor and reader, δ in points, below 0 where it costs

    @property
    def costly(self) -> list[str]:
        """The factors that cost every reader of this run."""
        return [factor for factor, means in self.means.items() if say([*means.values()]) == COSTS]

    @property
    def hardest(self) -> str:
        """The factor that costs most even the reader that loses least by it, of those that cost every reader if any."""
        return max(self.costly or self.means, key=lambda name: -max(mean.value for mean in self.means[name].values()))


def read_contrasts(of: Material) -> Contrasts:
    """Read the facts and what each reader scored, of all trainings of this run."""
    facts = read_table(of.data / "raw" / "crossed" / "facts.parquet").to_pylist()
    if not facts:
        return Contrasts([], {}, {})
    scores = {
        of.labels[reader]: [*map(read_table, sorted((of.data / "contrasts" / reader).glob("seed-*.parquet")))]
        for reader in of.used["contrasts"]["readers"]
    }
    means = {
        factor: {reader: mean_delta(tables, factor) for reader, tables in scores.items()}
        for factor in FACTORS
        if any(row[factor] is not None for row in facts)
    }
    return Contrasts(facts, scores, means)


def claim_of(contrasts: Contrasts) -> Markup:
    """What stands first on the page: a factor that costs every reader of this run, or that there is none."""
    if not contrasts.costly:
        return claim_html("Something in a text makes it harder to every reader.", "cannot tell",
                          "No factor costs every reader of this run for sure.")  # fmt: skip
    hardest = contrasts.hardest
    lost = " and ".join(f"{reader} loses {-mean.value:.1f}" for reader, mean in contrasts.means[hardest].items())
    numbers = (
        f"Of 100 points for words that an answer shares with the right one (ROUGE-L), {lost} (factor {hardest}), on "
        "the same facts with the same answers; the example is one of them, twice."
    )
    return claim_html(COSTLY[hardest], "holds", numbers)


def picture_html(contrasts: Contrasts) -> Markup:
    """What stands beside the claim: a fact in both versions, and what readers of this run answer."""
    scores = {reader: tables[0] for reader, tables in contrasts.scores.items()}
    versions = pair(contrasts.facts, scores, contrasts.hardest)
    return render("complexity/pair.html", pair=versions, titles=VERSIONS[contrasts.hardest])


def contrasts_html(contrasts: Contrasts) -> Markup:
    """Mean δ of each factor and reader, in points."""
    if not contrasts.facts:
        return Markup("<p>Facts that are told twice are of the sample world alone; this run has other texts.</p>")
    rows = []
    for factor, means in contrasts.means.items():
        with_it, without = VERSIONS[factor]
        bounds = [f"{signed(mean.value, 1)} {between(*mean.interval())}" for mean in means.values()]
        rows.append([f"{factor} " + small(f"{with_it}; without it: {without}"), *bounds, say([*means.values()])])
    facts, trainings = len({row["fact"] for row in contrasts.facts}), min(map(len, contrasts.scores.values()))
    return render("complexity_contrasts.html", rows=rows, labels=list(contrasts.scores), facts=facts,
                  trainings=trainings, margin=MARGIN)  # fmt: skip


def mean_delta(tables: Sequence[pa.Table], factor: str) -> ContrastMean:
    """Mean δ of a factor for a reader over facts and the trainings of `tables`, in points."""
    versions = [sides(table, factor) for table in tables]
    return mean_contrast([100 * np.stack([present - without for _, without, present in versions], axis=1)])


def say(means: Sequence[ContrastMean]) -> str:
    """What the intervals of all readers together say of this world."""
    intervals = [mean.interval() for mean in means]
    if all(high < 0 for _, high in intervals):
        return COSTS
    if all(low > 0 for low, _ in intervals):
        return "helps every reader"
    if all(low > -MARGIN for low, _ in intervals):
        return f"costs none more than {MARGIN:.0f} points"
    return "cannot be told from this run"


def pair(
    facts: Sequence[Mapping[str, Any]], scores: Mapping[str, pa.Table], factor: str
) -> dict[bool, dict[str, Any]] | None:
    """The first fact that readers lose most of by a factor: by whether it is there, what is asked and what they answer.

    `scores` are those of one training of each reader, by what it is called.
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
            versions[row[factor]] = {**row, "answers": {reader: answers[row["id"], reader] for reader in scores}}
    return versions
