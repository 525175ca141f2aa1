"""How sure is δ when questions come in clusters: standard error, test, and the smallest δ that would show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NO, YES, checked, side_means


@dataclass(frozen=True)
class ClusteredDifference:
    """δ and how sure it is; matrices are (models, factors), in points of 100, NaN where nothing can be told.

    Attributes:
        delta: mean over E_f less mean over Ē_f.
        standard_error: of δ, robust to clusters.
        clusters: (factors,) that hold a question of E_f or Ē_f.
    """

    delta: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    clusters: NDArray[np.int64]

    @property
    def p(self) -> NDArray[np.float64]:
        """Of δ = 0, two-sided t with (clusters - 1) degrees of freedom; 1 where nothing varies at all."""
        from scipy.special import stdtr  # its import takes a fifth of a second

        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.abs(self.delta) / self.standard_error
        value = np.where((self.delta == 0) & (self.standard_error == 0), 0.0, value)
        p: NDArray[np.float64] = 2 * stdtr(self.clusters - 1, -value)
        return p

    def interval(self, confidence: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Low and high, `δ ∓ t · standard error`."""
        from scipy.special import stdtrit

        half = stdtrit(self.clusters - 1, (1 + confidence) / 2) * self.standard_error
        return self.delta - half, self.delta + half

    def smallest(self, risk: float, power: float) -> NDArray[np.float64]:
        """The smallest |δ| that a two-sided test at this risk finds with this power (Bloom 1995).

        `(t_{1 - risk/2} + t_{power}) · standard error`, quantiles of t with (clusters - 1) degrees of freedom.
        """
        from scipy.special import stdtrit

        freedom = self.clusters - 1
        value: NDArray[np.float64] = (stdtrit(freedom, 1 - risk / 2) + stdtrit(freedom, power)) * self.standard_error
        return value


def clustered_difference(scores: ArrayLike, factors: ArrayLike, clusters: ArrayLike) -> ClusteredDifference:
    """δ of every model and factor with cluster-robust errors (Liang & Zeger 1986).

    With e the residuals about the mean of their side, n₁ and n₀ the sizes of the sides, N = n₁ + n₀ and G clusters:
    `SE² = G/(G - 1) · (N - 1)/(N - 2) · Σ_g (Σ_{i ∈ g, yes} e_i / n₁ - Σ_{i ∈ g, no} e_i / n₀)²`: what regression on
    the factor's dummy with errors clustered has.

    Args:
        scores: (models, questions), such as differences of two scores.
        factors: (factors, questions) of 1, 0, -1.
        clusters: (questions,) number of each question's cluster, from 0.

    Raises:
        ValueError: as `mean_differences`, or clusters of another length.
    """
    scores, factors = checked(scores, factors)
    clusters = np.asarray(clusters)
    if clusters.shape != (scores.shape[1],):
        raise ValueError(f"clusters have shape {clusters.shape}, expected {(scores.shape[1],)}")
    yes_means, no_means = side_means(scores, factors)
    error = np.full_like(yes_means, np.nan)
    counts = np.zeros(len(factors), dtype=np.int64)
    for column, codes in enumerate(factors):
        yes, no = codes == YES, codes == NO
        asked = np.bincount(clusters, weights=yes | no) > 0
        counts[column] = groups = asked.sum()
        size = yes.sum() + no.sum()
        if groups < 2 or size < 3 or not yes.any() or not no.any():
            continue
        weights = yes * (1 / yes.sum()) - no * (1 / no.sum())  # none where neither is known
        means = np.stack([no_means[:, column], yes_means[:, column]], axis=1)
        residuals = scores - means.take(yes, axis=1)
        residuals *= weights
        sums = np.stack([np.bincount(clusters, weights=row)[asked] for row in residuals])
        correction = groups / (groups - 1) * (size - 1) / (size - 2)
        error[:, column] = 100 * np.sqrt(correction * (sums**2).sum(axis=1))
    return ClusteredDifference(100 * (yes_means - no_means), error, counts)
