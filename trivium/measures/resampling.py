"""How often a bootstrap's resamples draw each item."""

import numpy as np
from numpy.typing import NDArray


def times_drawn(rng: np.random.Generator, items: int, resamples: int) -> NDArray[np.int64]:
    """(resamples, items): each resample draws as many items as there are, with replacement.

    Drawing items and counting them is several times faster than `rng.multinomial`, which draws every count.
    """
    drawn = rng.integers(items, size=(resamples, items)) + items * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * items).reshape(resamples, items)
