"""Stage `kvqae-fuse`. Fusion with the weights of params.yaml, and which would be best on validation."""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.questions import SPLITS
from trivium.formats.trec import write_run
from trivium.kvqae.retrieval.fusion import (
    ARTICLE_ROWS,
    RECIPROCAL_RANK_AS,
    RECIPROCAL_RANK_ROW,
    RECORD,
    FuseParameters,
    WeightGridParameters,
    fuse_split,
    read_split,
)
from trivium.kvqae.retrieval.fusion_tuning import write_tuning


class FuseAndTuneParameters(FuseParameters, WeightGridParameters):
    """Section `kvqae.fuse`."""


def write_fused(
    parameters: FuseParameters, *, text_runs: Path, image_runs: Path, brought: Path, out: Path
) -> dict[str, float]:
    """Write `{row}/{split}.trec` for every row and split, and `{row}/fusion.json`, how they were made.

    `text_runs`, `image_runs` and `brought` hold a folder a system.
    """
    metrics: dict[str, float] = {}
    folders = [system for root in (text_runs, image_runs, brought) for system in sorted(root.iterdir())]
    with write_atomically(out) as beside:
        for split in SPLITS:
            fused = parameters.of_split(split, brought)
            passages = read_split(folders, split, fused.systems(fused.passage_rows), articles=False)
            articles = read_split(folders, split, fused.systems(ARTICLE_ROWS), articles=True)
            for row, run in fuse_split(passages, articles, fused).items():
                write_run(beside / row / f"{split}.trec", run)
                served = (run.documents[:, :1] >= 0).sum()
                metrics[f"{row}_{split}_questions"] = float(served)
                metrics[f"{row}_{split}_questions_without_result"] = float(len(run.queries) - served)
        for row, weights in parameters.weights.items():
            write_json(beside / row / RECORD, {"depth": parameters.depth, "weights": weights})
        write_json(
            beside / RECIPROCAL_RANK_ROW / RECORD,
            {"depth": parameters.depth, "k": parameters.rrf_k, "systems": list(parameters.weights[RECIPROCAL_RANK_AS])},
        )
    return metrics


def main(
    parameters: FuseAndTuneParameters,
    context: Context,
    *,
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("data/kvqae/runs/brought"),
    passage_qrels: Path = Path("data/kvqae/relevance/validation_passage.qrels"),
    article_qrels: Path = Path("data/kvqae/relevance/validation_article.qrels"),
    out: Path = Path("data/kvqae/runs/fused"),
    out_weights: Path = Path("data/kvqae/tuning/weights.json"),
    out_weightings: Path = Path("metrics/kvqae/weightings.csv"),
    out_tuned: Path = Path("metrics/kvqae/tune_fusion.json"),
) -> dict[str, float]:
    """Fuse, then write the best weights of every row on validation and all that were tried.

    The folders of runs hold a folder a system; `out` gets a folder a row.
    """
    metrics = write_fused(parameters, text_runs=text_runs, image_runs=image_runs, brought=brought, out=out)
    tuned = write_tuning(
        text_runs=text_runs,
        image_runs=image_runs,
        brought=brought,
        fused=out,
        passage_qrels=passage_qrels,
        article_qrels=article_qrels,
        step=parameters.step,
        out_weights=out_weights,
        out_weightings=out_weightings,
    )
    write_json(out_tuned, tuned)
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.fuse", FuseAndTuneParameters, metrics="metrics/kvqae/fuse.json")
