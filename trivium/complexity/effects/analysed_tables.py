"""The tables that the analysis reads: which examples each factor calls hard, and all models' scores (complexity.md §4).

Stage `complexity-factors` writes the one, `complexity-score` the other.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.tables import read_schema, read_table
from trivium.measures.effects import NEITHER, NO, YES

_NAMES, _OTHERS = b"names", b"others"  # of the file's metadata
_LABELS = ("id", "text_id", "frame", "answer_element")


def schema(
    names: Mapping[str, str], columns: Mapping[str, pa.DataType] | None = None, others: Mapping[str, str] | None = None
) -> pa.Schema:
    """The schema of a table of factors, with what each says, in their order; the file's metadata hold it.

    Further columns are given by their types; `others` is what other readings say, whose columns are `<name>_other`.
    """
    fields = [(name, pa.string()) for name in _LABELS] + [(name, pa.bool_()) for name in names]
    metadata = {_NAMES: json.dumps(names)} | ({_OTHERS: json.dumps(others)} if others else {})
    return pa.schema([*fields, *(columns or {}).items()]).with_metadata(metadata)


def read_others(path: Path) -> dict[str, str]:
    """Labels of other readings, by factor, for those that have one."""
    return dict(json.loads(read_schema(path).metadata.get(_OTHERS, b"{}")))


def read_names(path: Path) -> dict[str, str]:
    """Labels of a table's factors, by name, in the order of their columns."""
    return dict(json.loads(read_schema(path).metadata[_NAMES]))


@dataclass(frozen=True)
class FactorTable:
    """Examples in their order; `factors` is (names, examples) of 1 (yes), 0 (no), -1 (neither)."""

    ids: tuple[str, ...]
    texts: NDArray[np.str_]
    frames: NDArray[np.str_]
    elements: NDArray[np.str_]
    names: tuple[str, ...]
    factors: NDArray[np.int8]


def encode_answers(values: list[bool | None]) -> NDArray[np.int8]:
    """Encode yes, no and null as 1, 0, -1."""
    return np.array([NEITHER if value is None else YES if value else NO for value in values], dtype=np.int8)


def read_factors(path: Path) -> FactorTable:
    """Read the output of stage complexity-factors."""
    names = tuple(read_names(path))
    columns: Mapping[str, list] = read_table(path, [*_LABELS, *names]).to_pydict()
    texts, frames, elements = (np.array(columns[name], dtype=np.str_) for name in _LABELS[1:])
    codes = np.stack([encode_answers(columns[name]) for name in names])
    return FactorTable(tuple(columns["id"]), texts, frames, elements, names, codes)


Measure = Literal["rouge_l", "rouge_l_paper", "em", "f1"]
BASELINE = "baseline"  # the kind of rows that are not models


@dataclass(frozen=True)
class ScoreTable:
    """Scores of models that were trained once or, with other seeds, several times."""

    models: tuple[str, ...]
    trainings: NDArray[np.float64]  # (trainings, examples) each one's own
    of_model: NDArray[np.intp]  # (trainings,) the model's place in `models`
    baselines: tuple[str, ...]  # names of the rows that were left out

    @property
    def values(self) -> NDArray[np.float64]:
        """(models, examples) mean over a model's trainings."""
        return model_means(self.trainings, self.of_model)


def model_means(trainings: NDArray[np.float64], of_model: NDArray[np.intp]) -> NDArray[np.float64]:
    """(models, examples) of (trainings, examples), each training of the model with that number."""
    return np.stack([trainings[of_model == number].mean(axis=0) for number in range(of_model.max() + 1)])


def read_scores(path: Path, ids: Sequence[str], measure: Measure) -> ScoreTable:
    """Read the output of stage complexity-score; the trivial baselines are left out."""
    scores, baselines = read_by_training(path, measure)
    trainings = [[values[name] for name in ids] for seeds in scores.values() for values in seeds.values()]
    of_model = np.repeat(np.arange(len(scores)), [len(seeds) for seeds in scores.values()])
    return ScoreTable(tuple(scores), np.array(trainings, dtype=np.float64), of_model, tuple(baselines))


def read_by_training(path: Path, column: str) -> tuple[dict[str, dict[int, dict[str, Any]]], list[str]]:
    """A column of the table of scores by model, seed and question, and the names of the baselines, left out there."""
    columns = read_table(path, ["id", "model", "kind", "seed", column]).to_pydict()
    values: dict[str, dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    baselines: dict[str, None] = {}
    for identifier, model, kind, seed, value in zip(*columns.values(), strict=True):
        if kind == BASELINE:
            baselines[model] = None
        else:
            values[model][seed][identifier] = value
    return values, list(baselines)
