"""Table 2, the whole analysis of a table of scores: which factors make which models worse (complexity.md §5).

The paper's: δ and Mann-Whitney. Beyond it: Holm's correction over the table, bootstrap intervals of whole texts (and
trainings), frames as the units, all factors in one regression. A single verdict, `found`, asks for all of them. For
factors of any kind and questions without frames, `effect_rows` gives the same but for what needs frames.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, compress
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from trivium.complexity.effects.analysed_tables import FactorTable, model_means
from trivium.complexity.effects.regression import joint_regression
from trivium.core.parameters import Parameters
from trivium.core.tables import write_csv
from trivium.measures.agreement import HardnessAgreement
from trivium.measures.bootstrap import OPTIONS, cluster_bootstrap
from trivium.measures.effects import (
    NEITHER,
    NO,
    YES,
    below_zero,
    floor_points,
    frame_level,
    mann_whitney,
    mean_differences,
)
from trivium.measures.significance import holm

Effects = dict[str, NDArray]
"""(models, factors) by name of a column of `effects_table`; NaN where a set is empty or an analysis cannot tell.

`yes`, `no` are the sizes of E_f and Ē_f; `delta` (points, `delta_floor` as the paper prints it); `p`, `p_holm`
Mann-Whitney's, two-sided, and corrected over all cells; `low`, `high` the bootstrap interval of δ, clustered by text,
and over a model's trainings where it has several; `p_frame` with frames as the units, by a `frame_test` of so many
`frames`; `joint` and `joint_…` of the regression. `p_all` is the largest p of Mann-Whitney, frames as units, and
regression with errors clustered by text and by frame: it is valid wherever one of them is, and they fail for different
reasons (texts, frames, confounded factors). Verdicts: `validated` (δ < 0 by more than rounding errors, before the
floor), `significant` and `holm_significant` (and p, p_holm at most the risk), `found` (every analysis says that the
factor makes the model worse) and `found_holm` (also after correction over the table).
"""


class AnalysisParameters(Parameters):
    """What an analysis of effects asks of its tests and intervals.

    A factor with a smaller set keeps its δ, but is left out of all tests, corrections and regressions (two examples
    among 300 gave p = 1e-17).
    """

    risk: float = Field(gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction")
    smallest_set: int = Field(ge=1, description="Fewest questions in either set of a factor that is tested")
    confidence: float = Field(gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of texts, or other clusters, and of trainings")
    seed: int = Field(default=0, ge=0, description="Of the bootstrap")


def analyse(
    trainings: NDArray[np.float64],
    table: FactorTable,
    parameters: AnalysisParameters,
    of_model: NDArray[np.intp],
) -> Effects:
    """Analyse every model and factor.

    A model's δ, its tests and its regression are of its mean scores over its trainings.

    Args:
        trainings: (trainings, examples) scores in [0, 1], in the order of the table.
        of_model: (trainings,) each one's model, numbers from 0.
    """
    factors, scores = table.factors, model_means(trainings, of_model)
    risk, tested = parameters.risk, np.flatnonzero(large_enough(factors, parameters.smallest_set))
    delta = mean_differences(scores, factors)
    # Numbers sort many times faster than names.
    texts, frames, elements = (
        np.unique(names, return_inverse=True)[1] for names in (table.texts, table.frames, table.elements)
    )
    levels = [frame_level(scores, codes, frames) for codes in factors]

    def spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
        every = np.full_like(delta, np.nan)
        every[:, tested] = values
        return every

    p, p_frame = np.full_like(delta, np.nan), np.full_like(delta, np.nan)
    for column in tested:
        counted = factors[column] >= 0
        p[:, column] = mann_whitney(scores[:, counted], factors[column][counted] == YES)
        p_frame[:, column] = levels[column].p
    kept = factors[tested]
    low, high = cluster_bootstrap(trainings, kept, texts, of_model=of_model, **parameters.model_dump(include=OPTIONS))
    low, high = spread(low), spread(high)
    among = joint_regression(scores, kept, elements, texts, frames, confidence=parameters.confidence)
    joint = {f"joint_{name}": spread(values) for name, values in among._asdict().items()}
    coefficient = joint.pop("joint_coefficient")
    p_holm, validated = holm(p), below_zero(delta)
    p_all = np.max([p, p_frame, joint["joint_p"], joint["joint_p_frame"]], axis=0)
    p_all_holm = holm(p_all)
    by_all = validated & (high < 0) & (coefficient < 0) & (p_all <= risk)
    columns: Effects = {
        "yes": (factors == YES).sum(axis=1), "no": (factors == NO).sum(axis=1),
        "delta": delta, "delta_floor": floor_points(delta),
        "p": p, "p_holm": p_holm, "low": low, "high": high, "p_frame": p_frame,
        "frame_test": np.array([level.kind for level in levels]),
        "frames": np.array([level.frames for level in levels], dtype=np.int64), "validated": validated,
        "significant": validated & (p <= risk), "holm_significant": validated & (p_holm <= risk),
        "joint": coefficient, **joint, "p_all": p_all, "p_all_holm": p_all_holm,
        "found": by_all, "found_holm": by_all & (p_all_holm <= risk),
    }  # fmt: skip
    return {name: np.broadcast_to(values, delta.shape) for name, values in columns.items()}  # some are of a factor


def large_enough(factors: NDArray[np.int8], smallest_set: int) -> NDArray[np.bool_]:
    """(factors,) whether E_f and Ē_f both have at least so many examples, of (factors, examples) codes."""
    return np.minimum((factors == YES).sum(axis=1), (factors == NO).sum(axis=1)) >= smallest_set


AGREEMENT_COLUMNS = ("model", "other", "spearman", "kendall", "hardest_overlap", "hardest_kappa")


def effects_table(effects: Effects, models: Sequence[str], factors: Sequence[str]) -> pa.Table:
    """One row a model and factor; null where an analysis cannot tell."""
    cells = {"model": [model for model in models for _ in factors], "factor": [*factors] * len(models)}
    columns = {name: pa.array(matrix.ravel(), from_pandas=True) for name, matrix in effects.items()}  # NaN: null
    return pa.table(cells | columns)


def write_agreement(path: Path, models: Sequence[str], agreement: HardnessAgreement) -> None:
    """One CSV line a pair of models; empty where a model's scores are all equal."""
    matrices = (agreement.spearman, agreement.kendall, agreement.overlap, agreement.kappa)
    rows = (
        [models[a], models[b], *(None if np.isnan(matrix[a, b]) else float(matrix[a, b]) for matrix in matrices)]
        for a, b in combinations(range(len(models)), 2)
    )
    write_csv(path, AGREEMENT_COLUMNS, rows)


