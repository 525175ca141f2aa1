"""Stage `kvqae-rerank`. Re-rank the best passages of the initial run, one cell for each re-ranker."""

from pathlib import Path
from typing import Any

from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters, shared
from trivium.core.stage import Context, stage
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over, write_run
from trivium.kvqae.rerankers.reranker import RERANKERS, SECTION, SPLITS, Inputs, reranker_settings
from trivium.measures.runs import Run

LOADS = {"trivium.kvqae.rerankers.members": "${key}"}  # a cell loads its own re-ranker


class RerankParameters(Parameters):
    """Section `kvqae.rerank`."""

    settings: dict[str, Any] = shared(f"{SECTION}.{{reranker}}", description="The entry in `kvqae.rerankers`")
    max_tokens: int = shared("kvqae.texts.pair_tokens", ge=8, le=512, description="Tokens of question and passage")
    batch: int = shared("kvqae.texts.pair_batch", ge=1, description="Pairs of texts scored together")


@stage("kvqae.rerank", metrics="metrics/kvqae/rerank_{reranker}.json")
def main(
    parameters: RerankParameters,
    context: Context,
    *,
    reranker: str,
    runs: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    question_images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    kb: Path = Path("data/kvqae/kb"),
    out: Path = Path("data/kvqae/runs/reranked/{reranker}"),
) -> dict[str, float]:
    """Re-rank `{split}.trec` of the folder `runs` into `out`; returns the re-ranker's counts."""
    inputs = Inputs(question_images, kb, parameters.max_tokens, parameters.batch, context.engine)
    member = RERANKERS[reranker](reranker_settings(reranker, parameters.settings), inputs)
    metrics: dict[str, float] = {}
    with write_atomically(out) as target:
        for split in SPLITS:
            of_split = read_questions(questions / f"{split}.jsonl")
            initial = read_run_over(runs / f"{split}.trec", [question.id for question in of_split])
            run, counts = member.rerank(split, of_split, initial)
            write_run(target / f"{split}.trec", Run(run.queries, run.documents, run.scores, reranker))
            metrics |= {f"{split}_{name}": value for name, value in counts.items()}
    return metrics
