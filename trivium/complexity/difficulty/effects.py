"""Effects of factors on models, compared with their effects on baselines that read nothing (docs/difficulty.md)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.difficulty.scores import BASELINES
from trivium.complexity.effects.analysis import COLUMNS, Row, effect_rows
from trivium.complexity.factors.free_factors import MADE_OF_OVERLAP
from trivium.measures.bootstrap import OPTIONS, cluster_bootstrap
from trivium.measures.effects import clustered_difference, mean_differences, same_loss
from trivium.measures.irt import Irt
from trivium.measures.significance import holm

_NUMBERS = ("difference", "low", "high", "p", "p_holm", "same_p_holm")
_OF_BASELINES = tuple(column for name in BASELINES for column in (name, *(f"{name}_{number}" for number in _NUMBERS)))
_IRT = ("irt", "irt_low", "irt_high")
DIFFICULTY_COLUMNS = (*COLUMNS, "smallest_delta", "margin", *_OF_BASELINES, "comes_from", *_IRT)
UNKNOWN = "cannot be told"


def difficulty_rows(
    scores: Mapping[str, NDArray[np.float64]],
    baselines: Mapping[str, NDArray[np.float64]],
    factors: Mapping[str, NDArray[np.int8]],
    clusters: NDArray[np.int64],
    irt: Irt | None,
    settings: DifficultySettings,
) -> list[Row]:
    """One row of DIFFICULTY_COLUMNS a model and factor: those of `effect_rows`, and

    - `smallest_delta`: the smallest |δ| that this set shows at the risk, with the power of the settings;
    - of each baseline its δ, and the model's δ less it (`…_difference`) with interval, p and Holm's p over the table,
      errors by cluster;
    - of a δ below 0 that is Holm-significant: `margin`, the points within which another δ is the same,
      and Holm's p over these δ that it is not (`…_same_p_holm`, see `same_loss`);
    - `comes_from` of these δ: `measure` where random spans lose the same; `words` where it is below random spans'
      and the best-overlap sentence loses the same; `reading` where it is below both (Holm); else `cannot be told`. A
      factor that is made of the overlap itself cannot be judged by that sentence: `measure`, or it cannot be told;
    - `irt`: the mean difficulty of yes less that of no, in logits, with its interval; the same for all models.

    Args:
        scores: by model, (trainings, questions).
        baselines: by name of BASELINES, (questions,).
        factors: by name, (questions,) of 1, 0, -1.
        clusters: (questions,) number of each question's cluster.
        irt: the questions' difficulties, None where too few models answered.
    """
    rows = effect_rows(scores, factors, clusters, settings)
    values, codes = np.stack([of.mean(axis=0) for of in scores.values()]), np.stack(list(factors.values()))
    defined = np.array([row["delta"] is not None for row in rows]).reshape(len(values), len(codes))
    costs = np.array([row["holm_significant"] for row in rows]).reshape(defined.shape)
    margin = np.where(costs, settings.margin * np.abs(mean_differences(values, codes)), np.nan)
    smallest = clustered_difference(values, codes, clusters).smallest(settings.risk, settings.power)
    matrices = {"smallest_delta": smallest, "margin": margin}
    for name, plain in baselines.items():
        difference = clustered_difference(values - plain, codes, clusters)
        low, high = difference.interval(settings.confidence)
        p = np.where(defined, difference.p, np.nan)
        same = np.where(costs, same_loss(values, plain, codes, clusters, settings.margin), np.nan)
        matrices |= {
            name: np.broadcast_to(mean_differences(plain[None], codes), defined.shape),
            f"{name}_difference": difference.delta,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_p": p,
            f"{name}_p_holm": holm(p),
            f"{name}_same_p_holm": holm(same),
        }
    if irt is not None:
        logits = irt.difficulty[None] / 100  # δ is in hundredths
        low, high = cluster_bootstrap(logits, codes, clusters, **settings.model_dump(include=OPTIONS))
        for name, numbers in zip(_IRT, (mean_differences(logits, codes), low, high), strict=True):
            matrices[name] = np.broadcast_to(numbers, defined.shape)
    for number, row in enumerate(rows):
        place = divmod(number, len(codes))
        row |= dict.fromkeys(_IRT) | {
            name: float(matrix[place]) if defined[place] and np.isfinite(matrix[place]) else None
            for name, matrix in matrices.items()
        }
        row["comes_from"] = _source(row, settings.risk) if costs[place] else None
    return rows


def _source(row: Row, risk: float) -> str:
    """The source of a δ: `measure`, `words`, `reading` or UNKNOWN."""

    def holds(name: str) -> bool:
        return isinstance(p := row[name], float) and p <= risk

    def is_below(name: str) -> bool:
        return holds(f"{name}_p_holm") and isinstance(value := row[f"{name}_difference"], float) and value < 0

    if holds("random_span_same_p_holm"):
        return "measure"
    if row["factor"] in MADE_OF_OVERLAP or not is_below("random_span"):
        return UNKNOWN
    if holds("best_overlap_same_p_holm"):
        return "words"
    return "reading" if is_below("best_overlap") else UNKNOWN
