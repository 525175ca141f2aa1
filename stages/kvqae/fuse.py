"""Stage `kvqae-fuse`. Linear fusion with the weights of params.yaml, and reciprocal ranks."""

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
    fuse_split,
    read_split,
)


def main(
    parameters: FuseParameters,
    context: Context,
    *,
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("data/kvqae/runs/brought"),
    out: Path = Path("data/kvqae/runs/fused"),
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


if __name__ == "__main__":
    run_stage(main, "kvqae.fuse", FuseParameters, metrics="metrics/kvqae/fuse.json")
