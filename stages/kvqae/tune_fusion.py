"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. The weights that the
fused runs were made with stand in `params.yaml`; this stage says whether they are the optimum and what is.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stages.atomic import write_atomically
from stages.kvqae.fuse import PASSAGE_ROWS, RECORD, ROWS, read_split
from stages.kvqae.weight_grid import WeightGridParameters
from stages.measures.fusion import gather, normalize
from stages.measures.runs import Qrels, Run
from stages.measures.weight_search import WeightSearch, mean_reciprocal_ranks, search_weights
from stages.stage import BadInput, Context, run_stage
from stages.tables import read_json, write_json
from stages.trec import read_qrels

SPLIT = "validation"
SYSTEMS = tuple(dict.fromkeys(system for systems in ROWS.values() for system in systems))


class TuneFusionParameters(WeightGridParameters):
    """Section `kvqae.tune_fusion`."""


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


def main(
    parameters: TuneFusionParameters,
    context: Context,
    *,
    runs: list[Path],
    fused: Path,
    passage_qrels: Path,
    article_qrels: Path,
    out_weights: Path,
    out_weightings: Path,
) -> dict[str, float]:
    """Write the best weights of every row (JSON) and the validation MRR of all weightings (CSV)."""
    qrels = {False: read_qrels(passage_qrels), True: read_qrels(article_qrels)}
    known = {
        articles: read_split(runs, SPLIT, articles=articles, queries=judged.queries)
        for articles, judged in qrels.items()
    }
    tuned: dict[str, Tuned] = {}
    report: dict[str, Any] = {}
    metrics: dict[str, float] = {}
    for row, systems in ROWS.items():
        articles = row not in PASSAGE_ROWS
        used, depth = read_used(fused, row)
        ranked = [known[articles][system] for system in systems]
        result = tuned[row] = tune(ranked, qrels[articles], used, step=parameters.step, depth=depth)
        best = result.search.best
        weights = dict(zip(systems, result.search.weights[best].tolist(), strict=True))
        report[row] = {
            "weights": weights,
            "mrr": float(result.search.values[best]),
            "used_weights": dict(zip(systems, used, strict=True)),
            "used_mrr": result.used_value,
            "used_is_best": result.used_is_best,
            "weightings": len(result.search.values),
        }
        metrics |= {
            f"{row}_mrr": report[row]["mrr"],
            f"{row}_used_mrr": result.used_value,
            f"{row}_used_is_best": float(result.used_is_best),
            f"{row}_weightings": float(len(result.search.values)),
        }
        metrics |= {f"{row}_weight_{system}": weight for system, weight in weights.items()}
    write_json(out_weights, report)
    write_weightings(out_weightings, tuned)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.tune_fusion", TuneFusionParameters)
