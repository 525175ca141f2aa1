"""What each factor costs each model, beside what it does to answers that nobody read for (docs/difficulty.md)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.material import DifficultySettings
from trivium.complexity.difficulty.scores import BASELINES
from trivium.complexity.effects.effect_rows import COLUMNS, Row, effect_rows
from trivium.measures.bootstrap import cluster_bootstrap
from trivium.measures.effects import clustered_difference, mean_differences
from trivium.measures.rasch import Rasch
from trivium.measures.significance import holm

_BESIDE = tuple(
    column
    for name in BASELINES
    for column in (name, *(f"{name}_{number}" for number in ("difference", "low", "high", "p", "p_holm")))
)
_IRT = ("irt", "irt_low", "irt_high")
DIFFICULTY_COLUMNS = (*COLUMNS, "smallest_delta", *_BESIDE, "comes_from", *_IRT)


def difficulty_rows(
    scores: Mapping[str, NDArray[np.float64]],
    baselines: Mapping[str, NDArray[np.float64]],
    factors: Mapping[str, NDArray[np.int8]],
    clusters: NDArray[np.int64],
    irt: Rasch | None,
    settings: DifficultySettings,
) -> list[Row]:
    """One row of DIFFICULTY_COLUMNS a model and factor: those of `effect_rows`, and

    - `smallest_delta`: the smallest |δ| that this set shows at the risk, with the power of the settings;
    - of each baseline its δ, and the model's δ less it (`…_difference`) with interval, p and Holm's p over the table,
      errors by cluster;
    - `comes_from` of a δ below 0 that is Holm-significant: `reading` where it is below both baselines' (Holm),
      `words` where it is below that of random spans only, else `measure`;
    - `irt`: the mean difficulty of yes less that of no, in logits, with its interval; the same for all models.

    Args:
        scores: by model, (questions,).
        baselines: by name of BASELINES, (questions,).
        factors: by name, (questions,) of 1, 0, -1.
        clusters: (questions,) number of each question's cluster.
        irt: the questions' difficulties, None where too few models answered.
        settings: risk, power and numbers of the bootstrap.
    """
    drawn: dict[str, Any] = {"resamples": settings.resamples, "confidence": settings.confidence, "seed": settings.seed}
    labels = [f"{number:09}" for number in clusters.tolist()]
    rows = effect_rows(scores, factors, labels, risk=settings.risk, smallest_set=settings.smallest_set, **drawn)
    values, codes = np.stack(list(scores.values())), np.stack(list(factors.values()))
    told = np.array([row["delta"] is not None for row in rows]).reshape(len(values), len(codes))
    beside = {"smallest_delta": clustered_difference(values, codes, clusters).smallest(settings.risk, settings.power)}
    for name, plain in baselines.items():
        difference = clustered_difference(values - plain, codes, clusters)
        low, high = difference.interval(settings.confidence)
        p = np.where(told, difference.p, np.nan)
        beside |= {
            name: np.broadcast_to(mean_differences(plain[None], codes), told.shape),
            f"{name}_difference": difference.delta,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_p": p,
            f"{name}_p_holm": holm(p),
        }
    if irt is not None:
        logits = irt.difficulty[None] / 100  # δ is in hundredths
        low, high = cluster_bootstrap(logits, codes, clusters, **drawn)
        for name, found in zip(_IRT, (mean_differences(logits, codes), low, high), strict=True):
            beside[name] = np.broadcast_to(found, told.shape)
    for number, row in enumerate(rows):
        place = divmod(number, len(codes))
        row |= dict.fromkeys(_IRT) | {
            name: float(matrix[place]) if told[place] and np.isfinite(matrix[place]) else None
            for name, matrix in beside.items()
        }
        row["comes_from"] = _source(row, settings.risk)
    return rows


def _source(row: Row, risk: float) -> str | None:
    """Where a δ comes from, in a word; None where there is none to explain."""
    if not row["holm_significant"]:
        return None
    below = {name: _below(row, name, risk) for name in BASELINES}
    return "reading" if all(below.values()) else "words" if below["random_span"] else "measure"


def _below(row: Row, name: str, risk: float) -> bool:
    p, difference = row[f"{name}_p_holm"], row[f"{name}_difference"]
    return isinstance(p, float) and isinstance(difference, float) and p <= risk and difference < 0
