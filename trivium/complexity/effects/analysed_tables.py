"""The tables that the analysis reads: which examples each factor calls hard, and all models' scores (complexity.md §4).

Stage `complexity-factors` writes the one, `complexity-score` the other.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_schema, read_table
from trivium.measures.effects import NEITHER, NO, YES

_NAMES = b"names"  # of the file's metadata
_LABELS = ("id", "text_id", "frame", "answer_element")


def schema(names: Mapping[str, str], columns: Mapping[str, pa.DataType] | None = None) -> pa.Schema:
    """Of a table of factors, with what each says in the file's metadata, where its readers find which there are.

    Args:
        names: what each factor says, in the order of their columns.
        columns: types of the columns behind them.
    """
    fields = [(name, pa.string()) for name in _LABELS] + [(name, pa.bool_()) for name in names]
    return pa.schema([*fields, *(columns or {}).items()]).with_metadata({_NAMES: json.dumps(names)})


def read_names(path: Path) -> dict[str, str]:
    """What each factor of a table says, in the order of their columns.

    Raises:
        BadInput: the file does not tell.
    """
    names: dict[str, str] = json.loads((read_schema(path).metadata or {}).get(_NAMES, b"{}"))
    if not names:
        raise BadInput("no names of the factors", file=path, expected="a file of stage complexity-factors")
    return names


@dataclass(frozen=True)
class FactorTable:
    """Examples in their order; `factors` is (names, examples) of 1 (yes), 0 (no), -1 (neither)."""

    ids: tuple[str, ...]
    texts: NDArray[np.str_]
    frames: NDArray[np.str_]
    elements: NDArray[np.str_]
    names: tuple[str, ...]
    factors: NDArray[np.int8]

    def column(self, name: str) -> int:
        """Where a factor's row is in `factors`."""
        return self.names.index(name)

    def with_factor(self, name: str, codes: NDArray[np.int8]) -> "FactorTable":
        """The same table with one factor in place of another."""
        factors = self.factors.copy()
        factors[self.column(name)] = codes
        return replace(self, factors=factors)


def coded(values: list[bool | None]) -> NDArray[np.int8]:
    """Yes, no and null as 1, 0, -1."""
    return np.array([NEITHER if value is None else YES if value else NO for value in values], dtype=np.int8)


def read_factors(path: Path) -> FactorTable:
    """Read the output of stage complexity-factors.

    Raises:
        BadInput: the file does not tell its factors, columns are missing, an id, text, frame or element is null, an id
            stands twice, or there is no row.
    """
    names = tuple(read_names(path))
    columns: Mapping[str, list] = read_table(path, [*_LABELS, *names]).to_pydict()
    for name in _LABELS:
        if None in columns[name]:
            raise BadInput("null", file=path, row=columns[name].index(None) + 1, field=name, expected="a text")
    ids = columns["id"]
    if not ids:
        raise BadInput("no examples", file=path)
    if len(set(ids)) < len(ids):
        row = next(row for row, value in enumerate(ids) if value in ids[:row])
        raise BadInput("example twice", file=path, row=row + 1, field="id", got=ids[row])
    texts, frames, elements = (np.array(columns[name], dtype=np.str_) for name in _LABELS[1:])
    codes = np.stack([coded(columns[name]) for name in names])
    return FactorTable(tuple(ids), texts, frames, elements, names, codes)


Measure = Literal["rouge_l", "rouge_l_paper", "em", "f1"]
BASELINE = "baseline"  # the kind of rows that are not models


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models that were trained once or, with other seeds, several times.

    Attributes:
        models: their names.
        trainings: (trainings, examples) each one's own.
        of_model: (trainings,) the model's place in `models`.
        baselines: names of the rows that were left out.
    """

    models: tuple[str, ...]
    trainings: NDArray[np.float64]
    of_model: NDArray[np.intp]
    baselines: tuple[str, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        """(models, examples) mean over a model's trainings."""
        return model_means(self.trainings, self.of_model)


def model_means(trainings: NDArray[np.float64], of_model: NDArray[np.intp]) -> NDArray[np.float64]:
    """(models, examples) of (trainings, examples), each training of the model with that number."""
    return np.stack([trainings[of_model == number].mean(axis=0) for number in range(of_model.max() + 1)])


def read_scores(path: Path, ids: Sequence[str], measure: Measure) -> ScoreTable:
    """Read the output of stage complexity-score; the trivial baselines are left out.

    Raises:
        BadInput: columns are missing, a score is null, not a number or outside [0, 1], an example stands twice for
            one model and seed, is unknown, or lacks a score; or there is no model.
    """
    columns = read_table(path, ["id", "model", "kind", "seed", measure]).to_pydict()
    place = {name: number for number, name in enumerate(ids)}
    found: dict[str, dict[int, NDArray[np.float64]]] = defaultdict(dict)
    baselines: dict[str, None] = {}
    for row, (name, model, kind, seed, value) in enumerate(zip(*columns.values(), strict=True), 1):
        if kind == BASELINE:
            baselines[model] = None
            continue
        if name not in place:
            raise BadInput("score of an unknown example", file=path, row=row, field="id", got=name)
        if value is None or not 0 <= value <= 1:
            raise BadInput("not a score", file=path, row=row, field=measure, got=value, expected="0 to 1")
        scores = found[model].setdefault(seed, np.full(len(ids), np.nan))
        if not np.isnan(scores[place[name]]):
            raise BadInput(f"example twice for model {model!r} and seed {seed}", file=path, row=row, got=name)
        scores[place[name]] = value
    if not found:
        raise BadInput("no model's scores", file=path, expected="rows of a kind other than 'baseline'")
    for model, seeds in found.items():
        for seed, scores in seeds.items():
            if np.isnan(scores).any():
                raise BadInput(
                    f"model {model!r}, seed {seed}: examples without a score",
                    file=path,
                    got=int(np.isnan(scores).sum()),
                    expected=f"all {len(ids)}, such as {ids[int(np.isnan(scores).argmax())]!r}",
                )
    trainings = np.stack([scores for seeds in found.values() for scores in seeds.values()])
    of_model = np.repeat(np.arange(len(found)), [len(seeds) for seeds in found.values()])
    return ScoreTable(tuple(found), trainings, of_model, tuple(baselines))
