"""The captions nearest to a query, out of all captions of a data set (decorrelation.md §3)."""

from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.vision.neighbours import Ids, Scores, exact_search


def top_captions(queries: NDArray, gallery: NDArray, k: int) -> tuple[Scores, Ids]:
    """The k captions of largest inner product with each query, exactly; equal scores by lower row.

    With rows in the order of caption ids, ties go to the lower id. The result does not depend on how the search is cut.

    Args:
        queries: (queries, width) float, of unit length for the cosine.
        gallery: (captions, width) float, may be memory-mapped float16.
        k: captions a query.

    Returns:
        scores (queries, k) float32, highest first, and rows (queries, k) int64.

    Raises:
        BadInput: k larger than the gallery or below 1, widths that differ, or a vector that is not finite.
    """
    if not 1 <= k <= len(gallery):
        raise BadInput("more captions asked for than there are", field="k", got=k, expected=f"1 to {len(gallery)}")
    return exact_search(queries, gallery, k)
