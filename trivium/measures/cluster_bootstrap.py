"""Bootstrap interval of δ that resamples whole texts, and a model's trainings where it has several.

Questions about one text are not independent, nor are the answers of one training.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NO, YES, checked
from trivium.measures.resampling import times_drawn

_CHUNK_BYTES = 8 << 20  # of the resampled counts


def cluster_bootstrap(
    scores: ArrayLike,
    factors: ArrayLike,
    clusters: ArrayLike,
    *,
    resamples: int,
    confidence: float,
    seed: int,
    of_model: ArrayLike | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Percentile intervals of δ for every model and factor, over the same resamples (Efron & Tibshirani 1993, §13.3).

    A resample draws as many clusters as there are, with replacement; with c_t the times that cluster t was drawn,
    δ* = 100 (Σ c_t S_t / Σ c_t N_t - the same over Ē_f), S and N being the sums of scores and the sizes of E_f within
    t. So all models and factors are one matrix product. Resamples that leave a set empty are left out of that factor.

    Trainings are crossed with texts: a resample also draws, with replacement, one fewer of a model's trainings than it
    has, and takes the mean of their δ* over the same texts (Owen 2007; one fewer, as in `trainings.over_trainings`).
    Where there is one, it is drawn every time, so that the interval is that of the texts.

    Args:
        scores: (trainings, examples).
        factors: (factors, examples) of 1, 0, -1.
        clusters: (examples,) number or name of each example's text.
        resamples: how many.
        confidence: in (0, 1), two-sided.
        seed: of the draw.
        of_model: (trainings,) each one's model, numbers from 0; without it each is a model of its own.

    Returns:
        low and high, (models, factors) points; NaN where a set is empty or with fewer than two clusters.

    Raises:
        ValueError: as `mean_differences`, clusters of another length, models that are not numbered from 0, one a
            training, confidence or resamples out of range.
    """
    scores, factors = checked(scores, factors)
    clusters = np.asarray(clusters)
    if clusters.shape != (scores.shape[1],):
        raise ValueError(f"clusters have shape {clusters.shape}, expected {(scores.shape[1],)}")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence should be in (0, 1) and resamples ≥ 1, got {confidence} and {resamples}")
    model = np.arange(len(scores)) if of_model is None else np.asarray(of_model)
    if model.shape != scores.shape[:1] or set(model.tolist()) != set(range(models := int(model.max(initial=-1)) + 1)):
        raise ValueError(f"of_model should number the {len(scores)} trainings from 0, got {model.tolist()}")
    rows, columns = len(scores), len(factors)
    names, number = np.unique(clusters, return_inverse=True)
    low, high = np.full((2, models, columns), np.nan)
    if len(names) < 2:
        return low, high

    members = [(factors == side).astype(np.float64) for side in (YES, NO)]
    # Rows: per side the sums of every model and factor, then the sizes of every factor.
    values = np.concatenate(
        [(scores[:, None] * member).reshape(-1, member.shape[1]) for member in members] + members, axis=0
    )
    totals = np.stack([np.bincount(number, weights=row, minlength=len(names)) for row in values], axis=1)

    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_BYTES // (8 * len(names)))
    trainings = [np.flatnonzero(model == number) for number in range(models)]
    draw = np.random.default_rng([seed, 1])  # of its own: texts are drawn as they are without trainings
    taken = [of[draw.integers(len(of), size=(resamples, max(len(of) - 1, 1)))] for of in trainings]
    deltas = np.empty((resamples, models, columns))
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        sums = times_drawn(rng, len(names), size).astype(np.float64) @ totals
        cells = rows * columns
        with np.errstate(invalid="ignore"):  # 0 / 0: a set that the resample left empty
            sides = [
                sums[:, side * cells : (side + 1) * cells].reshape(size, rows, columns)
                / sums[:, None, 2 * cells + side * columns : 2 * cells + (side + 1) * columns]
                for side in (0, 1)
            ]
        each = 100 * (sides[0] - sides[1])
        for place, of in enumerate(taken):
            deltas[start : start + size, place] = np.take_along_axis(each, of[start : start + size, :, None], 1).mean(1)

    bounds = [(1 - confidence) / 2, (1 + confidence) / 2]
    for column in range(columns):
        defined = deltas[~np.isnan(deltas[:, 0, column]), :, column] if models else deltas[:0, :, column]
        if len(defined):
            low[:, column], high[:, column] = np.quantile(defined, bounds, axis=0)
    return low, high
