"""Scores with planted effects on the real texts, frames and factors of a corpus: a test of the analysis itself.

ROUGE-L is bounded, with many answers fully right and many fully wrong, and examples of one text or frame are alike.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.complexity.effects.factor_table import FactorTable
from trivium.core.parameters import Parameters
from trivium.measures.effects import NO, YES


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
