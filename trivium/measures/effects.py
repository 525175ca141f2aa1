"""The difference δ in score between examples with and without a factor, and tests on ranks (complexity.md §4, §5).

Factors are coded as (factors, examples) of 1 (E_f, "yes"), 0 (Ē_f, "no") and -1 (in neither set).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

YES, NO, NEITHER = 1, 0, -1
_ROUNDING = 1e-9  # means of ratios of small integers carry rounding errors; a δ of -3 must not become -4


def mean_differences(scores: ArrayLike, factors: ArrayLike) -> NDArray[np.float64]:
    """δ = 100 · (mean score over E_f - mean score over Ē_f), not floored, (models, factors); NaN where one is empty.

    Scores are (models, examples). `ValueError`: shapes do not fit, a code is none of the three, or a score is not
    finite.
    """
    yes, no = side_means(*check_shapes(scores, factors))
    return 100 * (yes - no)


def side_means(
    scores: NDArray[np.float64], factors: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean scores over E_f and over Ē_f, (models, factors), of arrays of `check_shapes`; NaN where there are none."""
    sides = []
    for side in (YES, NO):
        member = (factors == side).astype(np.float64)
        size = member.sum(axis=1)
        sides.append(np.divide(scores @ member.T, size, out=np.full((len(scores), len(size)), np.nan), where=size > 0))
    return sides[0], sides[1]


def floor_points(delta: ArrayLike) -> NDArray[np.float64]:
    """⌊δ⌋ as the paper prints it; a δ within 1e-9 of an integer is that integer."""
    return np.floor(np.asarray(delta, dtype=np.float64) + _ROUNDING)


def below_zero(delta: ArrayLike) -> NDArray[np.bool_]:
    """δ < 0 by more than rounding errors; NaN is not."""
    return np.asarray(delta, dtype=np.float64) < -_ROUNDING


