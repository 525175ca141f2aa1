"""Does the analysis find planted effects, and only them? Simulated scores on the corpus's own factors.

Three scenarios, each drawn `simulations` times: `planted` (chosen factors have effects), `null` (none has), and
`confounded` (one factor has no effect but goes with hard answer elements). In all of them texts and frames differ.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from tqdm import tqdm

from stages.atomic import write_atomically
from stages.complexity.effects.analysis import Effects, analyse
from stages.complexity.effects.factor_table import FACTORS, FactorTable, read_factors
from stages.complexity.effects.simulated_scores import Difficulty, confounded, simulated_scores
from stages.measures.proportion import wilson_interval
from stages.stage import Context, Parameters, run_stage

SCENARIOS = ("planted", "null", "confounded")
METHODS = ("mann_whitney", "holm", "bootstrap", "frame", "joint", "found", "found_holm")
COLUMNS = ("scenario", "method", "factor", "role", "rate", "low", "high", "simulations")


class Confounding(Parameters):
    """A factor that goes with hard answer elements and does nothing itself."""

    factor: str = Field(description="Which factor's labels are drawn anew", pattern="^f[0-6]$")
    strength: float = Field(ge=0, le=1, description="0: independent of the element, 1: determined by it")
    effect: float = Field(ge=-1, lt=0, description="Of the hard elements, on the scale of the score")


class SimulateParameters(Parameters):
    """Section `complexity.simulate`."""

    simulations: int = Field(ge=1, description="Of each scenario")
    models: int = Field(ge=1, description="Rows of a simulated table")
    effects: dict[str, Annotated[float, Field(ge=-1, lt=0)]] = Field(
        min_length=1, description="Planted effect of each chosen factor, on the scale of the score"
    )
    confounding: Confounding = Field(description="The third scenario")
    difficulty: Difficulty = Field(description="Of the simulated scores")
    risk: float = Field(gt=0, lt=1, description="Of every test, the stated error rate")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of texts")
    seed: int = Field(ge=0, description="Of all draws")

    @field_validator("effects")
    @classmethod
    def _some_factors(cls, effects: dict[str, float]) -> dict[str, float]:
        if not set(effects) < set(FACTORS):
            raise ValueError(f"expected some, not all, of {', '.join(FACTORS)}")
        return effects


@dataclass(frozen=True)
class Rate:
    """How often a method rejected, over all models of all simulations; the interval counts simulations as trials.

    Cells of one simulation share texts, frames and examples, so they are no trials of their own.
    """

    scenario: str
    method: str
    factor: str
    role: str
    rate: float
    low: float
    high: float
    simulations: int


def rejections(effects: Effects, *, worse_only: bool) -> dict[str, NDArray[np.bool_]]:
    """By method, the (models, factors) cells that it calls an effect.

    Args:
        effects: the analysis.
        worse_only: only effects that make a model worse (power); else both directions, where the stated error rate
            holds. The verdicts are of one direction by definition.
    """
    joint, risk = effects.joint, effects.risk
    two_sided = {
        "mann_whitney": (effects.p <= risk, effects.delta < 0),
        "holm": (effects.p_holm <= risk, effects.delta < 0),
        "bootstrap": ((effects.high < 0) | (effects.low > 0), effects.high < 0),
        "frame": (effects.p_frame <= risk, effects.delta < 0),
        "joint": (joint.p <= risk, joint.coefficient < 0),
    }
    by_method = {name: called & worse if worse_only else called for name, (called, worse) in two_sided.items()}
    return by_method | {"found": effects.found, "found_holm": effects.found_holm}


def simulate(scenario: str, number: int, table: FactorTable, parameters: SimulateParameters) -> Effects:
    """Draw one table of scores and analyse it."""
    rng = np.random.default_rng([parameters.seed, SCENARIOS.index(scenario), number])
    planted, element_effect = {}, np.zeros(len(table.ids))
    if scenario == "planted":
        planted = parameters.effects
    elif scenario == "confounded":
        planting = parameters.confounding
        table, element_effect = confounded(
            table, planting.factor, strength=planting.strength, effect=planting.effect, rng=rng
        )
    scores = simulated_scores(
        table, planted, element_effect, models=parameters.models, difficulty=parameters.difficulty, rng=rng
    )
    return analyse(
        scores,
        table,
        risk=parameters.risk,
        resamples=parameters.resamples,
        confidence=parameters.confidence,
        seed=int(rng.integers(2**31)),
    )


def _cells(
    scenario: str, number: int, table: FactorTable, parameters: SimulateParameters
) -> dict[str, NDArray[np.bool_]]:
    """One simulation's cells: power for planted factors, errors in both directions for the others."""
    effects = simulate(scenario, number, table, parameters)
    planted = [scenario == "planted" and name in parameters.effects for name in FACTORS]
    worse, either = (rejections(effects, worse_only=only) for only in (True, False))
    return {method: np.where(planted, worse[method], either[method]) for method in METHODS}


