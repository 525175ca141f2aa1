"""Differences over trainings and items: hierarchical bootstrap, and the smallest effect that it shows; and contrasts.

Items (questions, pictures, texts) are the same in every training, so both are resampled, crossed (Owen 2007, "The
pigeonhole bootstrap"). Paired contrasts over facts and trainings, in one world or in several, have an interval of t.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.measures.bootstrap import percentiles, resampled_totals
from trivium.measures.significance import fisher_randomization

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

    @property
    def paired(self) -> bool:
        """Whether every item has as much on both sides."""
        return bool((self.better_count == self.other_count).all())

    def differences(self) -> NDArray[np.float64]:
        """The difference of the two means of each training, (trainings,)."""
        return self.better.sum(1) / self.better_count.sum(1) - self.other.sum(1) / self.other_count.sum(1)


@dataclass(frozen=True)
class Difference:
    """The difference of two systems over trainings and items.

    Attributes:
        value: mean over trainings of the difference of the two means.
        low, high: percentile interval of the bootstrap.
        error: standard error, the bootstrap's standard deviation.
        smallest: the smallest true difference that a two-sided test at this confidence finds with the wanted power.
        p_items: of the paired randomization test on the trainings' means, which asks of other items and not of other
            trainings; None where sides are not paired.
    """

    value: float
    low: float
    high: float
    error: float
    smallest: float
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
    observed, p_items = sides.differences(), None
    if sides.paired:  # all of an item's values are swapped at once
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
    """A mean with its standard error, in the unit of the contrasts.

    Attributes:
        value: the mean.
        error: its standard error.
        freedom: degrees of freedom of its t.
    """

    value: float
    error: float
    freedom: float

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
