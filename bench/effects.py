"""δ, Mann-Whitney and the clustered bootstrap of Table 2 compared with SciPy and NumPy: `python -m bench.effects`.

The popular way is a loop over SciPy: `scipy.stats.mannwhitneyu` for each cell, and `scipy.stats.bootstrap` of δ over
resampled texts, vectorised over the resamples and timed on a few of the 49 cells. An expert calls Mann-Whitney once a
factor with all models, draws how often each text is resampled, and computes the sums of all cells by one matrix
product. All estimate the same interval; bounds differ by chance, as two draws of ours do, whose difference is printed.
"""

from collections.abc import Callable

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from bench import harness
from trivium.measures.bootstrap import cluster_bootstrap
from trivium.measures.effects import mann_whitney, mean_differences

MODELS, FACTORS, EXAMPLES, TEXTS, RESAMPLES = 7, 7, 1821, 300, 10_000
SHARES = (0.42, 0.06, 0.37, 0.45, 0.12, 0.59, 0.46)  # shares of yes of the factors, from the paper
CONFIDENCE = 0.95
CLOSE = 1e-9  # tolerance of δ and p
CHANCE = 0.1  # largest difference between bounds of two draws, as a share of the median interval's width
PEER_CELLS = 5  # number of cells on which SciPy's bootstrap is timed
DOUBLE = 2  # products in float64 take twice those that `harness.limits` measures
WHY = "resamples are drawn in blocks that do not change them, so that memory stays flat"

Analysis = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def world(examples: int) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]:
    """Invent scores (models, examples) with many 0 and 1, factors (factors, examples), and the text of each example."""
    rng = np.random.default_rng(0)
    texts = np.sort(rng.integers(TEXTS, size=examples))
    factors = (rng.random((FACTORS, examples)) < np.resize(SHARES, FACTORS)[:, None]).astype(np.int8)
    latent = 0.8 + rng.normal(0, 0.1, TEXTS)[texts] - 0.05 * factors.sum(axis=0)
    return np.clip(latent + rng.normal(0, 0.4, (MODELS, examples)), 0, 1), factors, texts


def ours(scores: NDArray[np.float64], factors: NDArray[np.int8], texts: NDArray[np.int64], seed: int = 0) -> Analysis:
    """Compute δ, p, low and high of all cells."""
    p = np.stack([mann_whitney(scores, codes == 1) for codes in factors], axis=1)
    low, high = cluster_bootstrap(scores, factors, texts, resamples=RESAMPLES, confidence=CONFIDENCE, seed=seed)
    return mean_differences(scores, factors), p, low, high


