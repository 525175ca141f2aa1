"""The mean of paired contrasts over facts and trainings, in one world or in several, with its error."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ContrastMean:
    """A mean with its standard error, in the unit of the contrasts.

    Attributes:
        value: the mean.
        error: its standard error.
        freedom: degrees of freedom of its t.
    """

    value: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Low and high, `value ∓ t · error`."""
        from scipy.special import stdtrit  # its import takes a fifth of a second

        half = float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return self.value - half, self.value + half


def mean_contrast(worlds: Sequence[NDArray[np.float64]]) -> ContrastMean:
    """The mean over worlds, which weigh alike, of the mean over facts and trainings.

    With W worlds, a world's variance `s_w²` over its F_w facts of their means over trainings, and the variance `s_t²`
    over all C cells (world × training) of their means over facts: `SE² = Σ_w s_w² / F_w / W² + s_t² / C`. What fact
    and training do together is in both terms, so that the error is rather too large. Degrees of freedom are
    Satterthwaite's, of F_w - 1 and C - 1. With a single cell nothing is known of other trainings, and s_t is 0.

    Args:
        worlds: (facts, trainings) each, without gaps.

    Raises:
        ValueError: a world with fewer than two facts, or with a value that is not finite.
    """
    for contrasts in worlds:
        if len(contrasts) < 2 or not np.isfinite(contrasts).all():
            raise ValueError(f"contrasts of shape {contrasts.shape}: two facts and finite values are needed")
    cells = np.concatenate([contrasts.mean(axis=0) for contrasts in worlds])
    terms = [
        (contrasts.mean(axis=1).var(ddof=1) / len(contrasts) / len(worlds) ** 2, len(contrasts) - 1)
        for contrasts in worlds
    ]
    if len(cells) > 1:
        terms.append((cells.var(ddof=1) / len(cells), len(cells) - 1))
    square = sum(variance for variance, _ in terms)
    spread = sum(variance**2 / freedom for variance, freedom in terms)
    freedom = square**2 / spread if spread else float(sum(freedom for _, freedom in terms))
    return ContrastMean(
        float(np.mean([contrasts.mean() for contrasts in worlds])), float(np.sqrt(square)), float(freedom)
    )
