"""δ with errors by cluster, of every model and factor, beside two peers: `python -m bench.clustered_difference`.

As `trivium difficulty` asks for it: scores of some models, yes, no or unknown of some factors, articles as clusters.
The popular way is statsmodels' regression on the factor with clustered errors, cell by cell; it fits the first
`FITTED` models. An expert sums weighted scores over the clusters of all cells at once, by one sparse product.
"""

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import sparse

from bench import harness
from trivium.measures.effects import clustered_difference

MODELS, FACTORS, QUESTIONS, CLUSTERS = 10, 6, 50_000, 1_000
FITTED = 2
CLOSE = 1e-9  # as a share
WHY = "residuals are formed before a cluster's are summed, which keeps the digits that a difference of sums loses"

World = tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.int64]]
Effects = tuple[NDArray[np.float64], NDArray[np.float64]]  # δ and its standard error, (models, factors)


def world() -> World:
    """Scores with many 0 and 1, factors of which a tenth is unknown, and clusters that differ."""
    rng = np.random.default_rng(0)
    clusters = np.sort(rng.integers(CLUSTERS, size=QUESTIONS))
    factors = rng.choice([-1, 0, 1], (FACTORS, QUESTIONS), p=[0.1, 0.6, 0.3]).astype(np.int8)
    latent = 0.6 + rng.normal(0, 0.2, CLUSTERS)[clusters] - 0.05 * factors.sum(axis=0)
    return np.clip(latent + rng.normal(0, 0.4, (MODELS, QUESTIONS)), 0, 1), factors, clusters


def ours(scores: NDArray[np.float64], factors: NDArray[np.int8], clusters: NDArray[np.int64]) -> Effects:
    """By us."""
    found = clustered_difference(scores, factors, clusters)
    return found.delta, found.standard_error


def by_statsmodels(scores: NDArray[np.float64], factors: NDArray[np.int8], clusters: NDArray[np.int64]) -> Effects:
    """A regression a cell."""
    cells = []
    for row in scores:
        for codes in factors:
            known = codes >= 0
            model = sm.OLS(100 * row[known], sm.add_constant(codes[known].astype(float)))
            fit = model.fit(cov_type="cluster", cov_kwds={"groups": clusters[known]})
            cells.append((fit.params[1], fit.bse[1]))
    delta, error = np.array(cells).T.reshape(2, len(scores), len(factors))
    return delta, error


def by_product(scores: NDArray[np.float64], factors: NDArray[np.int8], clusters: NDArray[np.int64]) -> Effects:
    """All cells as an expert would write them."""
    per_cluster = sparse.csr_array((np.ones(len(clusters)), (clusters, np.arange(len(clusters)))))
    sides = np.concatenate([factors == 1, factors == 0]).astype(float)  # (2 · factors, questions)
    sizes, members = sides.sum(axis=1), (per_cluster @ sides.T)[..., None]
    sums = np.stack([per_cluster @ (sides * (100 * row)).T for row in scores], axis=2)  # (clusters, sides, models)
    means = sums.sum(axis=0) / sizes[:, None]
    yes, no = np.split((sums - members * means) / sizes[:, None], 2, axis=1)
    asked = sizes[: len(factors)] + sizes[len(factors) :]
    there = (members[:, : len(factors)] + members[:, len(factors) :] > 0).sum(axis=(0, 2))
    factor = there / (there - 1) * (asked - 1) / (asked - 2)
    delta = means[: len(factors)] - means[len(factors) :]
    return delta.T, np.sqrt(factor * ((yes - no) ** 2).sum(axis=0).T)


def main() -> None:
    """Race, after all three have given the same effects and errors."""
    scores, factors, clusters = world()
    few = min(FITTED, len(scores))
    found = ours(scores, factors, clusters)
    for mine, fitted, expert in zip(
        found, by_statsmodels(scores[:few], factors, clusters), by_product(scores, factors, clusters), strict=True
    ):
        np.testing.assert_allclose(fitted, mine[:few], rtol=CLOSE)
        np.testing.assert_allclose(expert, mine, rtol=CLOSE)
    harness.write(
        "clustered_difference",
        {
            "models": MODELS,
            "factors": FACTORS,
            "questions": QUESTIONS,
            "clusters": CLUSTERS,
            "models_of_statsmodels_timed": few,
            "races": {
                f"{MODELS} × {FACTORS} cells, {QUESTIONS} questions, {CLUSTERS} clusters": harness.race(
                    lambda: ours(scores, factors, clusters),
                    harness.Peer("statsmodels", lambda: by_statsmodels(scores[:few], factors, clusters), few / MODELS),
                    harness.Peer("SciPy, one sparse product", lambda: by_product(scores, factors, clusters)),
                    gigabytes=1e-9 * (scores.nbytes + factors.nbytes + clusters.nbytes),
                    why=WHY,
                )
            },
            "versions": harness.versions("numpy", "scipy", "statsmodels"),
        },
    )


if __name__ == "__main__":
    main()
