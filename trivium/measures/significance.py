"""Tests of differences: randomization test, Holm's correction, intervals of means."""

import string

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trivium.core.errors import BadInput

_CHUNK_BYTES = 4 << 20  # what the signs of one chunk may take: stays in cache, whatever the number of queries


def fisher_randomization(values: ArrayLike, *, permutations: int = 100_000, seed: int = 0) -> NDArray[np.float64]:
    """Fisher's two-sided paired randomization test on every pair of systems.

    Under the null hypothesis a query's two values could have been swapped, so its difference has either sign with
    probability 1/2. With signs s and differences d, p is the share of sign vectors with |Σ s_q d_q| ≥ |Σ d_q| (ties
    count, up to rounding). With 2ⁿ ≤ `permutations` all are enumerated and p is exact; else they are drawn and
    p = (count + 1) / (permutations + 1), the observed one included, so that the test keeps its level (Smucker et al.
    2007; Phipson & Smyth 2010). The pairs share their signs: Σ s (x_a - x_b) = Σ s x_a - Σ s x_b, one matrix
    product for all pairs. `ValueError`: not two-dimensional, no query, not finite, or permutations < 1. Returns
    (systems, systems) symmetric p-values of (systems, queries) values of one measure, 1 on the diagonal.
    """
    values = _finite(values, dimensions=2)
    if permutations < 1:
        raise ValueError(f"permutations should be at least 1, got {permutations}")
    systems, queries = values.shape
    left, right = np.triu_indices(systems, k=1)
    totals = values.sum(axis=1)
    # Sums of the same terms in another order differ by rounding: without a margin half of the ties would be lost.
    margin = 1e-12 * np.abs(values).sum(axis=1)
    observed = np.abs(totals[left] - totals[right]) - (margin[left] + margin[right])

    exact = queries < 63 and 2**queries <= permutations
    total = 2**queries if exact else permutations
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_BYTES // (8 * queries))
    count = np.zeros(len(left), dtype=np.int64)
    for start in range(0, total, chunk):
        size = min(chunk, total - start)
        bits = _all_bits(start, size, queries) if exact else _random_bits(rng, size, queries)
        # A sign is 1 - 2 bit, hence Σ s x = Σ x - 2 Σ bit x.
        signed = totals - 2.0 * (bits.astype(np.float64) @ values.T)
        count += (np.abs(signed[:, left] - signed[:, right]) >= observed).sum(axis=0)

    p = np.ones((systems, systems))
    p[left, right] = p[right, left] = count / total if exact else (count + 1) / (total + 1)
    return p


def superscripts(values: ArrayLike, p: ArrayLike, *, level: float = 0.01) -> list[str]:
    """For each system the letters of those that it beats: a higher mean, with p ≤ level.

    Systems are lettered a, b, c, … in their order. Values are (systems, queries) of one measure, p (systems, systems)
    of `fisher_randomization`. `BadInput`: more systems than letters.
    """
    mean = _finite(values, dimensions=2).mean(axis=1)
    if len(mean) > len(string.ascii_lowercase):
        raise BadInput("more systems than letters", got=len(mean), expected="at most 26 in a table, with brought runs")
    beats = (mean[:, None] > mean) & (np.asarray(p) <= level)
    return ["".join(string.ascii_lowercase[other] for other in np.flatnonzero(row)) for row in beats]


def bootstrap_interval(
    values: ArrayLike, *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap confidence interval of the mean of (n,) values (Efron & Tibshirani 1993, §13.3).

    Low and high are the (1 ∓ confidence) / 2 quantiles of the means of samples of n values with replacement.
    `ValueError`: no value, not finite, confidence outside (0, 1), or resamples < 1.
    """
    values = _finite(values, dimensions=1)
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence should be in (0, 1) and resamples ≥ 1, got {confidence} and {resamples}")
    rng = np.random.default_rng(seed)
    chunk = max(1, _CHUNK_BYTES // (8 * len(values)))
    means = np.empty(resamples)
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        means[start : start + size] = values[rng.integers(len(values), size=(size, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _finite(values: ArrayLike, *, dimensions: int) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"values should be {dimensions}-dimensional, not empty and finite, got shape {array.shape}")
    return array


def _random_bits(rng: np.random.Generator, size: int, queries: int) -> NDArray[np.uint8]:
    """(size, queries) fair bits; the stream of bits does not depend on how it is cut into chunks."""
    width = 4 * -(-queries // 32)  # the generator yields 4 bytes at a time and would drop the rest
    return np.unpackbits(np.frombuffer(rng.bytes(size * width), np.uint8).reshape(size, width), axis=1, count=queries)


def _all_bits(start: int, size: int, queries: int) -> NDArray[np.uint8]:
    """The binary digits of start, …, start + size - 1."""
    numbers = np.arange(start, start + size, dtype=np.int64)
    return (numbers[:, None] >> np.arange(queries) & 1).astype(np.uint8)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction (1979) of a table of tests: the chance of any false alarm among them is at most the level.

    p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) p_(j)) of the m tests that have a p, which rise with i. The result has the
    shape of `p`, whatever it is; NaN, where there is no test, stays.
    """
    adjusted = np.full_like(p, np.nan)
    is_tested = ~np.isnan(p)
    values = p[is_tested]
    order = np.argsort(values)
    rising = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    values[order] = np.minimum(rising, 1)
    adjusted[is_tested] = values
    return adjusted
