"""Stage `complexity-validate`. Table 2: which factors make which models worse."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects import analysis
from trivium.complexity.effects.analysed_tables import Measure, encode_answers, read_factors, read_others, read_scores
from trivium.core.stage import stage
from trivium.core.tables import read_table, write_table
from trivium.measures.agreement import HardnessAgreement, hardness_agreement
from trivium.measures.effects import YES, mann_whitney, mean_differences


class ValidateParameters(analysis.AnalysisParameters):
    """Section `complexity.validate`."""

    measure: Measure = Field(description="The score that is analysed")


@stage("complexity.validate", metrics="metrics/complexity/validate.json")
def main(
    parameters: ValidateParameters,
    *,
    scores: Path = Path("data/complexity/scores.parquet"),
    factors: Path = Path("data/complexity/factors.parquet"),
    out: Path = Path("data/complexity/effects.parquet"),
    out_agreement: Path = Path("metrics/complexity/agreement.csv"),
) -> dict[str, float]:
    """Write the effects (Parquet) and the agreement of models (CSV)."""
    table = read_factors(factors)
    read = read_scores(scores, table.ids, parameters.measure)
    effects = analysis.analyse(read.trainings, table, parameters, read.of_model)
    agreement = hardness_agreement(read.values)
    write_table(out, analysis.effects_table(effects, read.models, table.names))
    analysis.write_agreement(out_agreement, read.models, agreement)
    counts = {"examples": float(len(table.ids)), "baselines_left_out": float(len(read.baselines))}
    metrics = counts | _other_readings(factors, read.values, read.models, parameters.smallest_set)
    metrics |= _metrics(effects, agreement, read.models, table.names)
    return {name: value for name, value in metrics.items() if not np.isnan(value)}  # undefined values are left out


def _other_readings(
    factors: Path, values: NDArray[np.float64], models: Sequence[str], smallest_set: int
) -> dict[str, float]:
    """δ of every model by the other readings of factors, and Mann-Whitney's p, NaN unless both sets are large."""
    metrics = {}
    for factor in read_others(factors):
        codes = encode_answers(read_table(factors, [f"{factor}_other"])[f"{factor}_other"].to_pylist())
        deltas, is_counted = mean_differences(values, codes[None])[:, 0], codes >= 0
        p = np.full(len(models), np.nan)
        if analysis.large_enough(codes[None], smallest_set)[0]:
            p = mann_whitney(values[:, is_counted], codes[is_counted] == YES)
        for row, model in enumerate(models):
            metrics[f"{model}_{factor}_other_delta_points"] = float(deltas[row])
            metrics[f"{model}_{factor}_other_p"] = float(p[row])
    return metrics


def _metrics(
    effects: analysis.Effects, agreement: HardnessAgreement, models: Sequence[str], factors: Sequence[str]
) -> dict[str, float]:
    """Every δ, and in how many models each factor is validated, significant, … ; NaN where it is undefined."""
    verdicts = ("validated", "significant", "holm_significant", "found", "found_holm")
    return {
        "models": float(len(models)),
        "tests": float((~np.isnan(effects["p"])).sum()),
        "undefined": float(np.isnan(effects["p"]).sum()),
        **agreement.means(),
        **{
            f"{factor}_{verdict}": float(effects[verdict][:, column].sum())
            for column, factor in enumerate(factors)
            for verdict in verdicts
        },
        **{
            f"{model}_{factor}_delta_points": float(effects["delta"][row, column])
            for row, model in enumerate(models)
            for column, factor in enumerate(factors)
        },
    }
