"""Stage `kvqae-rerank_rrt`. The best passages ranked anew by question image against article image."""

from pathlib import Path

import pyarrow as pa

from trivium.files.atomic import write_atomically
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over, write_run
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.rerankers.rrt import check_dimension, load_rrt
from trivium.kvqae.rerankers.rrt_parameters import is_left_out
from trivium.kvqae.rerankers.rrt_reranking import RerankRrtParameters, leave_out_runs, read_base, rerank
from trivium.vision.local_descriptors.folder import FeatureFolder


def main(
    parameters: RerankRrtParameters,
    context: Context,
    *,
    runs: Path,
    questions: list[Path],
    articles: Path,
    passages: Path,
    kb_features: Path,
    question_features: Path,
    model: Path,
    out: Path,
) -> dict[str, float]:
    """Write `{split}.trec` for each file of questions, from the initial run of that name in `runs`."""
    if is_left_out(model):
        return leave_out_runs(questions, out)
    base = read_base(articles, passages, kb_features)
    features = FeatureFolder.read(question_features)
    network = load_rrt(model)
    check_dimension(network, base.features, kb_features)
    check_dimension(network, features, question_features)
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for path in questions:
            asked = read_questions(path)
            run = read_run_over(runs / path.name.replace(".jsonl", ".trec"), [question.id for question in asked])
            images = features.rows(pa.array([question.image for question in asked], pa.string()))
            ranked, counts = rerank(run, images, features, base, network, parameters)
            write_run(beside / f"{path.stem}.trec", ranked)
            metrics |= {f"{path.stem}_{name}": value for name, value in counts.items()}
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_rrt", RerankRrtParameters)
