"""The joint analysis: a score's regression on all factors and the answer element together (complexity.md §5).

Confounded factors show here: a factor whose δ comes from the mix of elements has no coefficient of its own. A factor
of whole frames is the exception: most elements' names belong to one frame, so that holding them fixed would hold the
factor fixed. Its coefficient comes from the regression without them, with errors clustered by frame.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.measures.effects import NEITHER, NO, YES

_COLLINEAR = 1e-8  # share of a column's variance that the others leave, below which it has no coefficient of its own
_INSIDE, _OUTSIDE = 0.9, 0.5  # a yes lies in another factor's uncounted examples: that share of it, less of its noes


class Joint(NamedTuple):
    """Coefficients of the factors, (models, factors), in points of 100; NaN where they cannot be told apart."""

    coefficient: NDArray[np.float64]  # points by which a yes changes the score, all else equal
    low: NDArray[np.float64]  # of the confidence interval, errors clustered by text; of a factor of frames by frame
    high: NDArray[np.float64]
    p: NDArray[np.float64]  # of 0, errors clustered so, two-sided t with (clusters - 1) degrees of freedom
    p_frame: NDArray[np.float64]  # the same with errors clustered by frame


def joint_regression(
    scores: NDArray[np.float64],
    factors: NDArray[np.int8],
    elements: ArrayLike,
    texts: ArrayLike,
    frames: ArrayLike,
    *,
    confidence: float,
) -> Joint:
    """Ordinary least squares of each model's scores: intercept, one dummy an answer element, one a factor.

    A factor's column is 1 for yes and 0 for no. An example in neither set of one factor still counts for the others,
    and a dummy for these examples (`uncounted_dummies`) keeps what is special about them out of that factor's
    coefficient. Factors that are constant in every frame (`of_frames`) take their coefficients from the regression
    without elements.

    Args:
        scores: (models, examples) in [0, 1]; `factors`: (factors, examples) of 1, 0, -1.
        elements, texts, frames: (examples,) names or numbers.
    """
    text, frame, element = (
        np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (texts, frames, elements)
    )
    among = _regression(scores, factors, element, text, frame, confidence)
    whole = of_frames(factors, frame)
    if not whole.any() or not element.any():
        return Joint(*among)
    alone = _regression(scores, factors, np.zeros_like(element), frame, frame, confidence)
    return Joint(*np.where(whole, alone, among))


def of_frames(factors: NDArray[np.int8], frames: ArrayLike) -> NDArray[np.bool_]:
    """(factors,) whether a factor says the same of all examples of a frame, in every frame, and not of all frames."""
    _, first, frame = np.unique(np.asarray(frames), return_index=True, return_inverse=True)
    same: NDArray[np.bool_] = (factors == factors[:, first[frame]]).all(axis=1)
    return same & (factors != factors[:, :1]).any(axis=1)


def _regression(
    scores: NDArray[np.float64],
    factors: NDArray[np.int8],
    elements: NDArray[np.intp],
    texts: NDArray[np.intp],
    frames: NDArray[np.intp],
    confidence: float,
) -> NDArray[np.float64]:
    """(5, models, factors): what `Joint` holds, with one dummy an element number.

    By Frisch, Waugh and Lovell every column and score is taken less its element's mean, and the dummies are gone. The
    covariance is Liang and Zeger's, (X'X)⁻¹ Σ_g X_g'e_g e_g'X_g (X'X)⁻¹ · G/(G - 1) · (n - 1)/(n - k) for G clusters,
    n examples, k columns with the dummies.
    """
    result = np.full((5, len(scores), len(factors)), np.nan)
    if not len(factors):
        return result
    raw = np.vstack([factors == YES, uncounted_dummies(factors).T]).astype(np.float64)
    column = _less_means(raw, elements)
    every = range(len(factors))
    apart = [at for at in every if _told_apart(raw[at], column[at], column[[other for other in every if other != at]])]
    kept = list(apart)
    for at in range(len(raw)):
        if at not in apart and _told_apart(raw[at], column[at], column[kept]):
            kept.append(at)
    design = column[kept]
    clusters, left = int(texts.max()) + 1, scores.shape[1] - len(kept) - int(elements.max()) - 1
    if not apart or clusters < 2 or left < 1:
        return result
    weights = np.linalg.solve(design @ design.T, design)  # (columns, examples): coefficients are weights @ scores
    values = _less_means(100 * scores, elements)
    coefficient = (weights @ values.T).T
    residual = values - coefficient @ design
    influence = residual[:, None] * weights[: len(apart)]  # (models, factors, examples)

    def error(groups: NDArray[np.intp], number: int) -> NDArray[np.float64]:
        order = np.argsort(groups, kind="stable")
        sums = np.add.reduceat(influence[:, :, order], np.searchsorted(groups[order], np.arange(number)), axis=2)
        corrected = number / (number - 1) * (scores.shape[1] - 1) / left
        deviation: NDArray[np.float64] = np.sqrt(corrected * (sums**2).sum(axis=2))
        return deviation

    from scipy.special import stdtr, stdtrit  # its import takes a fifth of a second

    estimate = coefficient[:, : len(apart)]
    by_text = error(texts, clusters)
    reach = stdtrit(clusters - 1, (1 + confidence) / 2) * by_text
    with np.errstate(divide="ignore", invalid="ignore"):  # equal scores: 0 / 0
        result[0][:, apart], result[1][:, apart], result[2][:, apart] = estimate, estimate - reach, estimate + reach
        result[3][:, apart] = 2 * stdtr(clusters - 1, -np.abs(estimate / by_text))
        if (number := int(frames.max()) + 1) > 1:
            result[4][:, apart] = 2 * stdtr(number - 1, -np.abs(estimate / error(frames, number)))
    return result


def uncounted_dummies(factors: NDArray[np.int8]) -> NDArray[np.float64]:
    """(examples, n) dummies of the examples that a factor counts in neither set, for each factor that has some.

    Where the yes of another factor lies in them by its nature (f1: without coreference resolved there is no path for
    f4), it is taken out: else that factor would be compared with the remaining uncounted examples alone.
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


def _less_means(rows: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """(rows, examples) of the values less the mean of their group."""
    size = np.bincount(groups)
    means = np.stack([np.bincount(groups, weights=row) / size for row in rows])
    return rows - means[:, groups]


def _told_apart(raw: NDArray[np.float64], column: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether a column is not a linear combination of others, both less means; `raw` is the column as it was."""
    left = column - np.linalg.lstsq(others.T, column, rcond=None)[0] @ others
    return bool(left @ left > _COLLINEAR * np.maximum(raw @ raw, 1.0))
