"""Bootstrap over clusters, texts or trainings, whose members are not independent; and contrasts.

A resample draws as many clusters as there are, with replacement. With c_t the times that cluster t is drawn, and S_t
and N_t its sum and its size, the resample's mean is `Σ c_t S_t / Σ c_t N_t` (Cameron, Gelbach & Miller 2008, §II).

Items (questions, pictures, texts) are the same in every training, so both are resampled, crossed (Owen 2007, "The
pigeonhole bootstrap"). Paired contrasts over facts and trainings, in one world or in several, have an interval of t.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NO, YES, check_shapes
from trivium.measures.significance import fisher_randomization

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
    has, and takes the mean of their δ* over the same texts (Owen 2007; one fewer, as in `over_trainings`).
    Where there is one, it is drawn every time, so that the interval is that of the texts.

    Args:
        scores: (trainings, examples).
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


_CONFIDENCE, _POWER = 0.95, 0.8  # of the interval; share of the smallest differences that are to be found


@dataclass(frozen=True)
class Sides:
    """The two sides of a comparison, each (trainings, items): sums of a measure's values, and their counts.

    Of a paired comparison both sides have the same counts; of a factor's δ an item is a text, whose questions stand on
    one side or the other.
    """

    better: NDArray[np.float64]
    better_count: NDArray[np.float64]
    other: NDArray[np.float64]
    other_count: NDArray[np.float64]

    def differences(self) -> NDArray[np.float64]:
        """The difference of the two means of each training, (trainings,)."""
        return self.better.sum(1) / self.better_count.sum(1) - self.other.sum(1) / self.other_count.sum(1)


@dataclass(frozen=True)
class Difference:
    """The difference of two systems over trainings and items.

    `p_items` is of the paired randomization test on the trainings' means, which asks of other items and not of other
    trainings; None where sides are not paired.
    """

    value: float  # mean over trainings of the difference of the two means
    low: float  # of the percentile interval of the bootstrap
    high: float
    error: float  # standard error, the bootstrap's standard deviation
    smallest: float  # true difference that a two-sided test at this confidence finds with the wanted power
    p_items: float | None


def over_trainings(sides: Sides, *, resamples: int = 10_000, permutations: int = 100_000, seed: int = 0) -> Difference:
    """Resample trainings and items, each with replacement and independently.

    A resample draws N of N items and T - 1 of T trainings: with so few trainings, T draws would make the variance of
    their mean (T - 1) / T of what it is (McCarthy & Snowden 1985). One training is kept as it is: then nothing is said
    of others. With v_i the times an item was drawn, a training's difference is
    `Σ v_i b_ti / Σ v_i n_ti - Σ v_i o_ti / Σ v_i m_ti`; resamples that leave a side empty are left out. The smallest
    difference is `(z_.975 + z_.8) · error`, for a confidence of 0.95 and a power of 0.8 (Bloom 1995).
    """
    from scipy.special import ndtri  # its import takes a fifth of a second

    trainings = len(sides.better)
    rng = np.random.default_rng(seed)
    totals = np.concatenate([sides.better, sides.better_count, sides.other, sides.other_count]).T
    better, better_count, other, other_count = np.split(resampled_totals(rng, totals, resamples), 4, axis=1)
    with np.errstate(invalid="ignore"):  # 0 / 0: a side that the resample left empty
        by_training = better / better_count - other / other_count
    draws = max(trainings - 1, 1)
    of_trainings = rng.multinomial(draws, np.full(trainings, 1 / trainings), size=resamples)
    means = (by_training * of_trainings).sum(axis=1) / draws
    means = means[np.isfinite(means)]
    low, high = percentiles(means, _CONFIDENCE)
    error = float(means.std(ddof=1))
    observed = sides.differences()
    p_items: float | None = None
    if (sides.better_count == sides.other_count).all():  # paired: all of an item's values are swapped at once
        sums = (sides.better - sides.other).mean(axis=0)
        p = fisher_randomization([sums, np.zeros_like(sums)], permutations=permutations, seed=seed)
        p_items = float(p[0, 1])
    return Difference(
        value=float(observed.mean()),
        low=float(low),
        high=float(high),
        error=error,
        smallest=float((ndtri((1 + _CONFIDENCE) / 2) + ndtri(_POWER)) * error),
        p_items=p_items,
    )


@dataclass(frozen=True)
class ContrastMean:
    """A mean with its standard error, in the unit of the contrasts."""

    value: float
    error: float
    freedom: float  # degrees of freedom of its t

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Low and high, `value ∓ t · error`."""
        from scipy.special import stdtrit  # its import takes a fifth of a second

        half = float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return self.value - half, self.value + half


def mean_contrast(worlds: Sequence[NDArray[np.float64]]) -> ContrastMean:
    """The mean over worlds, (facts, trainings) each, which weigh alike, of the mean over facts and trainings.

    With W worlds, a world's variance `s_w²` over its F_w facts of their means over trainings, and the variance `s_t²`
    over all C cells (world × training) of their means over facts: `SE² = Σ_w s_w² / F_w / W² + s_t² / C`. What fact
    and training do together is in both terms, so that the error is rather too large. Degrees of freedom are
    Satterthwaite's, of F_w - 1 and C - 1. With a single cell nothing is known of other trainings, and s_t is 0.
    `ValueError`: a world with fewer than two facts, or with a value that is not finite.
    """
    for contrasts in worlds:
        if len(contrasts) < 2 or not np.isfinite(contrasts).all():
            raise ValueError(f"contrasts of shape {contrasts.shape}: two facts and finite values are needed")
    cells = np.concatenate([contrasts.mean(axis=0) for contrasts in worlds])
    terms = [
        (contrasts.mean(axis=1).var(ddof=1) / len(contrasts) / len(worlds) ** 2, len(contrasts) - 1)
        for contrasts in worlds
    ]
    if len(cells) > 1:
        terms.append((cells.var(ddof=1) / len(cells), len(cells) - 1))
    square = sum(variance for variance, _ in terms)
    spread = sum(variance**2 / freedom for variance, freedom in terms)
    freedom = square**2 / spread if spread else float(sum(freedom for _, freedom in terms))
    return ContrastMean(
        float(np.mean([contrasts.mean() for contrasts in worlds])), float(np.sqrt(square)), float(freedom)
    )
