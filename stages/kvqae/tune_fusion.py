"""Stage `kvqae-tune_fusion`. Grid search of the fusion weights on validation."""

from itertools import chain
from pathlib import Path
from typing import Any

from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.trec import read_qrels
from trivium.kvqae.retrieval.fusion import (
    ARTICLE_ROWS,
    RECIPROCAL_RANK_ROW,
    ROWS,
    Tuned,
    WeightGridParameters,
    read_split,
    read_used,
    tune,
    write_weightings,
)

SPLIT = "validation"


class TuneFusionParameters(WeightGridParameters):
    """Section `kvqae.tune_fusion`."""


def main(
    parameters: TuneFusionParameters,
    context: Context,
    *,
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("data/kvqae/runs/brought"),
    fused: Path = Path("data/kvqae/runs/fused"),
    passage_qrels: Path = Path("data/kvqae/relevance/validation_passage.qrels"),
    article_qrels: Path = Path("data/kvqae/relevance/validation_article.qrels"),
    out_weights: Path = Path("data/kvqae/tuning/weights.json"),
    out_weightings: Path = Path("metrics/kvqae/weightings.csv"),
) -> dict[str, float]:
    """Write the best weights of every row (JSON) and the validation MRR of all weightings (CSV).

    A row's systems are those that it was fused from: `text_runs`, `image_runs` and `brought` hold a folder a system. A
    brought run's row without validation questions has nothing to be tuned on.
    """
    qrels = {False: read_qrels(passage_qrels), True: read_qrels(article_qrels)}
    *texts, images = (sorted(folder.iterdir()) for folder in (text_runs, brought, image_runs))
    folders = [*chain.from_iterable(texts), *images]
    names = {False: [path.name for path in folders], True: [path.name for path in images]}
    tunable = {path.parent.name for path in fused.glob(f"*/{SPLIT}.trec")}
    others = tunable - {*ROWS, RECIPROCAL_RANK_ROW}  # of further text encoders, and of brought runs
    used = {row: read_used(fused, row, names[row in ARTICLE_ROWS]) for row in (*ROWS, *sorted(others))}
    known = {
        articles: read_split(
            folders,
            SPLIT,
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
        result = tuned[row] = tune(known[articles], qrels[articles], in_use, step=parameters.step, depth=depth)
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


if __name__ == "__main__":
    run_stage(main, "kvqae.tune_fusion", TuneFusionParameters, metrics="metrics/kvqae/tune_fusion.json")
