"""The paper's validation on factors of any kind: δ, Mann-Whitney, Holm, clustered interval, joint regression (§5)."""

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.effects.analysed_tables import FactorTable
from trivium.complexity.effects.analysis import analyse, effects_table, large_enough
from trivium.measures.effects import NEITHER, NO, YES

_VERDICTS = ("validated", "significant", "holm_significant")
COLUMNS = ("model", "factor", "yes", "no", "delta", "delta_floor", "low", "high", "p", "p_holm",
           "joint", "joint_low", "joint_high", "joint_p", *_VERDICTS)  # fmt: skip
Row = dict[str, str | float | bool | None]


def effect_rows(
    scores: Mapping[str, NDArray[np.float64]],
    factors: Mapping[str, NDArray[np.int8]],
    clusters: Sequence[str],
    *,
    risk: float,
    smallest_set: int,
    resamples: int,
    confidence: float,
    seed: int,
) -> list[Row]:
    """One row of COLUMNS a model and factor; None where a set is too small or the regression cannot tell factors apart.

    Holm's correction is over all cells of the table. Without frames there is no test with frames as the units, and
    the regression has no dummies for answer elements.

    Args:
        scores: by model, (questions,) or (trainings, questions) in [0, 1]. Of several trainings δ is that of their mean
            scores, and the interval draws trainings, too.
        factors: by name, (questions,) of 1 (yes, expected harder), 0 (no), -1 (neither).
        clusters: (questions,) the text that each question is about.
        smallest_set: fewest questions of E_f and of Ē_f for a factor to be analysed; below, it is left out of Holm's
            correction and of the regression, too.
    """
    alike = np.full(len(clusters), "")
    tested: dict[tuple[str, str], Row] = {}
    trainings = [np.atleast_2d(of) for of in scores.values()]
    of_model = np.repeat(np.arange(len(trainings)), [len(of) for of in trainings])
    large = large_enough(np.stack(list(factors.values())), smallest_set)
    if kept := list(compress(factors, large)):  # alone: a matrix product with more columns rounds δ otherwise
        table = FactorTable((), np.asarray(clusters), alike, alike, tuple(kept), np.stack([factors[f] for f in kept]))
        effects = analyse(np.concatenate(trainings), table, risk=risk, smallest_set=smallest_set, resamples=resamples,
                          confidence=confidence, seed=seed, of_model=of_model)  # fmt: skip
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
