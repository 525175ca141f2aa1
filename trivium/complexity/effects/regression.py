"""The joint analysis: a score's regression on all factors and the answer element together (complexity.md §5).

Confounded factors show here: a factor whose δ comes from the mix of elements has no coefficient of its own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from trivium.measures.effects import NEITHER, NO, YES

_COLLINEAR = 1e-8  # share of a column's variance that the others leave, below which it has no coefficient of its own
_INSIDE, _OUTSIDE = 0.9, 0.5  # a yes lies in another factor's uncounted examples: that share of it, less of its noes


@dataclass(frozen=True)
class Joint:
    """Coefficients of the factors, (models, factors), in points of 100; NaN where they cannot be told apart.

    Attributes:
        coefficient: points by which a yes changes the score, all else equal.
        low, high: confidence interval, errors clustered by text.
        p: of a coefficient of 0, errors clustered by text, two-sided t with (texts - 1) degrees of freedom.
        p_frame: the same with errors clustered by frame.
    """

    coefficient: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    p_frame: NDArray[np.float64]


def joint_regression(
    scores: NDArray[np.float64],
    factors: NDArray[np.int8],
    elements: NDArray[np.str_],
    texts: NDArray[np.str_],
    frames: NDArray[np.str_],
    *,
    confidence: float,
) -> Joint:
    """Ordinary least squares of each model's scores: intercept, one dummy an answer element, one a factor.

    A factor's column is 1 for yes and 0 for no. An example in neither set of some factor still speaks for the others,
    and a dummy for these examples (`uncounted`) keeps what is special about them out of that factor's coefficient.
    Coefficients and cluster-robust covariance are statsmodels'.

    Args:
        scores: (models, examples) in [0, 1].
        factors: (factors, examples) of 1, 0, -1.
        elements, texts, frames: (examples,) names.
        confidence: of the interval.
    """
    import statsmodels.api as sm

    columns = (factors == YES).astype(np.float64).T
    names, element = np.unique(elements, return_inverse=True)
    dummies = np.eye(len(names))[element][:, 1:]
    design = np.hstack([np.ones((len(columns), 1)), dummies, columns])
    at = design.shape[1] - len(factors) + np.arange(len(factors))
    told = np.array([_told_apart(design, column) for column in at])
    design, at = _independent(design, at[told]), np.arange(told.sum())
    for column in uncounted(factors).T:
        wider = np.column_stack([design, column])
        design = wider if _told_apart(wider, design.shape[1]) else design
    shape = (len(scores), len(factors))
    coefficient, low, high, p, p_frame = np.full((5, *shape), np.nan)
    groups = [np.unique(labels, return_inverse=True)[1] for labels in (texts, frames)]
    clusters = [group.max() + 1 for group in groups]
    if not told.any() or clusters[0] < 2 or len(design) <= design.shape[1]:
        return Joint(coefficient, low, high, p, p_frame)
    with np.errstate(invalid="ignore"):  # few examples: a variance of 0 may come out below it
        for row, values in enumerate(scores):
            plain = sm.OLS(100 * values, design).fit()
            robust = plain.get_robustcov_results("cluster", groups=groups[0], use_t=True)
            coefficient[row, told] = robust.params[at]
            low[row, told], high[row, told] = robust.conf_int(alpha=1 - confidence)[at].T
            p[row, told] = robust.pvalues[at]
            if clusters[1] > 1:
                by_frame = plain.get_robustcov_results("cluster", groups=groups[1], use_t=True)
                p_frame[row, told] = by_frame.pvalues[at]
    return Joint(coefficient, low, high, p, p_frame)


def uncounted(factors: NDArray[np.int8]) -> NDArray[np.float64]:
    """(examples, n) dummies of the examples that a factor counts in neither set, for each factor that has some.

    Where the yes of another factor lies in them by its nature (f1: without coreference resolved there is no path for
    f4), it is taken out: else that factor would be compared with the remaining uncounted examples alone.

    Args:
        factors: (factors, examples) of 1, 0, -1.
    """
    columns = []
    for codes in factors:
        column = codes == NEITHER
        for other in factors:
            yes, no = column[other == YES], column[other == NO]
            if yes.size and no.size and yes.mean() >= _INSIDE and no.mean() < _OUTSIDE:
                column = column & (other != YES)
        if column.any():
            columns.append(column.astype(np.float64))
    return np.stack(columns, axis=1) if columns else np.empty((factors.shape[1], 0))


def _independent(design: NDArray[np.float64], at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The columns `at`, which no others make up, then as many of the others as make up all of them."""
    others = np.delete(design, at, axis=1)
    triangle, pivots = qr(others, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    kept = np.sort(pivots[: int((size > np.sqrt(_COLLINEAR) * size[0]).sum())])
    return np.hstack([design[:, at], others[:, kept]])


def _told_apart(design: NDArray[np.float64], column: int) -> bool:
    """Whether a column is not a linear combination of the others (which a constant one is, of the intercept)."""
    values, others = design[:, column], np.delete(design, column, axis=1)
    left = values - others @ np.linalg.lstsq(others, values, rcond=None)[0]
    return bool(left @ left > _COLLINEAR * np.maximum(values @ values, 1.0))
