"""Stage `kvqae-fuse`. Fusion with the weights of params.yaml, and which would be best on validation."""

from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.csv_tables import write_csv
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.questions import SPLITS
from trivium.formats.trec import read_qrels, write_run
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
from trivium.kvqae.retrieval.fusion_tuning import tune, tuning_metrics
from trivium.measures.runs import Run


class FuseAndTuneParameters(FuseParameters, WeightGridParameters):
    """Section `kvqae.fuse`."""


def read_runs(
    parameters: FuseParameters, split: str, text_runs: Path, image_runs: Path, brought: Path
) -> tuple[FuseParameters, dict[str, Run], dict[str, Run]]:
    """The rows that a split has, and the systems' runs of passages and of articles."""
    folders = [system for root in (text_runs, image_runs, brought) for system in sorted(root.iterdir())]
    own = parameters.of_split(split, brought)
    passages = read_split(folders, split, own.systems(own.passage_rows), articles=False)
    return own, passages, read_split(folders, split, own.systems(ARTICLE_ROWS), articles=True)


def write_fused(
    parameters: FuseParameters, *, text_runs: Path, image_runs: Path, brought: Path, out: Path
) -> dict[str, float]:
    """Write `{row}/{split}.trec` for every row and split, and `{row}/fusion.json`, how they were made."""
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for split in SPLITS:
            own, passages, articles = read_runs(parameters, split, text_runs, image_runs, brought)
            for row, run in fuse_split(passages, articles, own).items():
                write_run(beside / row / f"{split}.trec", run)
                served = (run.documents[:, :1] >= 0).sum()
                metrics[f"{row}_{split}_questions"] = float(served)
                metrics[f"{row}_{split}_questions_without_result"] = float(len(run.queries) - served)
        for row, weights in parameters.weights.items():
            write_json(beside / row / RECORD, {"depth": parameters.depth, "weights": weights})
        systems = list(parameters.weights[RECIPROCAL_RANK_AS])
        record = {"depth": parameters.depth, "k": parameters.rrf_k, "systems": systems}
        write_json(beside / RECIPROCAL_RANK_ROW / RECORD, record)
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

    The folders of runs hold a folder a system; `out` gets a folder a row. A brought run's row without validation
    questions has nothing to be tuned on.
    """
    roots = {"text_runs": text_runs, "image_runs": image_runs, "brought": brought}
    metrics = write_fused(parameters, **roots, out=out)
    own, passages, articles = read_runs(parameters, "validation", **roots)
    report, tried = tune(own, passages, articles, read_qrels(passage_qrels), read_qrels(article_qrels), parameters.step)
    systems = dict.fromkeys(system for values in report.values() for system in values["weights"])
    rows = ({"row": row, **weights, "mrr": mrr} for row, tries in tried.items() for weights, mrr in tries)
    write_csv(out_weightings, ["row", *systems, "mrr"], rows)
    write_json(out_weights, report)
    write_json(out_tuned, dict(tuning_metrics(report)))
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.fuse", FuseAndTuneParameters, metrics="metrics/kvqae/fuse.json")
