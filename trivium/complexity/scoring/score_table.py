"""Scores of every model on the examples of a factor table, as a matrix."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_table

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
