"""Scores with planted effects on a corpus's own texts, frames and factors, and the smallest effect that a study finds.

ROUGE-L is bounded, with many answers fully right and many fully wrong, and examples of one text or frame are alike: so
are the simulated scores. They test the analysis itself (complexity.md §5).

For power, one factor at a time is given effects from none to strong. An effect is told as what it does to δ, on the
same draws, since cutting scores to 0 … 1 makes it smaller than planted. A criterion's power is the share of cells
(models × simulations) that it calls worse. The smallest δ is where a line through the powers, made to fall nowhere
(isotonic regression), first reaches the wanted one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects.analysed_tables import FactorTable
from trivium.complexity.effects.analysis import Effects, analyse, large_enough
from trivium.core.parameters import Parameters
from trivium.measures.effects import NO, YES
from trivium.measures.significance import wilson_interval


class Difficulty(Parameters):
    """Where the scores lie and how they vary, on the scale before they are cut to 0 … 1."""

    level: float = Field(ge=0, le=1, description="Of the average model")
    models: float = Field(ge=0, description="Standard deviation between models")
    texts: float = Field(ge=0, description="Between texts, shared by all models")
    frames: float = Field(ge=0, description="Between frames, shared by all models")
    examples: float = Field(ge=0, description="Between examples, shared by all models")
    answers: float = Field(gt=0, description="What is left, drawn anew for every model and example")


def simulated_scores(
    table: FactorTable,
    effects: Mapping[str, float],
    element_effect: NDArray[np.float64],
    *,
    models: int,
    difficulty: Difficulty,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw score = min(1, max(0, level + model + text + frame + example + noise + Σ effect · [yes] + element)).

    Model, text, frame, example and noise are normal with mean 0; [yes] is 1 where the factor says yes. Cutting makes
    an effect smaller than it was planted, and never turns its sign.

    Args:
        table: factors, texts and frames.
        effects: of chosen factors; the others have none.
        element_effect: (examples,) what the answer element does.
        models: rows to draw.
        difficulty: level and standard deviations.
        rng: draws.

    Returns:
        (models, examples) in [0, 1].
    """
    shift = element_effect.copy()
    for name, effect in effects.items():
        shift += effect * (table.factors[table.column(name)] == YES)
    for labels, deviation in ((table.texts, difficulty.texts), (table.frames, difficulty.frames)):
        names, number = np.unique(labels, return_inverse=True)
        shift += rng.normal(0, deviation, len(names))[number]
    shift += rng.normal(0, difficulty.examples, len(shift))
    offset = rng.normal(0, difficulty.models, (models, 1))
    noise = rng.normal(0, difficulty.answers, (models, len(shift)))
    return np.clip(difficulty.level + offset + shift + noise, 0, 1)


def confounded(
    table: FactorTable, name: str, *, strength: float, effect: float, rng: np.random.Generator
) -> tuple[FactorTable, NDArray[np.float64]]:
    """Give a factor new labels that go with hard answer elements and do nothing themselves.

    Elements in random order are called hard until they hold half of the examples. Hard ones are worth `effect`, and
    their examples say yes with probability ½ + strength / 2, the others with ½ - strength / 2.

    Returns:
        The table with the new labels, and (examples,) the effect of the elements.
    """
    names, number, sizes = np.unique(table.elements, return_inverse=True, return_counts=True)
    order = rng.permutation(len(names))
    before = np.cumsum(sizes[order]) - sizes[order]
    hard = np.zeros(len(names), dtype=bool)
    hard[order] = 2 * before < sizes.sum()
    hard[order[-1]] = False  # one element must be easy
    says_yes = rng.random(len(number)) < 0.5 + np.where(hard[number], strength, -strength) / 2
    return table.with_factor(name, np.where(says_yes, YES, NO).astype(np.int8)), effect * hard[number]


CRITERIA = ("mann_whitney", "holm", "frame", "found", "found_holm")