def peer_p(scores: NDArray[np.float64], factors: NDArray[np.int8]) -> NDArray[np.float64]:
    """Compute p by SciPy's Mann-Whitney test, one call for each cell."""
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
    """Compute SciPy's percentile bootstrap of one cell, from the sums of its texts."""
    sums = [np.bincount(texts, weights=values, minlength=TEXTS) for values in (row * codes, codes, row * (1 - codes))]
    sums.append(np.bincount(texts, weights=1.0 - codes, minlength=TEXTS))

    def delta(yes: NDArray, yes_size: NDArray, no: NDArray, no_size: NDArray, axis: int) -> NDArray:
        return 100 * (yes.sum(axis) / yes_size.sum(axis) - no.sum(axis) / no_size.sum(axis))

    def interval() -> tuple[float, float]:
        resampled = scipy.stats.bootstrap(
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
        return float(resampled.low), float(resampled.high)

    return interval


def by_numpy(scores: NDArray[np.float64], factors: NDArray[np.int8], texts: NDArray[np.int64]) -> Analysis:
    """Compute all cells as an expert would."""
    yes = factors == 1
    p = np.stack(
        [scipy.stats.mannwhitneyu(scores[:, f], scores[:, ~f], axis=1, method="asymptotic")[1] for f in yes], 1
    )
    per_text = np.eye(TEXTS)[texts]  # (examples, texts)
    members = np.concatenate([yes, ~yes]).astype(np.float64)
    sums = np.einsum("me,fe,et->fmt", scores, members, per_text, optimize=True)
    sizes = members @ per_text
    drawn = np.random.default_rng(1).multinomial(TEXTS, np.full(TEXTS, 1 / TEXTS), size=RESAMPLES).astype(np.float64)

    def deltas(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        of_members = np.tensordot(weights, sums, (1, 2)) / (weights @ sizes.T)[..., None]
        return 100 * (of_members[:, :FACTORS] - of_members[:, FACTORS:]).swapaxes(1, 2)

    low, high = np.quantile(deltas(drawn), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return deltas(np.ones((1, TEXTS)))[0], p, low, high


def peak(examples: int) -> float:
    """Measure the peak memory of all cells, MiB."""
    return harness.peak_memory(cluster_bootstrap, *world(examples), resamples=RESAMPLES, confidence=CONFIDENCE, seed=0)


def peer_cell(scores: NDArray[np.float64], factors: NDArray[np.int8], texts: NDArray[np.int64]) -> None:
    """Compute one cell, to measure SciPy's memory: it holds one at a time."""
    peer_bootstrap(scores[0], factors[0], texts)()


def main() -> None:
    """Compare p and intervals, race, and measure memory as the examples grow ten times."""
    scores, factors, texts = world(EXAMPLES)
    delta, p, low, high = ours(scores, factors, texts)
    _, _, low_again, high_again = ours(scores, factors, texts, seed=2)
    experts = by_numpy(scores, factors, texts)
    np.testing.assert_allclose(experts[0], delta, rtol=0, atol=CLOSE)
    p_differences = [p - other for other in (peer_p(scores, factors), experts[1])]
    np.testing.assert_allclose(p_differences, 0, atol=CLOSE)
    cells = [(number % MODELS, number % FACTORS) for number in range(min(PEER_CELLS, MODELS * FACTORS))]

    def by_scipy() -> list[tuple[float, float]]:
        for row, column in cells:
            peer_p(scores[row : row + 1], factors[column : column + 1])
        return [peer_bootstrap(scores[row], factors[column], texts)() for row, column in cells]

    bounds = np.array(by_scipy()) - [(low[cell], high[cell]) for cell in cells]
    to_numpy, width = [low - experts[2], high - experts[3]], float(np.median(high - low))
    for differences in (bounds, to_numpy):
        np.testing.assert_allclose(differences, 0, atol=CHANCE * width)
    harness.write(
        "effects",
        {
            "models": MODELS,
            "factors": FACTORS,
            "examples": EXAMPLES,
            "texts": TEXTS,
            "resamples": RESAMPLES,
            "cells_of_scipy_bootstrap_timed": len(cells),
            "races": {
                f"{MODELS} × {FACTORS} cells, {EXAMPLES} questions, {RESAMPLES} resamples": harness.race(
                    lambda: ours(scores, factors, texts),
                    harness.Peer("SciPy, cell by cell", by_scipy, len(cells) / (MODELS * FACTORS)),
                    harness.Peer("NumPy, one product", lambda: by_numpy(scores, factors, texts)),
                    gflop=2e-9 * RESAMPLES * TEXTS * 2 * FACTORS * (MODELS + 1) * DOUBLE,
                    gigabytes=2e-9 * 8 * RESAMPLES * (TEXTS + 2 * FACTORS * (MODELS + 1)),
                    why=WHY,
                )
            },
            "largest_p_difference": float(np.abs(p_differences).max()),
            "largest_bound_difference": float(np.abs(bounds).max()),
            "largest_bound_difference_to_numpy": float(np.abs(to_numpy).max()),
            "largest_bound_difference_of_two_draws": float(
                max(np.abs(low - low_again).max(), np.abs(high - high_again).max())
            ),
            "median_width_of_intervals": width,
            "peak_mib": peak(EXAMPLES),
            "peak_mib_ten_times_the_examples": peak(10 * EXAMPLES),
            "scipy_mib": harness.peak_memory(peer_cell, scores, factors, texts),
            "scipy_mib_ten_times_the_examples": harness.peak_memory(peer_cell, *world(10 * EXAMPLES)),
            "versions": harness.versions("scipy", "numpy"),
        },
    )


if __name__ == "__main__":
    main()
