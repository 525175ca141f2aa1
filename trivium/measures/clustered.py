"""Bootstrap interval of a mean when values come in clusters, as questions about one text do."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_CHUNK_BYTES = 8 << 20


def clustered_interval(
    values: ArrayLike, clusters: Sequence[str] | NDArray, *, confidence: float, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile interval of the mean, whole clusters drawn with replacement (Cameron, Gelbach & Miller 2008, §II).

    With S_g the sum and n_g the size of cluster g, drawn w_g times: `mean* = Σ w_g S_g / Σ w_g n_g`.

    Args:
        values: (n,) finite.
        clusters: (n,) label of each value's cluster.
        confidence: in (0, 1), two-sided.
        resamples: draws, at least 1.
        seed: of the draws.

    Returns:
        (low, high): the (1 ∓ confidence) / 2 quantiles of the drawn means.

    Raises:
        ValueError: no value, not finite, different lengths, or confidence or resamples out of range.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"values should be a vector, not empty and finite, got shape {values.shape}")
    if len(clusters) != len(values):
        raise ValueError(f"{len(values)} values, but {len(clusters)} clusters")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence should be in (0, 1) and resamples ≥ 1, got {confidence} and {resamples}")
    labels, member = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(member, weights=values), np.bincount(member).astype(np.float64)
    rng = np.random.default_rng(seed)
    means = np.empty(resamples)
    chunk = max(1, _CHUNK_BYTES // (8 * len(labels)))
    even = np.full(len(labels), 1 / len(labels))
    for start in range(0, resamples, chunk):
        drawn = rng.multinomial(len(labels), even, size=min(chunk, resamples - start)).astype(np.float64)
        means[start : start + len(drawn)] = (drawn @ sums) / (drawn @ sizes)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
