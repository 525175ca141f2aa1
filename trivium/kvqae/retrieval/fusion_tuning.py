"""The fusion weights by grid search for the best validation MRR, row by row (kvqae.md §3).

The constraint α_b = 0 or α_d = 0 of the paper's rows is in their systems: a row holds BM25 or DPR. The weights that the
fused runs were made with stand in `params.yaml`; this stage says whether they are the optimum and what is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.csv_tables import write_csv
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json
from trivium.formats.trec import read_qrels
from trivium.kvqae.retrieval.fusion import ARTICLE_ROWS, RECIPROCAL_RANK_ROW, RECORD, ROWS, read_split
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


def write_tuning(
    *,
    text_runs: Path,
    image_runs: Path,
    brought: Path,
    fused: Path,
    passage_qrels: Path,
    article_qrels: Path,
    step: float,
    out_weights: Path,
    out_weightings: Path,
) -> dict[str, float]:
    """Write the best weights of every row (JSON) and the validation MRR of all weightings (CSV).

    A row's systems are those that it was fused from: `text_runs`, `image_runs` and `brought` hold a folder a system. A
    brought run's row without validation questions has nothing to be tuned on.
    """
    qrels = {False: read_qrels(passage_qrels), True: read_qrels(article_qrels)}
    *texts, images = (sorted(folder.iterdir()) for folder in (text_runs, brought, image_runs))
    folders = [*chain.from_iterable(texts), *images]
    names = {False: [path.name for path in folders], True: [path.name for path in images]}
    tunable = {path.parent.name for path in fused.glob("*/validation.trec")}
    others = tunable - {*ROWS, RECIPROCAL_RANK_ROW}  # of further text encoders, and of brought runs
    used = {row: read_used(fused, row, names[row in ARTICLE_ROWS]) for row in (*ROWS, *sorted(others))}
    known = {
        articles: read_split(
            folders,
            "validation",
            dict.fromkeys(
                name for row, (weights, _) in used.items() for name in weights if (row in ARTICLE_ROWS) == articles
            ),
            articles=articles,
            queries=qrels[articles].queries,
        )
        for articles in (False, True)
    }
    tuned: dict[str, Tuned] = {}
    report: dict[str, Any] = {}
    metrics: dict[str, float] = {}
    for row, (in_use, depth) in used.items():
        articles = row in ARTICLE_ROWS
        result = tuned[row] = tune(known[articles], qrels[articles], in_use, step=step, depth=depth)
        best = result.search.best
        weights = dict(zip(in_use, result.search.weights[best].tolist(), strict=True))
        report[row] = {
            "weights": weights,
            "mrr": float(result.search.values[best]),
            "used_weights": in_use,
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
