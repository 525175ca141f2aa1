"""Hubness: are the same few neighbours retrieved for everything? (decorrelation.md §5 on prompts)"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def k_occurrences(neighbours: ArrayLike, size: int) -> NDArray[np.int64]:
    """N_k: how often each of `size` gallery items is among the k nearest of a query (Radovanović et al. 2010, §2).

    Args:
        neighbours: rows of the gallery, those of all queries, in any shape.
        size: of the gallery.

    Returns:
        (size,) counts.

    Raises:
        ValueError: a row that the gallery does not have, or an empty gallery.
    """
    rows = np.asarray(neighbours, dtype=np.int64).ravel()
    if size < 1 or (rows.size and not 0 <= rows.min() <= rows.max() < size):
        raise ValueError(f"neighbours should be rows of a gallery of {size} items")
    return np.bincount(rows, minlength=size)


def occurrence_skew(neighbours: ArrayLike, size: int) -> float:
    """S_{N_k} = E[(N_k - μ)³] / σ³, the skewness of N_k over the gallery; hubs make it large.

    It grows with the gallery, most of which is never retrieved: compare systems on the same one. 0 when all items
    occur equally often.

    Args:
        neighbours, size: as `k_occurrences`.
    """
    counts = k_occurrences(neighbours, size).astype(np.float64)
    deviation = counts - counts.mean()
    variance = (deviation**2).mean()
    return float((deviation**3).mean() / variance**1.5) if variance > 0 else 0.0
