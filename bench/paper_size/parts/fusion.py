"""Fusion, evaluation and significance of questions' runs in files, as `kvqae-fuse` and `kvqae-evaluate` do it."""

from pathlib import Path

from bench.fusion import DEPTH, world
from trivium.formats.trec import read_qrels, read_run, write_qrels, write_run
from trivium.kvqae.retrieval.evaluation import MEASURES, EvaluateParameters, compare
from trivium.measures.fusion import linear_fusion
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Run

SIZE, UNIT = 60_000, "questions"
WEIGHTS = (0.1, 0.2, 0.3, 0.4)


def make(folder: Path, size: int) -> None:
    runs, qrels = world(size)
    for run in runs:
        write_run(folder / f"{run.name}.trec", run)
    write_qrels(folder / "qrels", qrels)


def run(folder: Path, out: Path) -> None:
    qrels = read_qrels(folder / "qrels")
    runs: list[Run] = [read_run(file) for file in sorted(folder.glob("*.trec"))]
    fused = linear_fusion(runs, WEIGHTS, depth=DEPTH, name="fused")
    write_run(out / "fused.trec", fused)
    parameters = EvaluateParameters(significance=0.01, permutations=100_000, confidence=0.95, resamples=2000)
    compare({run.name: evaluate(run, qrels, MEASURES) for run in (*runs, fused)}, parameters)
