"""Table 2: which factors make which models worse, and do models agree on what is hard? (complexity.md §5)."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.complexity.effects.analysis import Effects
from trivium.core.csv_tables import write_csv
from trivium.measures.agreement import HardnessAgreement
from trivium.measures.effects import floor_points

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
            "p": numbers(effects.p),
            "p_holm": numbers(effects.p_holm),
            "low": numbers(effects.low),
            "high": numbers(effects.high),
            "p_frame": numbers(effects.p_frame),
            "frame_test": [level.kind for level in levels],
            "frames": pa.array([level.frames for level in levels], pa.int64()),
            "validated": effects.validated.ravel(),
            "significant": effects.significant.ravel(),
            "holm_significant": effects.holm_significant.ravel(),
            "joint": numbers(joint.coefficient),
            "joint_low": numbers(joint.low),
            "joint_high": numbers(joint.high),
            "joint_p": numbers(joint.p),
            "joint_p_frame": numbers(joint.p_frame),
            "p_all": numbers(effects.p_all),
            "p_all_holm": numbers(effects.p_all_holm),
            "found": effects.found.ravel(),
            "found_holm": effects.found_holm.ravel(),
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
