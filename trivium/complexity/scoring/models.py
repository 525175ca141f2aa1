"""All that the tables say about one model: a worker's part of stage `complexity-score` (complexity.md §3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.scoring.frame_spread import frame_means, spread
from trivium.complexity.scoring.systems import System
from trivium.complexity.scoring.table1 import Scored, ScoreParameters, score, shuffled, summarize


@dataclass(frozen=True)
class Asked:
    """What all models are asked, question by question.

    Attributes:
        references: the reference answers.
        frames, elements, texts: of the question.
        baseline: (questions,) ROUGE-L of the baseline that models are compared with.
    """

    references: Sequence[str]
    frames: Sequence[str]
    elements: Sequence[str]
    texts: Sequence[str]
    baseline: NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """What the tables say about a model.

    Attributes:
        scored: every answer's scores.
        frames: see `frame_means`.
        metrics: its row of Table 1, the spread of its frames, and what its answers score when shuffled.
    """

    scored: Scored
    frames: Sequence[dict[str, str | float]]
    metrics: dict[str, float]


def row_of(asked: Asked, parameters: ScoreParameters, system: System) -> Row:
    """Score a model; what is drawn depends on the seed alone, not on other models."""
    scored = score(system, asked.references)
    by_measure = {measure: scored.by_question(measure) for measure in ("rouge_l", "rouge_l_paper")}
    metrics = summarize(scored, asked.baseline, asked.texts, parameters)
    metrics |= spread(by_measure["rouge_l"], asked.frames, asked.texts, seed=parameters.seed)
    if system.kind != "baseline":
        value = shuffled(system, asked.references, asked.elements, shuffles=parameters.shuffles, seed=parameters.seed)
        metrics |= {} if value is None else {"shuffled_rouge_l": value}
    return Row(scored, frame_means(by_measure, asked.frames), metrics)