def rates(scenario: str, cells: NDArray[np.bool_], defined: NDArray[np.bool_], method: str,
          parameters: SimulateParameters) -> Iterator[Rate]:  # fmt: skip
    """Rates of one method in one scenario: by factor, of all factors without effect, and of any error in a table.

    Args:
        scenario, method: what the cells are of.
        cells: (simulations, models, factors) that the method called an effect.
        defined: (factors,) those that split the corpus.
        parameters: what was planted.
    """
    planted = np.array([scenario == "planted" and name in parameters.effects for name in FACTORS])

    def rate(factor: str, role: str, value: float) -> Rate:
        return Rate(scenario, method, factor, role, value, *wilson_interval(value, len(cells)), len(cells))

    for column in np.flatnonzero(defined):
        yield rate(FACTORS[column], "planted" if planted[column] else "null", float(cells[:, :, column].mean()))
    without = cells[:, :, defined & ~planted]
    if without.shape[2]:
        yield rate("all", "null", float(without.mean()))
        yield rate("any", "null", float(without.any(axis=(1, 2)).mean()))
    if (defined & planted).any():
        yield rate("all", "planted", float(cells[:, :, defined & planted].mean()))


def main(parameters: SimulateParameters, context: Context, *, factors: Path, out: Path) -> dict[str, float]:
    """Write every rate (CSV); the metrics hold power, false alarms, and the confounded factor's fate."""
    del context
    table = read_factors(factors)
    defined = np.array([len(set(codes[codes >= 0])) == 2 for codes in table.factors])
    jobs = [(scenario, number) for scenario in SCENARIOS for number in range(parameters.simulations)]
    done = [_cells(*job, table, parameters) for job in tqdm(jobs, desc="simulations", mininterval=5, leave=False)]
    every: list[Rate] = []
    for start, scenario in enumerate(SCENARIOS):
        part = done[start * parameters.simulations : (start + 1) * parameters.simulations]
        usable = defined.copy()
        if scenario == "confounded":
            usable[FACTORS.index(parameters.confounding.factor)] = True
        for method in METHODS:
            cells = np.array([each[method] for each in part], dtype=bool)
            every += rates(scenario, cells, usable, method, parameters)
    with write_atomically(out) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        lines.writeheader()
        lines.writerows(vars(each) for each in every)
    return metrics_of(every, parameters)


def metrics_of(every: list[Rate], parameters: SimulateParameters) -> dict[str, float]:
    """The rates that a reader looks for, by name."""
    found: dict[str, float] = {"simulations": float(parameters.simulations)}
    for each in every:
        names = []
        if each.scenario == "planted" and each.role == "planted":
            names = [f"power_{each.method}" if each.factor == "all" else f"power_{each.method}_{each.factor}"]
        elif each.scenario != "confounded" and each.factor in ("all", "any"):
            kind = "false_alarms" if each.factor == "all" else "any_false_alarm"
            names = [f"{each.scenario}_{kind}_{each.method}"]
        elif each.scenario == "confounded" and each.factor == parameters.confounding.factor:
            names = [f"confounded_{each.method}"]
        for name in names:
            found |= {name: each.rate, f"{name}_low": each.low, f"{name}_high": each.high}
    return found


if __name__ == "__main__":
    run_stage(main, "complexity.simulate", SimulateParameters)
