"""How much annotators, labels or models agree: Fleiss' κ, Cramér's V, rank correlations and overlap of what is hard."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def fleiss_kappa(counts: ArrayLike) -> float | None:
    """κ = (P̄ - P̄ₑ) / (1 - P̄ₑ) (Fleiss 1971), also where items have different numbers of annotators.

    With n_ij annotators of item i in category j, n_i = Σ_j n_ij ≥ 2 and N items:
    `P_i = Σ_j n_ij (n_ij - 1) / (n_i (n_i - 1))`, `P̄ = Σ_i P_i / N`, `p_j = Σ_i (n_ij / n_i) / N`, `P̄ₑ = Σ_j p_j²`.
    With equal n_i this is Fleiss' own formula; else every item weighs the same (Gwet 2014, §2.5). An item with fewer
    than two annotators says nothing about agreement and is left out. `counts` are (items, categories) whole numbers.
    Returns κ in [-1, 1]; None where it is not defined: no item with two annotators, or only one category ever chosen.
    """
    matrix = np.asarray(counts, dtype=np.float64)
    annotators = matrix.sum(axis=1, keepdims=True)
    kept = annotators[:, 0] >= 2
    matrix, annotators = matrix[kept], annotators[kept]
    if not len(matrix):
        return None
    observed = float(((matrix * (matrix - 1)).sum(axis=1) / (annotators * (annotators - 1))[:, 0]).mean())
    shares = (matrix / annotators).mean(axis=0)
    if (shares > 0).sum() == 1:
        return None
    expected = float((shares**2).sum())
    return (observed - expected) / (1 - expected)


def cramers_v(first: Sequence[object], second: Sequence[object], *, corrected: bool = False) -> float | None:
    """Cramér's V = √(φ² / min(r - 1, c - 1)), φ² = χ² / n of the r × c table of both: 0 independent, 1 determined.

    Kinds of few examples give a V far above 0 by chance alone. Corrected (Bergsma 2013), it is
    `√(max(0, φ² - (r - 1)(c - 1) / (n - 1)) / (min(r', c') - 1))` with r' = r - (r - 1)² / (n - 1), c' likewise.
    Returns V in [0, 1]; None when one of the two has a single kind, or, corrected, as many as there are examples.
    """
    from scipy.stats.contingency import chi2_contingency, crosstab  # their import takes half a second

    table = crosstab(*([str(value) for value in kinds] for kinds in (first, second))).count
    if min(table.shape) < 2:
        return None
    n = table.sum()
    phi_squared = float(chi2_contingency(table, correction=False).statistic / n)
    if not corrected:
        return float(np.sqrt(phi_squared / (min(table.shape) - 1)))
    r, c = table.shape
    kinds = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1))
    if kinds <= 1:
        return None
    phi_squared = max(0.0, phi_squared - (r - 1) * (c - 1) / (n - 1))
    return float(min(1.0, np.sqrt(phi_squared / (kinds - 1))))


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
        means = {"concordance": self.concordance}
        for name, matrix in matrices.items():
            pairs = matrix[np.triu_indices(len(matrix), k=1)]
            known = pairs[~np.isnan(pairs)]
            means[name] = float(known.mean()) if len(known) else np.nan
        return means


def hardness_agreement(scores: ArrayLike) -> HardnessAgreement:
    """Compare models by which examples they find hard; `scores` are (models, examples).

    W = (12 Σ R_i² - 3m²n(n + 1)²) / (m²(n³ - n) - m Σ T_j) with R_i the rank sum of example i and T_j = Σ(t³ - t) over
    groups of t ties.
    """
    from scipy.stats import kendalltau, rankdata  # its import takes half a second

    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("scores should be finite")
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
