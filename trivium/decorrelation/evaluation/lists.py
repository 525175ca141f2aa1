"""The files of stage retrieve, judged: what the sentences retrieved for each query name (decorrelation.md §3)."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.decorrelation.evaluation.queries import Gallery, Queries
from trivium.measures.odmap import names_any, odmap, removed_named
from trivium.measures.recall import recall

CUTOFFS = (1, 5, 10)
ODMAP = tuple(f"odmap@{k}" for k in CUTOFFS)
RECALL = tuple(f"r@{k}" for k in CUTOFFS)
NAMED = ("removed_named", "absent_named")  # by the first sentence


def read_lists(file: Path, gallery: int) -> tuple[list[str], NDArray[np.int64]]:
    """Read the sentences of every query.

    Args:
        file: `query` and `captions`.
        gallery: captions there are.

    Returns:
        The queries and (queries, depth) caption ids, best first.

    Raises:
        BadInput: no query, lists of different lengths, or shorter than the largest cut-off.
    """
    table = read_table(file, ["query", "captions"])
    lists = table["captions"].combine_chunks()
    lengths = np.unique(lists.value_lengths().to_numpy(zero_copy_only=False))
    if len(lengths) != 1:
        raise BadInput("lists of different lengths, or no list", file=file, field="captions", got=lengths.tolist())
    depth = int(lengths[0])
    if depth < max(CUTOFFS):
        expected = f"at least {max(CUTOFFS)} for ODmAP@{max(CUTOFFS)}; the gallery holds {gallery} captions"
        raise BadInput("lists too short", file=file, field="captions", got=depth, expected=expected)
    return table["query"].to_pylist(), lists.flatten().to_numpy().reshape(-1, depth)


def read_ranks(file: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read (queries, ranks), ranks from 1.

    Raises:
        BadInput: no query, one twice, or a rank below 1.
    """
    table = read_table(file, ["query", "rank"])
    queries, ranks = (table[name].to_numpy().astype(np.int64) for name in ("query", "rank"))
    if not len(queries) or len(np.unique(queries)) < len(queries):
        raise BadInput("no query, or one twice", file=file, field="query")
    if ranks.min() < 1:
        raise BadInput("not a rank", file=file, field="rank", got=int(ranks.min()), expected="1 for the best")
    return queries, ranks


def judge(
    gallery: Gallery, queries: Queries, captions: NDArray[np.int64], file: Path
) -> dict[str, NDArray[np.float64]]:
    """Values of every query.

    A sentence is correct when it names none of the removed classes and at least one that is present. Of original
    pictures nothing is removed: there ODmAP is the precision of the classes named.

    Args:
        gallery: of the data set.
        queries: in the order of the lists.
        captions: (queries, depth) ids.
        file: that they come from.

    Returns:
        {measure: (queries,)}: `odmap@k`; `absent_named`, whether the first sentence names any class that is not in the
        picture; and where classes were removed `removed_named`, whether it names one of those.
    """
    best = captions[:, : max(CUTOFFS)]
    ranked = gallery.rows(best.ravel(), file).reshape(best.shape)
    by_cutoff = odmap(ranked, gallery.names, queries.removed, queries.present, CUTOFFS)
    values = {f"odmap@{k}": each for k, each in by_cutoff.items()}
    absent = ~queries.present
    values["absent_named"] = names_any(ranked[:, :1], gallery.names, absent)[:, 0].astype(np.float64)
    if queries.removed.any():
        values["removed_named"] = removed_named(ranked, gallery.names, queries.removed).astype(np.float64)
    return values


def recalls(ranks: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """{`r@k`: (queries,) whether the first own one is among the best k}."""
    return {f"r@{k}": recall(ranks, k) for k in CUTOFFS}
