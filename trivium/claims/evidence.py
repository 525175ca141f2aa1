"""The values behind the claims, by item: read from what stages leave, kept as one table a world and training."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS, Reading, Rows
from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.facts import sides
from trivium.measures.trainings import Sides

SIDES = ("better", "better_count", "other", "other_count")
SCHEMA = pa.schema(
    [("claim", pa.string()), ("part", pa.string()), ("item", pa.string()), *((side, pa.float64()) for side in SIDES)]
)
CONTRASTS = "data/complexity/contrasts/{reader}/seed-{training}.parquet"


def gather(folder: Path, pipeline: str, training: int) -> pa.Table:
    """The evidence of every claim of a pipeline from one run of it, of `SCHEMA`.

    Args:
        folder: of the project in which it ran.
        pipeline: its name.
        training: seed of its trainings.

    Raises:
        BadInput: a row of a table is not there, holds no number, or the two sides have other items.
    """
    parts = []
    for claim in CLAIMS[pipeline]:
        for part, source in claim.parts.items():
            if isinstance(source, Rows):
                items, *values = _of_rows(folder, source, training)
            else:
                items, *values = _of_reader(folder, source, training)
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


def kept(folder: Path, pipeline: str) -> dict[int, list[pa.Table]]:
    """{world: evidence of its trainings, in their order} that `make thorough` kept for a pipeline."""
    files = {
        world: [path for training in TRAININGS if (path := folder / pipeline / f"{world}-{training}.parquet").exists()]
        for world in WORLDS[pipeline]
    }
    return {world: [read_table(path, SCHEMA.names) for path in paths] for world, paths in files.items() if paths}


def stacked(tables: Sequence[pa.Table], claim: str, part: str) -> Sides:
    """The evidence of one part of a claim over trainings of one world; `BadInput` where these have other items."""
    rows = [
        table.filter(pc.and_(pc.equal(table["claim"], claim), pc.equal(table["part"], part))).sort_by("item")
        for table in tables
    ]
    if any(not of["item"].equals(rows[0]["item"]) for of in rows):
        raise BadInput("the trainings of one world were not asked the same", got=claim, expected="the same items")
    return Sides(*(np.stack([of[side].to_numpy() for of in rows]) for side in SIDES))
