"""A table of factors drawn at random, and its files, for the stages that analyse scores."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from tests.complexity.paper_factors import FACTORS, labels
from trivium.complexity.effects.analysed_tables import FactorTable, schema
from trivium.core.tables import write_table

ELEMENTS = ("Agent", "Theme", "Place", "Time", "Goal", "Victim")


def factor_table(examples: int = 400, texts: int = 80, frames: int = 24, seed: int = 0) -> FactorTable:
    """Labels without meaning: f0 and f6 constant in a frame, f4 in neither set where f1 holds."""
    rng = np.random.default_rng(seed)
    frame = rng.integers(frames, size=examples)
    f1 = rng.random(examples) < 0.1
    f4 = np.where(f1, -1, rng.random(examples) < 0.3)
    rows = [
        (rng.permutation(frames) < 0.45 * frames)[frame],
        f1,
        rng.random(examples) < 0.37,
        rng.random(examples) < 0.45,
        f4,
        rng.random(examples) < 0.59,
        (rng.permutation(frames) < 0.46 * frames)[frame],
    ]
    return FactorTable(
        ids=tuple(f"q{number}" for number in range(examples)),
        texts=np.array([f"t{number:02d}" for number in np.sort(rng.integers(texts, size=examples))]),
        frames=np.array([f"Frame {number:02d}" for number in frame]),
        elements=np.array(ELEMENTS)[rng.integers(len(ELEMENTS), size=examples)],
        names=FACTORS,
        factors=np.stack(rows).astype(np.int8),
    )


def with_factor(table: FactorTable, name: str, codes: np.ndarray) -> FactorTable:
    """The same table with one factor in place of another."""
    factors = table.factors.copy()
    factors[table.names.index(name)] = codes
    return replace(table, factors=factors)


def write_factors(path: Path, table: FactorTable) -> None:
    """The file that stage complexity-factors would write."""
    rows = [
        {
            "id": name,
            "text_id": str(table.texts[at]),
            "frame": str(table.frames[at]),
            "answer_element": str(table.elements[at]),
            **{f: None if c < 0 else bool(c) for f, c in zip(table.names, table.factors[:, at].tolist(), strict=True)},
        }
        for at, name in enumerate(table.ids)
    ]
    write_table(
        path, pa.Table.from_pylist(rows, schema=schema({name: labels().get(name, name) for name in table.names}))
    )


def write_scores(path: Path, ids: tuple[str, ...], scores: dict[tuple[str, str, int], np.ndarray]) -> None:
    """The file that stage complexity-score would write, from scores by (model, kind, seed)."""
    columns = {
        "id": [name for _ in scores for name in ids],
        "model": [model for model, _, _ in scores for _ in ids],
        "kind": [kind for _, kind, _ in scores for _ in ids],
        "seed": [seed for _, _, seed in scores for _ in ids],
        "rouge_l": [float(value) for values in scores.values() for value in values],
    }
    write_table(path, pa.table(columns))
