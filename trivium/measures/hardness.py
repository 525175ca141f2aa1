"""Do models agree on which examples are hard? Rank correlations, concordance, overlap of the hardest quarter."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class HardnessAgreement:
    """Agreement of m models over the same examples; matrices are (m, m), symmetric, NaN where a model is constant.

    Attributes:
        spearman, kendall: rank correlations of the scores (ρ and τ_b, both with ties).
        overlap: share of the examples hard for either model that are hard for both (Jaccard).
        kappa: Cohen's κ of "hard": a score within the model's lowest quarter, ties included.
        concordance: Kendall's W of all models, tie-corrected, in [0, 1]; NaN when all are constant.
    """

    spearman: NDArray[np.float64]
    kendall: NDArray[np.float64]
    overlap: NDArray[np.float64]
    kappa: NDArray[np.float64]
    concordance: float

    def means(self) -> dict[str, float]:
        """`concordance`, and each matrix's mean over the pairs of models; NaN where no pair has a value."""
        matrices = {
            "mean_spearman": self.spearman,
            "mean_kendall": self.kendall,
            "mean_hardest_overlap": self.overlap,
            "mean_hardest_kappa": self.kappa,
        }
        pairs = {name: matrix[np.triu_indices(len(matrix), k=1)] for name, matrix in matrices.items()}
        return {
            "concordance": self.concordance,
            **{
                name: float(each[~np.isnan(each)].mean()) if not np.isnan(each).all() else np.nan
                for name, each in pairs.items()
            },
        }


def hardness_agreement(scores: ArrayLike) -> HardnessAgreement:
    """Compare models by which examples they find hard.

    W = (12 Σ R_i² - 3m²n(n + 1)²) / (m²(n³ - n) - m Σ T_j) with R_i the rank sum of example i and T_j = Σ(t³ - t) over
    groups of t ties.

    Args:
        scores: (models, examples).

    Raises:
        ValueError: not finite, or no examples.
    """
    from scipy.stats import kendalltau, rankdata  # its import takes half a second

    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] == 0 or not np.isfinite(scores).all():
        raise ValueError(f"scores should be a matrix of finite numbers with columns, got shape {scores.shape}")
    ranks = rankdata(scores, axis=1)
    tied = [np.unique(row, return_counts=True)[1].astype(np.float64) for row in scores]
    m, n = scores.shape
    sums = ranks.sum(axis=0)
    possible = m * m * (n**3 - n) - m * sum((t**3 - t).sum() for t in tied)
    concordance = (12 * (sums**2).sum() - 3 * m * m * n * (n + 1) ** 2) / possible if possible > 0 else np.nan

    centred = ranks - ranks.mean(axis=1, keepdims=True)
    norm = np.sqrt((centred**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        spearman = centred @ centred.T / np.outer(norm, norm)
    hard = scores <= np.quantile(scores, 0.25, axis=1, method="lower", keepdims=True)
    # An easy corpus: when the lower quartile is the top score, ties would make every example hard.
    hard &= scores < scores.max(axis=1, keepdims=True)
    counts = hard.astype(np.float64)
    both = counts @ counts.T
    size = counts.sum(axis=1)
    either = size[:, None] + size - both
    agreed = (n - either + both) / n
    chance = (np.outer(size, size) + np.outer(n - size, n - size)) / n**2
    kendall = np.full((m, m), np.nan)
    varies = np.flatnonzero(norm)
    kendall[varies, varies] = 1.0
    for a, b in combinations(varies, 2):
        kendall[a, b] = kendall[b, a] = kendalltau(scores[a], scores[b]).statistic
    with np.errstate(invalid="ignore"):
        return HardnessAgreement(
            spearman=spearman,
            kendall=kendall,
            overlap=np.where(either > 0, both / either, np.nan),
            kappa=np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan),
            concordance=float(concordance),
        )
