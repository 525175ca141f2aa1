"""Evidence with known differences, as `gather` gives it."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from trivium.claims.verdicts import CLAIMS, SCHEMA, TRAININGS, WORLDS
from trivium.core.tables import write_json, write_table

ITEMS = 40
ABOUT = {"commit": "0123456789abcdef", "date": "2026-01-02", "minutes": 3.0, "code": {}, "parameters": {}}


def evidence(pipeline: str, differences: Mapping[str, float] | None = None, usual: float = 0.5) -> pa.Table:
    """A table in which the better side has the difference of its claim (or the usual one), the same in every item."""
    rows = [
        (claim.name, part, f"item {item}", 1 + (differences or {}).get(claim.name, usual), 1.0, 1.0, 1.0)
        for claim in CLAIMS[pipeline]
        for part in claim.parts
        for item in range(ITEMS)
    ]
    return pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)


def keep(folder: Path, pipeline: str, table: pa.Table, worlds=None, trainings=TRAININGS) -> None:
    """Put one table in the place of every run's results."""
    for world in worlds or WORLDS[pipeline]:
        for training in trainings:
            (folder / pipeline).mkdir(parents=True, exist_ok=True)
            write_table(folder / pipeline / f"{world}-{training}.parquet", table)
            write_json(folder / pipeline / f"{world}-{training}.json", ABOUT)
