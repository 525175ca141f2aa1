"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. The weights that the
fused runs were made with stand in `params.yaml`; this stage says whether they are the optimum and what is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.kvqae.retrieval.fusion import RECORD
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import WeightSearch, mean_reciprocal_ranks, search_weights


@dataclass(frozen=True)
class Tuned:
    """One row's search over its systems, and how the weights in use compare."""

    systems: tuple[str, ...]
    search: WeightSearch
    used_value: float

    @property
    def used_is_best(self) -> bool:
        """No weighting of the grid does better than the weights in use."""
        return self.used_value >= float(self.search.values.max()) - 1e-12


def tune(runs: Mapping[str, Run], qrels: Qrels, used: Mapping[str, float], *, step: float, depth: int) -> Tuned:
    """Search one row's weights; the weights in use are measured beside the grid, on or off which they may be.

    Args:
        runs: of each system, over the questions of the qrels.
        qrels: of the validation split.
        used: the weight in use of each of the row's systems.
        step: of the grid.
        depth: of the fused run.
    """
    ranked, weights = [runs[system] for system in used], np.array([list(used.values())])
    in_use = mean_reciprocal_ranks(ranked, qrels, weights, depth=depth)
    return Tuned(tuple(used), search_weights(ranked, qrels, step=step, depth=depth), float(in_use[0]))


def read_used(fused: Path, row: str, known: Sequence[str]) -> tuple[dict[str, float], int]:
    """Weights and depth that a row was fused with; `BadInput` when its record names systems that are not known."""
    path = fused / row / RECORD
    if not path.is_file():
        raise BadInput("no record of the fusion", file=path, expected="the output of stage kvqae-fuse")
    record = read_json(path)
    if set(record["weights"]) - set(known):
        raise BadInput("weights of other systems", file=path, got=sorted(record["weights"]), choices=known)
    return record["weights"], record["depth"]


def write_weightings(path: Path, tuned: Mapping[str, Tuned]) -> None:
    """Write one CSV line a weighting: row, α of each system (empty where the row lacks it), validation MRR."""
    systems = dict.fromkeys(system for result in tuned.values() for system in result.systems)
    rows = (
        {"row": row, **dict(zip(result.systems, weights, strict=True)), "mrr": value}
        for row, result in tuned.items()
        for weights, value in zip(result.search.weights.tolist(), result.search.values.tolist(), strict=True)
    )
    write_csv(path, ["row", *systems, "mrr"], rows)
