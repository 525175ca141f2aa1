"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. The weights that the
fused runs were made with stand in `params.yaml`; this stage says whether they are the optimum and what is.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_json
from trivium.kvqae.retrieval.fusion import RECORD, ROWS
from trivium.measures.fusion import gather, normalize
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import WeightSearch, mean_reciprocal_ranks, search_weights

SYSTEMS = tuple(dict.fromkeys(system for systems in ROWS.values() for system in systems))


@dataclass(frozen=True)
class Tuned:
    """One row's search, and how the weights in use compare."""

    search: WeightSearch
    used_value: float

    @property
    def used_is_best(self) -> bool:
        """No weighting of the grid does better than the weights in use."""
        return self.used_value >= float(self.search.values.max()) - 1e-12


def tune(runs: list[Run], qrels: Qrels, used: list[float], *, step: float, depth: int) -> Tuned:
    """Search one row's weights; the weights in use are measured beside the grid, on or off which they may be.

    Args:
        runs: the row's systems, over the questions of the qrels.
        qrels: of the validation split.
        used: weight of each system in use.
        step: of the grid.
        depth: of the fused run.
    """
    candidates = gather(runs)
    in_use = mean_reciprocal_ranks(candidates, normalize(candidates, "z_score"), qrels, np.array([used]), depth=depth)
    return Tuned(search_weights(runs, qrels, step=step, depth=depth), float(in_use[0]))


def read_used(fused: Path, row: str) -> tuple[list[float], int]:
    """Weights and depth that a row was fused with; `BadInput` when its record does not fit the row."""
    path = fused / row / RECORD
    if not path.is_file():
        raise BadInput("no record of the fusion", file=path, expected="the output of stage kvqae-fuse")
    record = read_json(path)
    systems = ROWS[row]
    if set(record["weights"]) != set(systems):
        raise BadInput("weights of other systems", file=path, got=sorted(record["weights"]), choices=systems)
    return [record["weights"][system] for system in systems], record["depth"]


def write_weightings(path: Path, tuned: Mapping[str, Tuned]) -> None:
    """Write one CSV line a weighting: row, α of each system (empty where the row lacks it), validation MRR."""
    with write_atomically(path) as beside, beside.open("w", encoding="utf-8", newline="") as out:
        lines = csv.DictWriter(out, ["row", *SYSTEMS, "mrr"], lineterminator="\n")
        lines.writeheader()
        for row, result in tuned.items():
            for weights, value in zip(result.search.weights.tolist(), result.search.values.tolist(), strict=True):
                lines.writerow({"row": row, **dict(zip(ROWS[row], weights, strict=True)), "mrr": value})
