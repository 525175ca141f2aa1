"""Bootstrap over clusters: questions about one text are not independent, nor are the answers of one training.

A resample draws as many clusters as there are, with replacement. With c_t the times that cluster t is drawn, and S_t
and N_t its sum and its size, the resample's mean is `Σ c_t S_t / Σ c_t N_t` (Cameron, Gelbach & Miller 2008, §II).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NO, YES, check_shapes

OPTIONS = {"confidence", "resamples", "seed"}  # of every interval here, as sections of parameters name them
_CHUNK_BYTES = 8 << 20  # of the times drawn


def resampled_totals(rng: np.random.Generator, totals: NDArray[np.float64], resamples: int) -> NDArray[np.float64]:
    """(resamples, columns) Σ c_t X_t of the columns of `totals`, (clusters, columns), over the same resamples."""
    clusters = len(totals)
    sums = np.empty((resamples, totals.shape[1]))
    chunk = max(1, _CHUNK_BYTES // (8 * clusters))
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        # Drawing clusters and counting them is several times faster than `rng.multinomial`, which draws every count.
        drawn = rng.integers(clusters, size=(size, clusters)) + clusters * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * clusters).reshape(size, clusters)
        sums[start : start + size] = times.astype(np.float64) @ totals
    return sums


def percentiles(values: NDArray[np.floating], confidence: float) -> NDArray[np.float64]:
    """The (1 ∓ confidence) / 2 quantiles over the first axis: (2, …) low and high (Efron & Tibshirani 1993, §13.3)."""
    bounds: NDArray[np.float64] = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return bounds


def clustered_interval(
    values: ArrayLike, clusters: Sequence[str] | NDArray, *, confidence: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile interval of the mean of (n,) finite values; `clusters` are (n,) labels of each one's cluster."""
    _, member = np.unique(np.asarray(clusters), return_inverse=True)
    totals = np.stack([np.bincount(member, weights=values), np.bincount(member).astype(np.float64)], axis=1)
    sums, sizes = resampled_totals(np.random.default_rng(seed), totals, resamples).T
    low, high = percentiles(sums / sizes, confidence)
    return float(low), float(high)


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
    """Percentile intervals of δ for every model and factor, over the same resamples of texts and trainings.

    A resample's δ* is 100 times the difference of its means over E_f and over Ē_f. All models and factors are one
    matrix product. Resamples that leave a set empty are left out of that factor.

    Trainings are crossed with texts: a resample also draws, with replacement, one fewer of a model's trainings than it
    has, and takes the mean of their δ* over the same texts (Owen 2007; one fewer, as in `trainings.over_trainings`).
    Where there is one, it is drawn every time, so that the interval is that of the texts.

    Args:
        scores: (trainings, examples).
        factors: (factors, examples) of 1, 0, -1.
        clusters: (examples,) number or name of each example's text.
        of_model: (trainings,) each one's model, numbers from 0; without it each is a model of its own.

    Returns:
        low and high, (models, factors) points; NaN where a set is empty or with fewer than two clusters.
    """
    scores, factors = check_shapes(scores, factors)
    model = np.arange(len(scores)) if of_model is None else np.asarray(of_model)
    models = int(model.max(initial=-1)) + 1
    rows, columns = len(scores), len(factors)
    names, number = np.unique(np.asarray(clusters), return_inverse=True)
    low, high = np.full((2, models, columns), np.nan)
    if len(names) < 2 or not models:
        return low, high

    members = [(factors == side).astype(np.float64) for side in (YES, NO)]
    # Rows: per side the sums of every model and factor, then the sizes of every factor.
    values = np.concatenate([(scores[:, None] * member).reshape(-1, member.shape[1]) for member in members] + members)
    totals = np.empty((len(names), len(values)))
    for column, row in enumerate(values):
        totals[:, column] = np.bincount(number, weights=row, minlength=len(names))
    drawn = resampled_totals(np.random.default_rng(seed), totals, resamples)
    sums = drawn[:, : 2 * rows * columns].reshape(resamples, 2, rows, columns)
    sizes = drawn[:, 2 * rows * columns :].reshape(resamples, 2, 1, columns)
    with np.errstate(invalid="ignore"):  # 0 / 0: a set that the resample left empty
        means = sums / sizes
    of_trainings = 100 * (means[:, 0] - means[:, 1])

    rng = np.random.default_rng([seed, 1])  # of its own: texts are drawn as they are without trainings
    deltas = np.empty((resamples, models, columns))
    for place in range(models):
        own = np.flatnonzero(model == place)
        trainings = own[rng.integers(len(own), size=(resamples, max(len(own) - 1, 1)))]
        deltas[:, place] = np.take_along_axis(of_trainings, trainings[:, :, None], axis=1).mean(axis=1)
    for column in range(columns):
        defined = deltas[~np.isnan(deltas[:, 0, column]), :, column]
        if len(defined):
            low[:, column], high[:, column] = percentiles(defined, confidence)
    return low, high
