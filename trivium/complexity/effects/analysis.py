"""Table 2, the whole analysis of a table of scores: which factors make which models worse (complexity.md §5).

The paper's: δ and Mann-Whitney. Beyond it: Holm's correction over the table, bootstrap intervals of whole texts (and
trainings), frames as the units, all factors in one regression. A single verdict, `found`, asks for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.complexity.effects.analysed_tables import FactorTable, model_means
from trivium.complexity.effects.regression import Joint, joint_regression
from trivium.core.tables import write_csv
from trivium.measures.agreement import HardnessAgreement
from trivium.measures.bootstrap import cluster_bootstrap
from trivium.measures.effects import NO, YES, below_zero, floor_points, mean_differences
from trivium.measures.rank_tests import FrameLevel, frame_level, mann_whitney
from trivium.measures.significance import holm


@dataclass(frozen=True)
class Effects:
    """Matrices are (models, factors); NaN where a set is empty or an analysis cannot tell.

    Attributes:
        yes, no: (factors,) sizes of E_f and Ē_f; what is smaller than `smallest_set` has NaN in every test.
        delta: points, not floored.
        p, p_holm: Mann-Whitney, two-sided, and corrected over all cells of the table.
        low, high: bootstrap interval of δ, clustered by text, and over a model's trainings where it has several.
        p_frame: frames as the units.
        frame_level: kind and number of frames of that test, by factor.
        joint: the regression.
        p_all, p_all_holm: the largest p of Mann-Whitney, frames as units, and regression with errors clustered by text
            and by frame; and corrected over the table. It is valid wherever one of them is, and they fail for
            different reasons: texts, frames, confounded factors.
        risk: the level of the verdicts.
    """

    yes: NDArray[np.int64]
    no: NDArray[np.int64]
    delta: NDArray[np.float64]
    p: NDArray[np.float64]
    p_holm: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p_frame: NDArray[np.float64]
    frame_level: tuple[FrameLevel, ...]
    joint: Joint
    p_all: NDArray[np.float64]
    p_all_holm: NDArray[np.float64]
    risk: float

    @property
    def validated(self) -> NDArray[np.bool_]:
        """δ < 0 before the floor, by more than rounding errors."""
        return below_zero(self.delta)

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Validated, and Mann-Whitney's p at most the risk."""
        return self.validated & (self.p <= self.risk)

    @property
    def holm_significant(self) -> NDArray[np.bool_]:
        """Validated, and the corrected p at most the risk."""
        return self.validated & (self.p_holm <= self.risk)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Every analysis says that the factor makes the model worse."""
        return self.validated & (self.high < 0) & (self.joint.coefficient < 0) & (self.p_all <= self.risk)

    @property
    def found_holm(self) -> NDArray[np.bool_]:
        """Found after correction over the table."""
        return self.found & (self.p_all_holm <= self.risk)


def analyse(
    scores: NDArray[np.float64],
    table: FactorTable,
    *,
    risk: float,
    smallest_set: int,
    resamples: int,
    confidence: float,
    seed: int,
    of_model: NDArray[np.intp] | None = None,
) -> Effects:
    """Analyse every model and factor.

    A model's δ, its tests and its regression are of its mean scores over its trainings.

    Args:
        scores: (trainings, examples) in [0, 1], in the order of the table.
        table: factors, texts, frames and elements of the examples.
        risk: of a false alarm, 0.05 in the paper.
        smallest_set: fewest examples of E_f and of Ē_f; a factor with fewer keeps its δ, is in no test, and in nobody
            else's regression or correction (two examples among 300 gave p = 1e-17).
        resamples, confidence, seed: of the bootstrap.
        of_model: (trainings,) each one's model, numbers from 0; without it each is a model of its own.
    """
    factors, trainings = table.factors, scores
    if of_model is not None:
        scores = model_means(trainings, of_model)
    tested = np.flatnonzero(large_enough(factors, smallest_set))
    delta = mean_differences(scores, factors)
    # Numbers sort many times faster than names.
    texts, frames, elements = (
        np.unique(names, return_inverse=True)[1] for names in (table.texts, table.frames, table.elements)
    )
    levels = tuple(frame_level(scores, codes, frames) for codes in factors)

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
    low, high = cluster_bootstrap(
        trainings, kept, texts, resamples=resamples, confidence=confidence, seed=seed, of_model=of_model
    )
    among = joint_regression(scores, kept, elements, texts, frames, confidence=confidence)
    joint = Joint(*map(spread, (among.coefficient, among.low, among.high, among.p, among.p_frame)))
    p_all = np.max([p, p_frame, joint.p, joint.p_frame], axis=0)
    return Effects(
        yes=(factors == YES).sum(axis=1),
        no=(factors == NO).sum(axis=1),
        delta=delta,
        p=p,
        p_holm=holm(p),
        low=spread(low),
        high=spread(high),
        p_frame=p_frame,
        frame_level=levels,
        joint=joint,
        p_all=p_all,
        p_all_holm=holm(p_all),
        risk=risk,
    )


def large_enough(factors: NDArray[np.int8], smallest_set: int) -> NDArray[np.bool_]:
    """(factors,) whether E_f and Ē_f both have at least so many examples, of (factors, examples) codes."""
    return np.minimum((factors == YES).sum(axis=1), (factors == NO).sum(axis=1)) >= smallest_set


AGREEMENT_COLUMNS = ("model", "other", "spearman", "kendall", "hardest_overlap", "hardest_kappa")


def effects_table(effects: Effects, models: Sequence[str], factors: Sequence[str]) -> pa.Table:
    """One row a model and factor; null where an analysis cannot tell."""
    shape = effects.delta.shape
    per_factor = np.tile(np.arange(shape[1]), shape[0])

    def numbers(values: NDArray[np.float64]) -> pa.Array:
        return pa.array(values.ravel(), from_pandas=True)  # NaN becomes null

    levels = [effects.frame_level[column] for column in per_factor]
    joint = effects.joint
    return pa.table(
        {
            "model": [model for model in models for _ in factors],
            "factor": [*factors] * len(models),
            "yes": effects.yes[per_factor],
            "no": effects.no[per_factor],
            "delta": numbers(effects.delta),
            "delta_floor": numbers(floor_points(effects.delta)),
            **{name: numbers(getattr(effects, name)) for name in ("p", "p_holm", "low", "high", "p_frame")},
            "frame_test": [level.kind for level in levels],
            "frames": pa.array([level.frames for level in levels], pa.int64()),
            **{name: getattr(effects, name).ravel() for name in ("validated", "significant", "holm_significant")},
            "joint": numbers(joint.coefficient),
            **{f"joint_{name}": numbers(getattr(joint, name)) for name in ("low", "high", "p", "p_frame")},
            **{name: numbers(getattr(effects, name)) for name in ("p_all", "p_all_holm")},
            **{name: getattr(effects, name).ravel() for name in ("found", "found_holm")},
        }
    )


def write_agreement(path: Path, models: Sequence[str], agreement: HardnessAgreement) -> None:
    """One CSV line a pair of models; empty where a model's scores are all equal."""
    matrices = (agreement.spearman, agreement.kendall, agreement.overlap, agreement.kappa)
    rows = (
        [models[a], models[b], *(None if np.isnan(matrix[a, b]) else float(matrix[a, b]) for matrix in matrices)]
        for a, b in combinations(range(len(models)), 2)
    )
    write_csv(path, AGREEMENT_COLUMNS, rows)
