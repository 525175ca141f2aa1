"""Bootstrap intervals of many means over the same pictures: queries made from one picture are not independent."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray


class PictureBootstrap:
    """Draws of pictures with replacement, made once and used for every mean over queries of these pictures.

    With S_g the sum and n_g the number of the values of picture g, drawn w_g times: `mean* = Σ w_g S_g / Σ w_g n_g`
    (Cameron, Gelbach & Miller 2008, §II). Means over the same draws can be compared.

    Args:
        pictures: (queries,) the picture of each.
        confidence: in (0, 1), two-sided percentile intervals.
        resamples: draws.
        seed: of the draws.
    """

    def __init__(
        self, pictures: Sequence[int] | NDArray[np.int64], *, confidence: float, resamples: int, seed: int
    ) -> None:
        names, self._member = np.unique(np.asarray(pictures), return_inverse=True)
        self._bounds = [(1 - confidence) / 2, (1 + confidence) / 2]
        self._drawn = _draws(len(names), resamples, seed).astype(np.float32)

    def interval(self, values: ArrayLike) -> tuple[float, float] | None:
        """The interval of the mean of (queries,) values; those that are NaN are left out.

        Returns:
            (low, high), or None when the values come from fewer than two pictures.
        """
        values = np.asarray(values, dtype=np.float64)
        known = np.isfinite(values)
        width = self._drawn.shape[1]
        sizes = np.bincount(self._member[known], minlength=width).astype(np.float64)
        if (sizes > 0).sum() < 2:
            return None
        sums = np.bincount(self._member[known], weights=values[known], minlength=width)
        drawn = self._drawn @ sizes
        means = (self._drawn @ sums)[drawn > 0] / drawn[drawn > 0]  # a small subset may be missed by a draw
        low, high = np.quantile(means, self._bounds)
        return float(low), float(high)


@lru_cache(maxsize=8)  # the sets of one data set are asked again for each cell
def _draws(pictures: int, resamples: int, seed: int) -> NDArray[np.uint16]:
    """(resamples, pictures), how often each is drawn."""
    even = np.full(pictures, 1 / max(1, pictures))
    return np.random.default_rng(seed).multinomial(pictures, even, size=resamples).astype(np.uint16)
