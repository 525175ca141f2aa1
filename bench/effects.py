"""δ, Mann-Whitney and the clustered bootstrap of Table 2 against a loop over SciPy: `python -m bench.effects`.

The peer is what one would write with SciPy: cell by cell `scipy.stats.mannwhitneyu`, and `scipy.stats.bootstrap` of the
same statistic, δ of resampled texts, vectorised over the resamples. Its bootstrap is timed on a few cells and
scaled to all 49. Both estimate the same interval: the bounds differ by chance, and the difference of two draws of
ours is printed beside.
"""

from collections.abc import Callable

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from bench import harness
from trivium.measures.cluster_bootstrap import cluster_bootstrap
from trivium.measures.effects import mean_differences
from trivium.measures.mann_whitney import mann_whitney

MODELS, FACTORS, EXAMPLES, TEXTS, RESAMPLES = 7, 7, 1821, 300, 10_000
SHARES = (0.42, 0.06, 0.37, 0.45, 0.12, 0.59, 0.46)  # of yes, the paper's
CONFIDENCE = 0.95
PEER_CELLS = 5  # how many of the cells SciPy's bootstrap is timed on

Analysis = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def world(examples: int) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]:
    """Scores (models, examples) with many 0 and 1, factors (factors, examples), text of each example."""
    rng = np.random.default_rng(0)
    texts = np.sort(rng.integers(TEXTS, size=examples))
    factors = (rng.random((FACTORS, examples)) < np.resize(SHARES, FACTORS)[:, None]).astype(np.int8)
    latent = 0.8 + rng.normal(0, 0.1, TEXTS)[texts] - 0.05 * factors.sum(axis=0)
    return np.clip(latent + rng.normal(0, 0.4, (MODELS, examples)), 0, 1), factors, texts


def ours(scores: NDArray[np.float64], factors: NDArray[np.int8], texts: NDArray[np.int64], seed: int = 0) -> Analysis:
    """δ, p, low and high of all cells."""
    p = np.stack([mann_whitney(scores, codes == 1) for codes in factors], axis=1)
    low, high = cluster_bootstrap(scores, factors, texts, resamples=RESAMPLES, confidence=CONFIDENCE, seed=seed)
    return mean_differences(scores, factors), p, low, high


def peer_p(scores: NDArray[np.float64], factors: NDArray[np.int8]) -> NDArray[np.float64]:
    """Mann-Whitney, a call a cell."""
    return np.array(
        [
            [
                scipy.stats.mannwhitneyu(row[codes == 1], row[codes == 0], method="asymptotic").pvalue
                for codes in factors
            ]
            for row in scores
        ]
    )


def peer_bootstrap(
    row: NDArray[np.float64], codes: NDArray[np.int8], texts: NDArray[np.int64]
) -> Callable[[], tuple[float, float]]:
    """SciPy's percentile bootstrap of one cell, over its texts' sums."""
    sums = [np.bincount(texts, weights=values, minlength=TEXTS) for values in (row * codes, codes, row * (1 - codes))]
    sums.append(np.bincount(texts, weights=1.0 - codes, minlength=TEXTS))

    def delta(yes: NDArray, yes_size: NDArray, no: NDArray, no_size: NDArray, axis: int) -> NDArray:
        return 100 * (yes.sum(axis) / yes_size.sum(axis) - no.sum(axis) / no_size.sum(axis))

    def interval() -> tuple[float, float]:
        found = scipy.stats.bootstrap(
            sums,
            delta,
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=1000,  # all at once would take a gigabyte
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(1),
        ).confidence_interval
        return float(found.low), float(found.high)

    return interval


def peak(examples: int) -> float:
    """Peak memory of all cells, MiB."""
    return harness.peak_memory(cluster_bootstrap, *world(examples), resamples=RESAMPLES, confidence=CONFIDENCE, seed=0)


def peer_cell(scores: NDArray[np.float64], factors: NDArray[np.int8], texts: NDArray[np.int64]) -> None:
    """What SciPy's memory is measured on: one cell, as it holds one at a time."""
    peer_bootstrap(scores[0], factors[0], texts)()


def main() -> None:
    """Time both, compare p and intervals, and measure memory as the examples grow ten times."""
    scores, factors, texts = world(EXAMPLES)
    _, p, low, high = ours(scores, factors, texts)
    _, _, low_again, high_again = ours(scores, factors, texts, seed=2)
    seconds = harness.measure(lambda: ours(scores, factors, texts), repeats=5)
    their_p = peer_p(scores, factors)
    their_seconds = harness.measure(lambda: peer_p(scores, factors), repeats=3)

    cells = [(number % MODELS, number % FACTORS) for number in range(min(PEER_CELLS, MODELS * FACTORS))]
    each, differences = [], []
    for row, column in cells:
        bootstrap = peer_bootstrap(scores[row], factors[column], texts)
        bounds = bootstrap()
        differences += [abs(bounds[0] - low[row, column]), abs(bounds[1] - high[row, column])]
        each.append(harness.once(bootstrap))
    their_seconds += float(np.mean(each)) * MODELS * FACTORS
    harness.write(
        "effects",
        {
            "models": MODELS,
            "factors": FACTORS,
            "examples": EXAMPLES,
            "texts": TEXTS,
            "resamples": RESAMPLES,
            "seconds": seconds,
            "seconds_of_scipy_scaled": their_seconds,
            "cells_of_scipy_bootstrap_timed": len(cells),
            "times_faster": their_seconds / seconds,
            "largest_p_difference": float(np.abs(p - their_p).max()),
            "largest_bound_difference": float(max(differences)),
            "largest_bound_difference_of_two_draws": float(
                max(np.abs(low - low_again).max(), np.abs(high - high_again).max())
            ),
            "median_width_of_intervals": float(np.median(high - low)),
            "peak_mib": peak(EXAMPLES),
            "peak_mib_ten_times_the_examples": peak(10 * EXAMPLES),
            "scipy_mib": harness.peak_memory(peer_cell, scores, factors, texts),
            "scipy_mib_ten_times_the_examples": harness.peak_memory(peer_cell, *world(10 * EXAMPLES)),
            "versions": harness.versions("scipy", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
