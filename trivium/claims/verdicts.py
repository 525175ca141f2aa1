"""The claims of `claims.yaml`, the values behind them, and whether they hold: in each world, and in all.

A claim says what is compared with what, by which measure, and what the difference is; its values are one table a world
and training.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.parameters import read_beside
from trivium.core.tables import read_table
from trivium.formats.facts import sides
from trivium.measures.bootstrap import ContrastMean, Difference, Sides, mean_contrast, over_trainings

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

SIDES = ("better", "better_count", "other", "other_count")
SCHEMA = pa.schema(
    [("claim", pa.string()), ("part", pa.string()), ("item", pa.string()), *((side, pa.float64()) for side in SIDES)]
)
CONTRASTS = "data/complexity/contrasts/{reader}/seed-{training}.parquet"


def gather(folder: Path, pipeline: str, training: int) -> pa.Table:
    """The evidence of every claim of a pipeline, of `SCHEMA`, from one run of it in a folder, of this training's seed.

    Raises:
        BadInput: a row of a table is not there, holds no number, or the two sides have other items.
    """
    parts = []
    for claim in CLAIMS[pipeline]:
        for part, source in claim.parts.items():
            of_source: Callable[..., list[NDArray]] = _of_rows if isinstance(source, Rows) else _of_reader
            items, *values = of_source(folder, source, training)
            same = [pa.array([text] * len(items)) for text in (claim.name, part)]
            parts.append(pa.table([*same, items, *values], schema=SCHEMA))
    return pa.concat_tables(parts)


def _of_rows(folder: Path, source: Rows, training: int) -> list[NDArray]:
    """Items, and of each side the sum of their values and how many they are."""
    file = folder / source.table
    (names, *better), (others, *other) = (_sums(file, source, training, side) for side in (source.better, source.other))
    if not np.array_equal(names, others) or not np.array_equal(better[1], other[1]):
        raise BadInput("the two sides have other items", file=file, got=source.better, expected=str(source.other))
    return [names, *better, *other]


def _sums(file: Path, source: Rows, training: int, side: Mapping[str, str]) -> list[NDArray]:
    fields = {name: text.format(training=training) for name, text in {**source.shared, **side}.items()}
    table = read_table(file, [*fields, source.item, source.value])
    for name, text in fields.items():
        table = table.filter(pc.equal(pc.cast(table[name], pa.string()), text))
    values = np.array(table[source.value].to_numpy(), dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise BadInput("no such row, or a value that is no number", file=file, field=source.value, got=fields)
    if source.top is not None:
        values = (values <= source.top).astype(np.float64)
    names, member = np.unique(pc.cast(table[source.item], pa.string()).to_numpy(), return_inverse=True)
    return [names, np.bincount(member, weights=values), np.bincount(member).astype(np.float64)]


def _of_reader(folder: Path, source: Reading, training: int) -> list[NDArray]:
    """Facts; with a factor their scores without it and with it, else the sums over their versions of both scores."""
    table = read_table(folder / CONTRASTS.format(reader=source.reader, training=training))
    if source.factor is not None:
        facts, without, present = sides(table, source.factor)
        ones = np.ones(len(facts))
        return [np.array(facts), without, ones, present, ones]
    names, member = np.unique(np.array(table["fact"].to_pylist()), return_inverse=True)
    counts = np.bincount(member).astype(np.float64)
    ours, theirs = (np.bincount(member, weights=table[column].to_numpy()) for column in ("score", "baseline"))
    return [names, ours, counts, theirs, counts]


def read_evidence(folder: Path, pipeline: str) -> dict[int, list[pa.Table]]:
    """{world: evidence of its trainings, in their order} that `make thorough` kept for a pipeline."""
    files = {
        world: [path for training in TRAININGS if (path := folder / pipeline / f"{world}-{training}.parquet").exists()]
        for world in WORLDS[pipeline]
    }
    return {world: [read_table(path, SCHEMA.names) for path in paths] for world, paths in files.items() if paths}


def stack_trainings(tables: Sequence[pa.Table], claim: str, part: str) -> Sides:
    """The evidence of one part of a claim over trainings of one world; `BadInput` where these have other items."""
    rows = [
        table.filter(pc.and_(pc.equal(table["claim"], claim), pc.equal(table["part"], part))).sort_by("item")
        for table in tables
    ]
    if any(not of["item"].equals(rows[0]["item"]) for of in rows):
        raise BadInput("the trainings of one world were not asked the same", got=claim, expected="the same items")
    return Sides(*(np.stack([of[side].to_numpy() for of in rows]) for side in SIDES))


@dataclass(frozen=True)
class InWorld:
    """The verdict on a claim in one world; `difference` is that of its part with the weakest evidence."""

    world: int  # its seed
    trainings: int  # how many were compared
    difference: Difference  # of a cost δ, which is below 0 where the factor costs
    verdict: Verdict


@dataclass(frozen=True)
class Judged:
    """The verdict on a claim over all worlds: it holds if it does in each, and each world has all of its trainings."""

    claim: Claim
    worlds: tuple[InWorld, ...]
    verdict: Verdict
    complete: bool  # every world has all of its trainings
    readers: Mapping[str, ContrastMean] = field(default_factory=dict)  # of a cost: δ over all worlds and trainings


def verdict(claim: Claim, difference: Difference) -> Verdict:
    """What an interval says of a claim.

    More: it holds where the interval lies above 0, and does not where it lies below. A cost: the other way round, and
    there is no effect where the interval lies above minus the margin. Kept: with minus the margin in the place of 0.
    None: it does not hold where the interval leaves out 0, and holds where it is within the margin.
    """
    if claim.expected == "none":
        if difference.low > 0 or difference.high < 0:
            return "does not hold"
        return "holds" if max(-difference.low, difference.high) < claim.margin else "cannot tell"
    if claim.expected == "costs":
        if difference.high < 0:
            return "holds"
        if -claim.margin < difference.low < 0 <= difference.high:
            return "no effect"
        return "does not hold" if difference.low > 0 else "cannot tell"
    least = -claim.margin if claim.expected == "kept" else 0.0
    if difference.low > least:
        return "holds"
    return "does not hold" if difference.high < least else "cannot tell"


def judge(pipeline: str, evidence: Mapping[int, Sequence[pa.Table]]) -> Iterator[Judged]:
    """Judge every claim of a pipeline by the tables that `gather` gave, by world; worlds without any are left out."""
    for claim in CLAIMS[pipeline]:
        worlds = tuple(_in_world(claim, world, tables) for world, tables in sorted(evidence.items()) if tables)
        complete = {one.world: one.trainings for one in worlds} == dict.fromkeys(WORLDS[pipeline], len(TRAININGS))
        if claim.expected == "costs" and worlds:
            kept = [tables for tables in evidence.values() if tables]
            sides = {part: [_sides(claim, part, tables) for tables in kept] for part in claim.parts}
            contrasts = {part: [(of.better - of.other).T for of in worlds] for part, worlds in sides.items()}
            overall = judge_cost(contrasts, claim.margin) if complete else "cannot tell"
            yield Judged(claim, worlds, overall, complete, {part: mean_contrast(of) for part, of in contrasts.items()})
        else:
            unknown: list[Verdict] = [] if complete else ["cannot tell"]
            yield Judged(claim, worlds, _together([one.verdict for one in worlds] + unknown), complete)


def judge_cost(contrasts: Mapping[str, Sequence[NDArray[np.float64]]], margin: float) -> Verdict:
    """One verdict on what a factor costs readers, over all worlds and trainings together.

    It holds where each reader's interval of δ lies below 0, does not where each lies above, and there is no effect
    where each lies above minus the margin; but no world's own interval may say the opposite. Readers differ where one's
    interval lies below 0, another's above minus the margin, and that of their difference leaves out 0.

    Args:
        contrasts: of each reader, by world (facts, trainings): δ, the score with the factor less that without it.
        margin: up to which a cost is none.
    """
    intervals = {reader: mean_contrast(worlds).interval() for reader, worlds in contrasts.items()}
    own = [mean_contrast([world]).interval() for worlds in contrasts.values() for world in worlds]
    if all(high < 0 for _, high in intervals.values()) and all(low < 0 for low, _ in own):
        return "holds"
    if all(low > 0 for low, _ in intervals.values()) and all(high > 0 for _, high in own):
        return "does not hold"
    if all(low > -margin for low, _ in intervals.values()) and all(high > -margin for _, high in own):
        return "no effect"
    for more, (_, high) in intervals.items():
        for less, (low, _) in intervals.items():
            if high < 0 and low > -margin:
                apart = [one - other for one, other in zip(contrasts[more], contrasts[less], strict=True)]
                if mean_contrast(apart).interval()[1] < 0:
                    return "differs"
    return "cannot tell"


def _sides(claim: Claim, part: str, tables: Sequence[pa.Table]) -> Sides:
    """The evidence of one part over trainings; of a cost the sides change places, so that their difference is δ."""
    sides = stack_trainings(tables, claim.name, part)
    if claim.expected != "costs":
        return sides
    return Sides(sides.other, sides.other_count, sides.better, sides.better_count)


def _in_world(claim: Claim, world: int, tables: Sequence[pa.Table]) -> InWorld:
    parts = [over_trainings(_sides(claim, part, tables), permutations=10_000) for part in claim.parts]
    overall = _together([verdict(claim, part) for part in parts])
    weakest = (max if claim.expected == "costs" else min)(parts, key=lambda part: part.value)
    return InWorld(world, len(tables), weakest, overall)


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict that all share; `does not hold` where any is that, else `cannot tell`."""
    if "does not hold" in verdicts:
        return "does not hold"
    return verdicts[0] if len(set(verdicts)) == 1 else "cannot tell"
