"""Stage `kvqae-fuse`. Tune weights on validation, and fuse with these or with the weights of params.yaml."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically
from trivium.core.stage import stage
from trivium.core.tables import write_csv, write_json
from trivium.formats.questions import SPLITS
from trivium.formats.trec import read_qrels, write_run
from trivium.kvqae.retrieval import fusion


def write_fused(
    parameters: fusion.FuseAndTuneParameters,
    weights: Mapping[str, Mapping[str, float]],
    roots: Sequence[Path],
    out: Path,
) -> dict[str, float]:
    """Write `{row}/{split}.trec` for every row and split, and `{row}/fusion.json` with depth and weights.

    The folders `roots` have a folder for each system; the last one is that of brought runs.
    """
    metrics: dict[str, float] = {}
    folders = [system for root in roots for system in sorted(root.iterdir())]
    depth, rrf_k = parameters.depth, parameters.rrf_k
    with write_atomically(out) as target:
        for split in SPLITS:
            rows = parameters.rows_of(split, roots[-1])
            runs, own = fusion.read_split(folders, split, rows), {row: weights[row] for row in rows}
            for row, run in fusion.fuse_split(runs, own, depth=depth, rrf_k=rrf_k).items():
                write_run(target / row / f"{split}.trec", run)
                served = (run.documents[:, :1] >= 0).sum()
                metrics[f"{row}_{split}_questions"] = float(served)
                metrics[f"{row}_{split}_questions_without_result"] = float(len(run.queries) - served)
        for row, alphas in weights.items():
            write_json(target / row / fusion.RECORD, {"depth": depth, "weights": alphas})
        record = {"depth": depth, "k": rrf_k, "systems": list(weights[fusion.RECIPROCAL_RANK_AS])}
        write_json(target / fusion.RECIPROCAL_RANK_ROW / fusion.RECORD, record)
    return metrics


@stage("kvqae.fuse", metrics="metrics/kvqae/fuse.json")
def main(
    parameters: fusion.FuseAndTuneParameters,
    *,
    text_runs: Path = Path("data/kvqae/runs/text"),
    image_runs: Path = Path("data/kvqae/runs/image"),
    brought: Path = Path("data/kvqae/runs/brought"),
    relevance: Path = Path("data/kvqae/relevance"),
    out: Path = Path("data/kvqae/runs/fused"),
    out_weights: Path = Path("data/kvqae/tuning/weights.json"),
    out_weightings: Path = Path("metrics/kvqae/weightings.csv"),
    out_tuned: Path = Path("metrics/kvqae/tune_fusion.json"),
) -> dict[str, float]:
    """Find the best weights of every row on validation, write them with all tried ones, and fuse.

    The folders of runs have a folder for each system; `out` gets one for each row. Rows of brought runs without
    validation questions are not tuned.
    """
    rows, roots = parameters.rows_of("validation", brought), (text_runs, image_runs, brought)
    runs = fusion.read_split([system for root in roots for system in sorted(root.iterdir())], "validation", rows)
    qrels = {level: read_qrels(relevance / f"validation_{level}.qrels") for level in runs}
    report, tried = fusion.tune(parameters, rows, runs, qrels)
    weights: Mapping[str, Any] = {row: values["weights"] for row, values in report.items()}
    if not isinstance(parameters.weights, str):
        weights = parameters.weights
    metrics = write_fused(parameters, weights, roots, out)
    systems = dict.fromkeys(system for values in report.values() for system in values["weights"])
    tries = ({"row": row, **alphas, "mrr": mrr} for row, listed in tried.items() for alphas, mrr in listed)
    write_csv(out_weightings, ["row", *systems, "mrr"], tries)
    write_json(out_weights, report)
    write_json(out_tuned, dict(fusion.tuning_metrics(report)))
    return metrics
