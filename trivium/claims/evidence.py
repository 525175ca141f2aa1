"""The values behind the claims, by item: read from what stages leave, kept as one table a world and training."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.claims.registry import CLAIMS, TRAININGS, WORLDS, Cost, Rows
from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.measures.trainings import Sides

SIDES = ("better", "better_count", "other", "other_count")
SCHEMA = pa.schema(
    [("claim", pa.string()), ("part", pa.string()), ("item", pa.string()), *((side, pa.float64()) for side in SIDES)]
)
SCORES, FACTORS = Path("data/complexity/scores.parquet"), Path("data/complexity/factors.parquet")
Sums = tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.float64]]  # of each item: its name, a sum, how many


def gather(folder: Path, pipeline: str, training: int) -> pa.Table:
    """The evidence of every claim of a pipeline from one run of it, of `SCHEMA`.

    Args:
        folder: of the project in which it ran.
        pipeline: its name.
        training: seed of its trainings.

    Raises:
        BadInput: a table or a row of it is not there, holds no number, or the two sides have other items.
    """
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for claim in CLAIMS[pipeline]:
        for part, source in claim.parts.items():
            items, sides = _of_rows(folder, source, training) if isinstance(source, Rows) else _of_factor(
                folder, source, training
            )  # fmt: skip
            columns["claim"] += [claim.name] * len(items)
            columns["part"] += [part] * len(items)
            columns["item"] += items.tolist()
            for name, values in zip(SIDES, sides, strict=True):
                columns[name] += values.tolist()
    return pa.table(columns, schema=SCHEMA)


def _of_rows(folder: Path, source: Rows, training: int) -> tuple[NDArray[np.str_], tuple[NDArray[np.float64], ...]]:
    better, other = (
        _sums(folder / source.table, source, {name: text.format(training=training) for name, text in side.items()})
        for side in (source.better, source.other)
    )
    if not np.array_equal(better[0], other[0]) or not np.array_equal(better[2], other[2]):
        raise BadInput(
            "the two sides have other items",
            file=folder / source.table,
            got=f"{better[2].sum():.0f} and {other[2].sum():.0f} values",
            expected="the same of both",
        )
    return better[0], (better[1], better[2], other[1], other[2])


def _sums(file: Path, source: Rows, side: Mapping[str, str]) -> Sums:
    wanted = {**source.where, **side}
    table = read_table(file, [*wanted, source.item, source.value])
    chosen = np.ones(len(table), dtype=np.bool_)
    for name, value in wanted.items():
        column = np.array([str(each) for each in table[name].to_pylist()])
        if not (column == value).any():
            raise BadInput("no such row", file=file, field=name, got=value, choices=sorted(set(column.tolist())))
        chosen &= column == value
    values = np.array(table[source.value].to_numpy(zero_copy_only=False)[chosen], dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise BadInput("no value, or none that is a number", file=file, field=source.value, got=str(wanted))
    if source.top is not None:
        values = (values <= source.top).astype(np.float64)
    items = np.array([str(item) for item, of in zip(table[source.item].to_pylist(), chosen, strict=True) if of])
    names, member = np.unique(items, return_inverse=True)
    sums, counts = np.bincount(member, weights=values), np.bincount(member)
    return names, sums.astype(np.float64), counts.astype(np.float64)


def _of_factor(folder: Path, source: Cost, training: int) -> tuple[NDArray[np.str_], tuple[NDArray[np.float64], ...]]:
    """Texts, and the sums of scores of their questions without the factor and with it."""
    scores = read_table(folder / SCORES, ["id", "model", "seed", "rouge_l"]).to_pydict()
    score_of = {
        id_: score
        for id_, model, seed, score in zip(*scores.values(), strict=True)
        if (model, seed) == (source.model, training)
    }
    if not score_of:
        choices = sorted(set(zip(scores["model"], scores["seed"], strict=True)))
        raise BadInput("no scores", file=folder / SCORES, got=(source.model, training), choices=choices)
    codes = read_table(folder / FACTORS, ["id", "text_id", source.factor]).to_pydict()
    counted = [row for row in zip(*codes.values(), strict=True) if row[2] is not None]
    names, member = np.unique(np.array([text for _, text, _ in counted]), return_inverse=True)
    values = np.array([score_of[id_] for id_, _, _ in counted])
    present = np.array([yes for _, _, yes in counted], dtype=np.bool_)
    sums: list[NDArray[np.float64]] = []
    for side in (~present, present):
        sums += [
            np.bincount(member[side], weights=weights[side], minlength=len(names)).astype(np.float64)
            for weights in (values, np.ones(len(values)))
        ]
    return names, tuple(sums)


def kept(folder: Path, pipeline: str) -> dict[int, list[pa.Table]]:
    """What `make thorough` kept of a pipeline: by world, the evidence of its trainings in their order.

    Args:
        folder: of its results, with a file `{pipeline}/{world}-{training}.parquet` each.
        pipeline: its name.
    """
    found: dict[int, list[pa.Table]] = {}
    for world in WORLDS:
        files = [folder / pipeline / f"{world}-{training}.parquet" for training in TRAININGS]
        if tables := [read_table(file, SCHEMA.names) for file in files if file.exists()]:
            found[world] = tables
    return found


def stacked(tables: Sequence[pa.Table], claim: str, part: str) -> Sides:
    """The evidence of one part of a claim over trainings of one world.

    Args:
        tables: of each training, as `gather` gives them.
        claim, part: names.

    Raises:
        BadInput: the trainings have other items.
    """
    found = [_part(table, claim, part) for table in tables]
    if any(not np.array_equal(items, found[0][0]) for items, _ in found):
        raise BadInput("the trainings of one world were not asked the same", got=claim, expected="the same items")
    return Sides(*(np.stack([values[side] for _, values in found]) for side in range(len(SIDES))))


def _part(table: pa.Table, claim: str, part: str) -> tuple[NDArray[np.str_], list[NDArray[np.float64]]]:
    of = np.array(table["claim"].to_pylist()) == claim
    of &= np.array(table["part"].to_pylist()) == part
    items = np.array(table["item"].to_pylist())[of]
    order = np.argsort(items)
    return items[order], [table[name].to_numpy()[of][order] for name in SIDES]