class StudySize(Parameters):
    """How large another study was."""

    questions: int = Field(ge=1, description="Questions of its evaluation set")
    models: int = Field(ge=1, description="Models that answered")


class SensitivityParameters(Parameters):
    """Section `complexity.simulate.sensitivity`."""

    planted: list[Annotated[float, Field(lt=0, ge=-1)]] = Field(
        min_length=1, description="Effects of one factor, one after the other, before scores are cut"
    )
    simulations: int = Field(ge=1, description="Of each effect of each factor")
    power: float = Field(gt=0, lt=1, description="Share of such effects that a study is to find")
    paper: StudySize = Field(description="The paper's study, beside one as large as this corpus")


@dataclass(frozen=True)
class Power:
    """How often a criterion calls a factor's effect worse; the interval counts simulations as trials.

    Attributes:
        size: `corpus` or `paper`.
        planted: the effect before scores are cut.
        delta: by how many points it changed δ, mean over models and simulations.
    """

    size: str
    factor: str
    criterion: str
    planted: float
    delta: float
    power: float
    low: float
    high: float
    simulations: int


Curves = Mapping[tuple[str, str, str], Sequence[Power]]


def by_curve(every: Iterable[Power]) -> dict[tuple[str, str, str], list[Power]]:
    """The powers of each (size, criterion, factor)."""
    groups: dict[tuple[str, str, str], list[Power]] = {}
    for each in every:
        groups.setdefault((each.size, each.criterion, each.factor), []).append(each)
    return groups


def as_large_as(table: FactorTable, questions: int, rng: np.random.Generator) -> FactorTable:
    """A table of so many examples: whole texts drawn with replacement, each time as a text of its own.

    Frames, elements and factors stay those of the examples; of the last text only what is missing is taken.
    """
    rows_of = {name: np.flatnonzero(table.texts == name) for name in np.unique(table.texts)}
    names = list(rows_of)
    rows: list[NDArray[np.intp]] = []
    while sum(map(len, rows)) < questions:
        rows.append(rows_of[names[rng.integers(len(names))]])
    taken = np.concatenate(rows)[:questions]
    texts = np.repeat(np.arange(len(rows)), [len(each) for each in rows])[:questions]
    return FactorTable(
        ids=tuple(f"{table.ids[row]} {place}" for place, row in enumerate(taken)),
        texts=np.char.add("text ", texts.astype(str)),
        frames=table.frames[taken],
        elements=table.elements[taken],
        names=table.names,
        factors=table.factors[:, taken],
    )


def rejections(effects: Effects, *, worse_only: bool) -> dict[str, NDArray[np.bool_]]:
    """By method, the (models, factors) cells that it calls an effect.

    Args:
        effects: the analysis.
        worse_only: only effects that make a model worse (power); else both directions, where the stated error rate
            holds. The verdicts are of one direction by definition.
    """
    joint, risk, worse = effects.joint, effects.risk, effects.validated
    two_sided = {
        "mann_whitney": (effects.p <= risk, worse),
        "holm": (effects.p_holm <= risk, worse),
        "bootstrap": ((effects.high < 0) | (effects.low > 0), effects.high < 0),
        "frame": (effects.p_frame <= risk, worse),
        "joint": (joint.p <= risk, joint.coefficient < 0),
    }
    by_method = {name: called & worse if worse_only else called for name, (called, worse) in two_sided.items()}
    return by_method | {"found": effects.found, "found_holm": effects.found_holm}


