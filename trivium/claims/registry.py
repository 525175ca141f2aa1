"""The claims of `claims.yaml`: what is compared with what, by which measure, and what is claimed of the difference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trivium.core.parameters import read_beside

# What is claimed: more; at least as much, but for a margin; that there is no difference; or that something costs every
# part more than nothing, where up to the margin is no effect.
Expected = Literal["more", "kept", "none", "costs"]
Verdict = Literal["holds", "does not hold", "no effect", "differs", "cannot tell"]
# World seeds; 0-2 are those on which settings were chosen.
WORLDS = {"kvqae": (3, 4, 5), "decorrelation": (3, 4, 5), "complexity": (6, 7, 8)}
TRAININGS = (0, 1, 2)  # seeds of whatever is trained


@dataclass(frozen=True)
class Rows:
    """Two rows of a table that a stage leaves; `{training}` stands for the seed of the training."""

    table: str  # path of the Parquet file in the project
    shared: Mapping[str, str]  # what both sides' rows have, by column
    better: Mapping[str, str]  # what tells one side apart
    other: Mapping[str, str]
    item: str  # column of what is resampled, whose values belong together
    value: str  # column of the measure
    top: int | None = None  # the value is a rank, and the measure whether it is at most this


@dataclass(frozen=True)
class Reading:
    """A reader's scores of facts without a factor (`better`), and of the same facts with it (`other`).

    Where no factor is named: its scores, and those of the sentence that shares most words with the question.
    """

    reader: str
    factor: str | None = None


@dataclass(frozen=True)
class Claim:
    """One thing that README or the page says of the sample world."""

    name: str  # of its evidence
    sentence: str
    measure: str
    expected: Expected  # of the difference
    parts: Mapping[str, Rows | Reading]  # comparisons by name that all must show it; most claims have one
    margin: float = 0.05  # in the measure's unit, up to which a difference is none


READERS = {"camembert": "CamemBERT", "camembert_deep": "CamemBERT, deeper"}  # of complexity's claims, with their labels


def _make_claim(entry: Mapping[str, Any]) -> Claim:
    """A claim as `claims.yaml` has it: about rows of a table, or about every reader."""
    fields: dict[str, Any] = {"expected": "more", **entry}
    rows, factor = fields.pop("rows", None), fields.pop("factor", None)
    return Claim(parts={"": Rows(**rows)} if rows else {name: Reading(name, factor) for name in READERS}, **fields)


_ENTRIES = read_beside(__file__, "claims.yaml")
CLAIMS: Mapping[str, tuple[Claim, ...]] = {name: tuple(map(_make_claim, _ENTRIES[name])) for name in WORLDS}