_VERDICTS = ("validated", "significant", "holm_significant")
COLUMNS = ("model", "factor", "yes", "no", "delta", "delta_floor", "low", "high", "p", "p_holm",
           "joint", "joint_low", "joint_high", "joint_p", *_VERDICTS)  # fmt: skip
Row = dict[str, str | float | bool | None]


def effect_rows(
    scores: Mapping[str, NDArray[np.float64]],
    factors: Mapping[str, NDArray[np.int8]],
    clusters: ArrayLike,
    parameters: AnalysisParameters,
) -> list[Row]:
    """One row of COLUMNS a model and factor; None where a set is too small or the regression cannot tell factors apart.

    Holm's correction is over all cells of the table. Without frames there is no test with frames as the units, and
    the regression has no dummies for answer elements.

    Args:
        scores: by model, (questions,) or (trainings, questions) in [0, 1]. Of several trainings δ is that of their mean
            scores, and the interval draws trainings, too.
        factors: by name, (questions,) of 1 (yes, expected harder), 0 (no), -1 (neither).
        clusters: (questions,) name or number of the text that each question is about.
    """
    texts = np.asarray(clusters)
    alike = np.full(len(texts), "")
    tested: dict[tuple[str, str], Row] = {}
    trainings = [np.atleast_2d(of) for of in scores.values()]
    of_model = np.repeat(np.arange(len(trainings)), [len(of) for of in trainings])
    large = large_enough(np.stack(list(factors.values())), parameters.smallest_set)
    if kept := list(compress(factors, large)):  # alone: a matrix product with more columns rounds δ otherwise
        table = FactorTable((), texts, alike, alike, tuple(kept), np.stack([factors[f] for f in kept]))
        effects = analyse(np.concatenate(trainings), table, parameters, of_model)
        rows = effects_table(effects, list(scores), kept).select(COLUMNS).to_pylist()
        tested = {(row["model"], row["factor"]): row for row in rows}
    nothing: Row = dict.fromkeys(COLUMNS) | dict.fromkeys(_VERDICTS, False)
    sizes = {name: {"yes": int((code == YES).sum()), "no": int((code == NO).sum())} for name, code in factors.items()}
    return [
        tested.get((model, name), nothing | {"model": model, "factor": name} | sizes[name])
        for model in scores
        for name in factors
    ]


def effect_metrics(rows: Sequence[Row]) -> dict[str, float]:
    """`{model}_{factor}_delta_points` and `…_p_holm`, where they are defined, and how many cells are significant."""
    metrics = {
        f"{row['model']}_{row['factor']}_{key}": float(value)
        for row in rows
        for name, key in (("delta", "delta_points"), ("p_holm", "p_holm"))
        if (value := row[name]) is not None
    }
    counts = {name: float(sum(bool(row[name]) for row in rows)) for name in _VERDICTS}
    return metrics | counts | {"cells": float(len(rows))}


def shares(codes: Mapping[str, NDArray[np.int8]], cuts: Mapping[str, float]) -> dict[str, float]:
    """Each factor's share of yes, number of questions in neither set, and cut."""
    metrics = {f"{name}_share": float((code == YES).mean()) for name, code in codes.items()}
    metrics |= {f"{name}_uncounted": float((code == NEITHER).sum()) for name, code in codes.items()}
    return metrics | {f"{name}_cut": cut for name, cut in cuts.items()}
