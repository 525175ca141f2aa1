"""Stage `complexity-simulate`. Planted effects: does the analysis find them, only them, and how small ones?"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from trivium.complexity.effects.analysed_tables import FactorTable, read_factors
from trivium.complexity.effects.analysis import large_enough
from trivium.complexity.effects.planted_effects import powers, rejections, sensitivity_metrics
from trivium.complexity.effects.simulation import (
    SCENARIOS,
    Rate,
    SimulateParameters,
    metrics_of,
    rates,
    simulate,
)
from trivium.core.csv_tables import write_csv
from trivium.core.stage import Context, run_stage

METHODS = ("mann_whitney", "holm", "bootstrap", "frame", "joint", "found", "found_holm")
COLUMNS = ("scenario", "method", "factor", "role", "rate", "low", "high", "simulations")
POWERS = ("size", "factor", "criterion", "planted", "delta", "power", "low", "high", "simulations")


def _cells(
    scenario: str, number: int, table: FactorTable, parameters: SimulateParameters
) -> dict[str, NDArray[np.bool_]]:
    """One simulation's cells: power for planted factors, errors in both directions for the others."""
    effects = simulate(scenario, number, table, parameters)
    planted = [scenario == "planted" and name in parameters.effects for name in table.names]
    worse, either = (rejections(effects, worse_only=only) for only in (True, False))
    return {method: np.where(planted, worse[method], either[method]) for method in METHODS}


def main(
    parameters: SimulateParameters,
    context: Context,
    *,
    factors: Path = Path("data/complexity/factors.parquet"),
    out: Path = Path("metrics/complexity/simulations.csv"),
    out_powers: Path = Path("metrics/complexity/powers.csv"),
) -> dict[str, float]:
    """Write every rate, and power by δ (CSV).

    Returns:
        Power, false alarms, the confounded factor's fate, and the smallest δ that is found (`sensitivity_metrics`).
    """
    del context
    table = read_factors(factors)
    parameters.check(table.names, factors)
    defined = large_enough(table.factors, parameters.smallest_set)
    jobs = [(scenario, number) for scenario in SCENARIOS for number in range(parameters.simulations)]
    done = [_cells(*job, table, parameters) for job in tqdm(jobs, desc="simulations", mininterval=5, leave=False)]
    every: list[Rate] = []
    for start, scenario in enumerate(SCENARIOS):
        part = done[start * parameters.simulations : (start + 1) * parameters.simulations]
        usable = defined.copy()
        if scenario == "confounded":
            usable[table.column(parameters.confounding.factor)] = True
        for method in METHODS:
            cells = np.array([each[method] for each in part], dtype=bool)
            every += rates(scenario, cells, usable, method, parameters, table.names)
    write_csv(out, COLUMNS, map(vars, every))
    # Of a study as large as this corpus, and of one as large as the paper's.
    by_strength = [
        power
        for size, models in (("corpus", parameters.models), ("paper", parameters.sensitivity.paper.models))
        for power in powers(table, size, parameters.sensitivity, models=models, difficulty=parameters.difficulty,
                            seed=parameters.seed, **parameters.analysis)
    ]  # fmt: skip
    write_csv(out_powers, POWERS, map(vars, by_strength))
    return metrics_of(every, parameters) | sensitivity_metrics(by_strength, parameters.sensitivity.power)


if __name__ == "__main__":
    run_stage(main, "complexity.simulate", SimulateParameters, metrics="metrics/complexity/simulate.json")
