"""Does the analysis find planted effects, and only them? Simulated scores on the corpus's own factors.

Three scenarios, each drawn `simulations` times: `planted` (chosen factors have effects), `null` (none has), and
`confounded` (one factor has no effect but goes with hard answer elements). In all of them texts and frames differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects.analysed_tables import FactorTable
from trivium.complexity.effects.analysis import Effects, analyse
from trivium.complexity.effects.planted_effects import Difficulty, SensitivityParameters, confounded, simulated_scores
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.measures.significance import wilson_interval

SCENARIOS = ("planted", "null", "confounded")


class Confounding(Parameters):
    """A factor that goes with hard answer elements and does nothing itself."""

    factor: str = Field(description="Which factor's labels are drawn anew")
    strength: float = Field(ge=0, le=1, description="0: independent of the element, 1: determined by it")
    effect: float = Field(ge=-1, lt=0, description="Of the hard elements, on the scale of the score")


class SimulateParameters(Parameters):
    """Section `complexity.simulate`."""

    elsewhere: ClassVar = {name: f"complexity.validate.{name}" for name in ("risk", "confidence", "smallest_set")}
    simulations: int = Field(ge=1, description="Of each scenario")
    models: int = Field(ge=1, description="Rows of a simulated table")
    effects: dict[str, Annotated[float, Field(ge=-1, lt=0)]] = Field(
        min_length=1, description="Planted effect of each chosen factor, on the scale of the score"
    )
    confounding: Confounding = Field(description="The third scenario")
    sensitivity: SensitivityParameters = Field(description="How small an effect is found")
    difficulty: Difficulty = Field(description="Of the simulated scores")
    risk: float = Field(gt=0, lt=1, description="Of every test, the stated error rate")
    smallest_set: int = Field(ge=1, description="Fewest examples in either set of a factor that is tested")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=1, description="Bootstrap samples of texts")
    seed: int = Field(ge=0, description="Of all draws")

    @property
    def analysis(self) -> dict[str, Any]:
        """What `analyse` takes beside its seed."""
        return {name: getattr(self, name) for name in ("risk", "smallest_set", "resamples", "confidence")}

    def check(self, factors: Sequence[str], file: Path) -> None:
        """Effects are planted on some of these factors, not on all, and one of them is confounded.

        Raises:
            BadInput: otherwise; the message names the file that the factors come from.
        """
        if not set(self.effects) < set(factors):
            raise BadInput("effects on other factors, or on all", file=file, field="complexity.simulate.effects",
                           got=list(self.effects), expected="some, not all", choices=factors)  # fmt: skip
        if self.confounding.factor not in factors:
            raise BadInput("no such factor", file=file, field="complexity.simulate.confounding.factor",
                           got=self.confounding.factor, choices=factors)  # fmt: skip


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
    return analyse(scores, table, seed=int(rng.integers(2**31)), **parameters.analysis)


def rates(
    scenario: str,
    cells: NDArray[np.bool_],
    defined: NDArray[np.bool_],
    method: str,
    parameters: SimulateParameters,
    factors: Sequence[str],
) -> Iterator[Rate]:
    """Rates of one method in one scenario: by factor, of all factors without effect, and of any error in a table.

    Args:
        scenario, method: what the cells are of.
        cells: (simulations, models, factors) that the method called an effect.
        defined: (factors,) those that split the corpus.
        parameters: what was planted.
        factors: their names.
    """
    planted = np.array([scenario == "planted" and name in parameters.effects for name in factors])

    def rate(factor: str, role: str, value: float) -> Rate:
        return Rate(scenario, method, factor, role, value, *wilson_interval(value, len(cells)), len(cells))

    for column in map(int, np.flatnonzero(defined)):
        yield rate(factors[column], "planted" if planted[column] else "null", float(cells[:, :, column].mean()))
    without = cells[:, :, defined & ~planted]
    if without.shape[2]:
        yield rate("all", "null", float(without.mean()))
        yield rate("any", "null", float(without.any(axis=(1, 2)).mean()))
    if (defined & planted).any():
        yield rate("all", "planted", float(cells[:, :, defined & planted].mean()))


def metrics_of(every: list[Rate], parameters: SimulateParameters) -> dict[str, float]:
    """The rates that a reader looks for, by name."""
    found: dict[str, float] = {"simulations": float(parameters.simulations)}
    for each in every:
        name, of_all = None, each.factor in ("all", "any")
        if each.scenario == "confounded":
            name = f"confounded_{each.method}" if each.factor == parameters.confounding.factor else None
        elif each.role == "planted":
            name = f"power_{each.method}" + ("" if of_all else f"_{each.factor}")
        elif of_all:
            kind = "false_alarms" if each.factor == "all" else "any_false_alarm"
            name = f"{each.scenario}_{kind}_{each.method}"
        if name:
            found |= {name: each.rate, f"{name}_low": each.low, f"{name}_high": each.high}
    return found