def powers(
    table: FactorTable,
    size: str,
    parameters: SensitivityParameters,
    *,
    models: int,
    difficulty: Difficulty,
    seed: int,
    smallest_set: int,
    **analysis: Any,
) -> Iterator[Power]:
    """Power of every criterion for every factor with sets that are large enough and every effect, none (0) first.

    Nothing is planted in as many simulations as all factors have of one effect, for there a criterion rarely calls
    anything, and one simulation serves all factors.

    Args:
        table: of the corpus.
        size: `corpus`: its own examples; `paper`: as many as the paper's, drawn anew in every simulation.
        parameters: what is planted, how often.
        models: rows of a simulated table.
        difficulty: of the simulated scores.
        seed: of all draws; a simulation's draws are the same for every factor and effect.
        smallest_set, analysis: what `analyse` takes beside its seed.
    """
    columns = [int(column) for column in np.flatnonzero(large_enough(table.factors, smallest_set))]
    planted = [(column, effect) for column in columns for effect in sorted(set(parameters.planted), reverse=True)]
    cells = [(column, 0.0) for column in columns] + planted
    deltas: dict[tuple[int, float], list[NDArray[np.float64]]] = {cell: [] for cell in cells}
    called: dict[tuple[int, float], list[dict[str, NDArray[np.bool_]]]] = {cell: [] for cell in cells}

    def analysed(drawn: FactorTable, effects: Mapping[str, float], key: Sequence[int]) -> Effects:
        rng, nothing = np.random.default_rng(key), np.zeros(len(drawn.ids))
        scores = simulated_scores(drawn, effects, nothing, models=models, difficulty=difficulty, rng=rng)
        return analyse(scores, drawn, seed=int(rng.integers(2**31)), smallest_set=smallest_set, **analysis)

    for number in range(len(columns) * parameters.simulations):
        key, drawn = [seed, size == "paper", number], table
        if size == "paper":
            drawn = as_large_as(table, parameters.paper.questions, np.random.default_rng([*key, 1]))
        without = analysed(drawn, {}, key)
        found = {(column, 0.0): without for column in columns}
        if number < parameters.simulations:
            found |= {cell: analysed(drawn, {table.names[cell[0]]: cell[1]}, key) for cell in planted}
        for cell, effects in found.items():
            deltas[cell].append((effects.delta - without.delta)[:, cell[0]])
            worse = rejections(effects, worse_only=True)
            called[cell].append({name: worse[name][:, cell[0]] for name in CRITERIA})
    for column, effect in sorted(cells, key=lambda cell: (cell[0], -cell[1])):
        delta, tables = float(np.nanmean(deltas[column, effect])), called[column, effect]
        for criterion in CRITERIA:
            share = float(np.mean([each[criterion] for each in tables]))
            interval = wilson_interval(share, len(tables))
            yield Power(size, table.names[column], criterion, effect, delta, share, *interval, len(tables))


def smallest_delta(every: Sequence[Power], power: float) -> float | None:
    """The δ nearest to 0 that is found with this power, in points below 0; None where no planted effect was enough.

    Args:
        every: the powers of one criterion and factor at one size.
        power: wanted.
    """
    strength, risen = _risen(every)
    if risen[-1] < power:
        return None
    at = int(np.argmax(risen >= power))
    if at == 0:
        return -float(strength[0])
    share = (power - risen[at - 1]) / (risen[at] - risen[at - 1])
    return -float(strength[at - 1] + share * (strength[at] - strength[at - 1]))


def power_at(every: Sequence[Power], delta: float) -> float:
    """The power for a δ in points: on the line of `smallest_delta`; beyond its ends, that of the end.

    Args:
        every: the powers of one criterion and factor at one size.
        delta: points below 0.
    """
    strength, risen = _risen(every)
    return float(np.interp(-delta, strength, risen))


def _risen(every: Sequence[Power]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Strengths (-δ) in rising order, and the powers made to fall nowhere."""
    from scipy.optimize import isotonic_regression

    ordered = sorted(every, key=lambda each: -each.delta)
    strength = np.array([-each.delta for each in ordered])
    return strength, isotonic_regression([each.power for each in ordered]).x


def sensitivity_metrics(every: Sequence[Power], power: float) -> dict[str, float]:
    """`smallest_{size}_{criterion}_{factor}`, left out where no planted effect was enough."""
    groups = by_curve(every)
    found = {"_".join(("smallest", *key)): smallest_delta(group, power) for key, group in groups.items()}
    return {name: value for name, value in found.items() if value is not None}