def check_shapes(scores: ArrayLike, factors: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return both as arrays of matching shape; raises as `mean_differences`."""
    scores, codes = np.asarray(scores, dtype=np.float64), np.asarray(factors)
    if scores.ndim != 2 or codes.ndim != 2 or scores.shape[1] != codes.shape[1]:
        raise ValueError(f"scores {scores.shape} and factors {codes.shape} should be matrices over the same examples")
    if not np.isfinite(scores).all():
        raise ValueError("scores should be finite numbers")
    if not np.isin(codes, (YES, NO, NEITHER)).all():
        raise ValueError("factors should be coded 1 (yes), 0 (no) and -1 (neither)")
    return scores, codes.astype(np.int8)


def even_cut(values: ArrayLike, weights: ArrayLike | None = None) -> float | None:
    """The value v for which {x ≤ v} and {x > v} differ least in weight, neither empty; the lowest v at a tie.

    Values are (n,) finite numbers, weights (n,), 1 by default. None when all values are equal: no cut splits them.
    """
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(values) if weights is None else np.asarray(weights, dtype=np.float64)
    kinds, number = np.unique(values, return_inverse=True)
    if len(kinds) < 2:
        return None
    below = np.cumsum(np.bincount(number, weights=weights))
    return float(kinds[np.argmin(np.abs(2 * below[:-1] - below[-1]))])


def code_by_cut(values: ArrayLike, *, low: bool = False) -> tuple[NDArray[np.int8], float] | None:
    """Code numbers by their `even_cut`: 1 above it (at most it, where `low`), 0 for the others, -1 for NaN.

    Returns the (n,) codes, and the cut; None where there is no cut.
    """
    values = np.asarray(values, dtype=np.float64)
    is_defined = np.isfinite(values)
    cut = even_cut(values[is_defined])
    if cut is None:
        return None
    return np.where(is_defined, values <= cut if low else values > cut, NEITHER).astype(np.int8), cut


@dataclass(frozen=True)
class ClusteredDifference:
    """δ with its standard error; matrices are (models, factors), in points of 100, NaN where nothing can be told.

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
        """The p of δ = 0, two-sided t with (clusters - 1) degrees of freedom; 1 where nothing varies at all."""
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

    @property
    def p_above(self) -> NDArray[np.float64]:
        """The p of δ ≤ 0, one-sided: small where δ is above 0; NaN where nothing varies at all."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            p: NDArray[np.float64] = stdtr(self.clusters - 1, -self.delta / self.standard_error)
        return p

    def smallest(self, risk: float, power: float) -> NDArray[np.float64]:
        """The smallest |δ| that a two-sided test at this risk finds with this power (Bloom 1995).

        `(t_{1 - risk/2} + t_{power}) · standard error`, quantiles of t with (clusters - 1) degrees of freedom.
        """
        from scipy.special import stdtrit

        freedom = self.clusters - 1
        value: NDArray[np.float64] = (stdtrit(freedom, 1 - risk / 2) + stdtrit(freedom, power)) * self.standard_error
        return value


def same_loss(
    scores: NDArray[np.float64], plain: NDArray[np.float64], factors: ArrayLike, clusters: ArrayLike, margin: float
) -> NDArray[np.float64]:
    """The p of the claim that another δ' differs from a δ below 0 by less than a share of it (Schuirmann 1987).

    It is two one-sided tests: `|δ - δ'| < margin · |δ|` means `(1 - margin) δ - δ' > 0` and `(1 + margin) δ - δ' < 0`,
    and both are δ of a weighted difference of scores: of the (models, questions) `scores` behind δ, and the
    (questions,) `plain` ones behind δ'. p, (models, factors), is the larger one of theirs; NaN where nothing can be
    told. It says nothing where δ is not below 0.
    """
    low = clustered_difference((1 - margin) * scores - plain, factors, clusters).p_above
    high = clustered_difference(plain - (1 + margin) * scores, factors, clusters).p_above
    return np.maximum(low, high)


def clustered_difference(scores: ArrayLike, factors: ArrayLike, clusters: ArrayLike) -> ClusteredDifference:
    """δ of every model and factor with cluster-robust errors (Liang & Zeger 1986).

    With e the residuals about the mean of their side, n₁ and n₀ the sizes of the sides, N = n₁ + n₀ and G clusters:
    `SE² = G/(G - 1) · (N - 1)/(N - 2) · Σ_g (Σ_{i ∈ g, yes} e_i / n₁ - Σ_{i ∈ g, no} e_i / n₀)²`: what regression on
    the factor's dummy with errors clustered has. Scores are (models, questions), such as differences of two scores;
    clusters (questions,) numbers from 0.
    """
    scores, factors = check_shapes(scores, factors)
    clusters = np.asarray(clusters)
    yes_means, no_means = side_means(scores, factors)
    error = np.full_like(yes_means, np.nan)
    counts = np.zeros(len(factors), dtype=np.int64)
    for column, codes in enumerate(factors):
        yes, no = codes == YES, codes == NO
        concerned = np.bincount(clusters, weights=yes | no) > 0
        counts[column] = groups = concerned.sum()
        size = yes.sum() + no.sum()
        if groups < 2 or size < 3 or not yes.any() or not no.any():
            continue
        weights = yes * (1 / yes.sum()) - no * (1 / no.sum())  # none where neither is known
        means = np.stack([no_means[:, column], yes_means[:, column]], axis=1)
        residuals = scores - means.take(yes, axis=1)
        residuals *= weights
        sums = np.stack([np.bincount(clusters, weights=row)[concerned] for row in residuals])
        correction = groups / (groups - 1) * (size - 1) / (size - 2)
        error[:, column] = 100 * np.sqrt(correction * (sums**2).sum(axis=1))
    return ClusteredDifference(100 * (yes_means - no_means), error, counts)


def mann_whitney(scores: ArrayLike, yes: ArrayLike) -> NDArray[np.float64]:
    """Two-sided U test of every row, (rows,) p, of the columns marked yes against the others: SciPy's approximation.

    U = R - n₁(n₁ + 1) / 2 with R the rank sum of the n₁ columns marked yes; with n = n₁ + n₂ and groups of t ties
    σ² = n₁n₂/12 · ((n + 1) - Σ(t³ - t) / (n(n - 1))), z = (|U - n₁n₂/2| - ½) / σ, p = 2 (1 - Φ(z)), at most 1. Rows
    without two different values give p = 1. The normal approximation is meant for sets of 8 and more.
    Scores are (rows, n), such as models × examples, and `yes` (n,).
    """
    from scipy.stats import mannwhitneyu  # its import takes half a second

    scores, yes = np.asarray(scores, dtype=np.float64), np.asarray(yes, dtype=bool)
    p: NDArray[np.float64] = mannwhitneyu(scores[:, yes], scores[:, ~yes], axis=1, method="asymptotic").pvalue
    return p


_EXACT = 25  # most differences whose distribution is counted out, as SciPy and R do for few


def signed_rank(differences: ArrayLike) -> NDArray[np.float64]:
    """Two-sided p of each row of (rows, n) differences that are centred on 0 (Wilcoxon's signed ranks).

    Zeros are dropped (Wilcoxon 1945). Of the n left, W = Σ ranks of |d| over d > 0 has mean n(n + 1)/4 and variance
    (n(n + 1)(2n + 1) - Σ(t³ - t)/2) / 24 with t ties. Up to 25 differences without ties p is exact: all 2ⁿ signs are as
    likely. Else z = max(0, |W - mean| - ½) / σ and p = 2 Φ(-z), the normal approximation with correction for
    continuity. A row of zeros gives 1.
    """
    from scipy.stats import wilcoxon  # its import takes half a second

    differences = np.asarray(differences, dtype=np.float64)
    p = np.ones(len(differences))
    for row, values in enumerate(differences):
        kept = values[values != 0]
        if len(kept):
            exact = len(kept) <= _EXACT and len(np.unique(np.abs(kept))) == len(kept)
            p[row] = wilcoxon(kept, correction=True, method="exact" if exact else "asymptotic").pvalue
    return p


@dataclass(frozen=True)
class FrameLevel:
    """One factor's test over frames.

    Attributes:
        p: (models,) two-sided; NaN where no frame can be compared.
        kind: "between" frames (Mann-Whitney over their means) or "within" them (signed ranks of their differences).
        frames: how many frames were compared.
    """

    p: NDArray[np.float64]
    kind: Literal["between", "within"]
    frames: int


def frame_level(scores: ArrayLike, factor: ArrayLike, frames: ArrayLike) -> FrameLevel:
    """Test a factor with every frame counted once.

    Where at least half of the counted examples belong to frames that have both sides, each such frame gives one
    difference of means, and Wilcoxon's signed-rank test asks whether they are centred on 0 ("within"). Else the frame
    takes the side that most of its examples are on (none at a tie), its mean is that of those examples, and
    Mann-Whitney compares the frames of the two sides ("between"); a factor that is constant in every frame is this
    case. Scores are (models, examples), codes of the factor and names of the frames (examples,).
    """
    scores, codes = check_shapes(scores, np.asarray(factor)[None])
    names, number = np.unique(np.asarray(frames), return_inverse=True)
    means, sizes = [], []
    for side in (YES, NO):
        member = codes[0] == side
        size = np.bincount(number[member], minlength=len(names))
        total = np.stack([np.bincount(number[member], weights=row[member], minlength=len(names)) for row in scores])
        means.append(np.divide(total, size, out=np.zeros(total.shape), where=size > 0))
        sizes.append(size)
    both = (sizes[0] > 0) & (sizes[1] > 0)
    counted = sizes[0] + sizes[1]
    if both.any() and 2 * counted[both].sum() >= counted.sum():
        return FrameLevel(signed_rank(means[0][:, both] - means[1][:, both]), "within", int(both.sum()))
    side_of_frame = np.where(sizes[0] > sizes[1], YES, np.where(sizes[1] > sizes[0], NO, NEITHER))
    kept = side_of_frame != NEITHER
    yes = side_of_frame[kept] == YES
    if not yes.any() or yes.all():
        return FrameLevel(np.full(len(scores), np.nan), "between", 0)
    value = np.where(side_of_frame == YES, means[0], means[1])[:, kept]
    return FrameLevel(mann_whitney(value, yes), "between", int(kept.sum()))
