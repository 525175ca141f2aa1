"""Answers measured and written: per question, per row, and the curve of the sweep (kvqae.md §5–6)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.atomic import write_atomically
from trivium.core.csv_tables import write_csv
from trivium.core.tables import write_table
from trivium.kvqae.reader.reading import Answer
from trivium.kvqae.reader.rows import Selection
from trivium.measures.answers import exact_match, f1

Values = Mapping[str, NDArray[np.float64]]  # em and f1, each (questions,)
CurvePoint = Mapping[str, Any]  # row, passages, em, f1
_INTEGERS = pa.list_(pa.int64())
Seed = int | None  # None: the zero-shot reader, which has but one


def measure(selections: Sequence[Selection], answers: Sequence[Answer]) -> Values:
    """Exact match and F1 of every question, best over its aliases."""
    pairs = [(given.prediction, each.question.answers) for each, given in zip(selections, answers, strict=True)]
    return {
        "em": np.array([float(exact_match(*pair)) for pair in pairs]),
        "f1": np.array([f1(*pair) for pair in pairs]),
    }


def summarize(row: str, by_seed: Sequence[Values]) -> dict[str, float]:
    """`{row}_f1` and `{row}_em`, means over questions and seeds, and `…_sd` over seeds (n − 1) if there are several."""
    metrics = {}
    for name in ("f1", "em"):
        means = [float(values[name].mean()) for values in by_seed]
        metrics[f"{row}_{name}"] = float(np.mean(means))
        if len(means) > 1:
            metrics[f"{row}_{name}_sd"] = float(np.std(means, ddof=1))
    return metrics


def write_answers(
    folder: Path,
    selections: Mapping[str, Sequence[Selection]],
    answers: Mapping[str, Mapping[Seed, Sequence[Answer]]],
    measured: Mapping[str, Mapping[Seed, Values]],
) -> None:
    """`{row}.parquet`: for each seed and question the answer, where it stands, and whether it is right.

    Beside it all passages read, `passages`, and the characters of the best span of each, `starts` and `ends`.
    """
    with write_atomically(folder) as beside:
        beside.mkdir()
        for row, by_seed in answers.items():
            tables = [
                pa.table(
                    {
                        "id": [each.question.id for each in selections[row]],
                        "seed": pa.array([seed] * len(given), pa.int64()),
                        "prediction": [each.prediction for each in given],
                        "score": [each.score for each in given],
                        "passage": [each.passage for each in given],
                        "start": [each.start for each in given],
                        "end": [each.end for each in given],
                        "passages": pa.array([each.passages.tolist() for each in selections[row]], _INTEGERS),
                        "starts": pa.array([[start for start, _ in each.spans] for each in given], _INTEGERS),
                        "ends": pa.array([[end for _, end in each.spans] for each in given], _INTEGERS),
                        **measured[row][seed],
                    }
                )
                for seed, given in by_seed.items()
            ]
            write_table(beside / f"{row}.parquet", pa.concat_tables(tables))


def write_per_query(
    path: Path, selections: Mapping[str, Sequence[Selection]], measured: Mapping[str, Mapping[Seed, Values]]
) -> None:
    """One table of all rows: row, seed, question, em, f1."""
    tables = [
        pa.table(
            {
                "row": [row] * len(selections[row]),
                "seed": pa.array([seed] * len(selections[row]), pa.int64()),
                "question": [each.question.id for each in selections[row]],
                **values,
            }
        )
        for row, by_seed in measured.items()
        for seed, values in by_seed.items()
    ]
    write_table(path, pa.concat_tables(tables))


def write_curve(path: Path, points: Sequence[CurvePoint]) -> None:
    """EM and F1 on validation by row and number of passages, as CSV."""
    write_csv(path, ["row", "passages", "em", "f1"], points)
