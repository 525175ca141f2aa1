"""Table 2: which factors make which models worse, and do models agree on what is hard? (complexity.md §5)."""

import csv
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field

from stages.atomic import write_atomically
from stages.complexity.effects.analysis import Effects, analyse
from stages.complexity.effects.factor_table import FACTORS, read_factors
from stages.complexity.scoring.score_table import Measure, read_scores
from stages.measures.effects import floor_points
from stages.measures.hardness import HardnessAgreement, hardness_agreement
from stages.stage import Context, Parameters, run_stage
from stages.tables import write_table

AGREEMENT_COLUMNS = ("model", "other", "spearman", "kendall", "hardest_overlap", "hardest_kappa")


class ValidateParameters(Parameters):
    """Section `complexity.validate`."""

    measure: Measure = Field(description="The score that is analysed")
    risk: float = Field(gt=0, lt=1, description="Of a false alarm, of every test and of Holm's correction")
    confidence: float = Field(gt=0, lt=1, description="Of the intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of texts")
    seed: int = Field(ge=0, description="Of the bootstrap")


def effects_table(effects: Effects, models: Sequence[str]) -> pa.Table:
    """One row a model and factor; null where an analysis cannot tell."""
    shape = effects.delta.shape
    per_factor = np.tile(np.arange(shape[1]), shape[0])

    def numbers(values: NDArray[np.float64]) -> pa.Array:
        return pa.array(values.ravel(), from_pandas=True)  # NaN becomes null

    levels = [effects.frame_level[column] for column in per_factor]
    joint = effects.joint
    return pa.table(
        {
            "model": [model for model in models for _ in FACTORS],
            "factor": [*FACTORS] * len(models),
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
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(AGREEMENT_COLUMNS)
        for a, b in combinations(range(len(models)), 2):
            values = ["" if np.isnan(matrix[a, b]) else float(matrix[a, b]) for matrix in matrices]
            lines.writerow([models[a], models[b], *values])


def main(
    parameters: ValidateParameters, context: Context, *, scores: Path, factors: Path, out: Path, out_agreement: Path
) -> dict[str, float]:
    """Write the effects (Parquet) and the agreement of models (CSV)."""
    del context
    table = read_factors(factors)
    read = read_scores(scores, table.ids, parameters.measure)
    effects = analyse(
        read.values,
        table,
        risk=parameters.risk,
        resamples=parameters.resamples,
        confidence=parameters.confidence,
        seed=parameters.seed,
    )
    agreement = hardness_agreement(read.values)
    write_table(out, effects_table(effects, read.models))
    write_agreement(out_agreement, read.models, agreement)
    counts = {"examples": float(len(table.ids)), "baselines_left_out": float(len(read.baselines))}
    return counts | _metrics(effects, agreement, read.models)


def _metrics(effects: Effects, agreement: HardnessAgreement, models: Sequence[str]) -> dict[str, float]:
    """Every δ, and in how many models each factor is validated, significant, … ; undefined values are left out."""
    verdicts = ("validated", "significant", "holm_significant", "found", "found_holm")
    values = {
        "models": float(len(models)),
        "tests": float((~np.isnan(effects.p)).sum()),
        "undefined": float(np.isnan(effects.p).sum()),
        **agreement.means(),
        **{
            f"{factor}_{verdict}": float(getattr(effects, verdict)[:, column].sum())
            for column, factor in enumerate(FACTORS)
            for verdict in verdicts
        },
        **{
            f"{model}_{factor}_delta": float(effects.delta[row, column])
            for row, model in enumerate(models)
            for column, factor in enumerate(FACTORS)
        },
    }
    return {name: value for name, value in values.items() if not np.isnan(value)}


if __name__ == "__main__":
    run_stage(main, "complexity.validate", ValidateParameters)
