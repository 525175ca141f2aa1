"""Stage `kvqae-rerank_text`. The initial run's best passages by the cross-encoder."""

from pathlib import Path

import torch

from trivium.files.atomic import write_atomically
from trivium.formats.questions import read_questions
from trivium.formats.trec import read_run_over, write_run
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.reader.inputs import texts_of
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, rerank_run
from trivium.kvqae.rerankers.text_reranking import RerankTextParameters
from trivium.measures.reorder import first, follow
from trivium.measures.runs import PADDING, Run
from trivium.nets.device import pick_device


def main(
    parameters: RerankTextParameters,
    context: Context,
    *,
    model: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Write `<split>.trec` of each split: the initial run's best passages in a new order, then the others in theirs.

    Returns:
        Of each split, `questions`, `pairs`, and two counts of short lists: `questions_without_passage`, which stay
        empty, and `questions_with_few_passages`, fewer than `depth`, which are re-ranked as they are.
    """
    network, tokenizer = load_cross_encoder(model)
    torch.nn.Module.to(network, pick_device())
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for split in parameters.splits:
            asked = read_questions(questions / f"{split}.jsonl")
            whole = read_run_over(runs / f"{split}.trec", [question.id for question in asked])
            initial = first(whole, parameters.depth)
            reranked = rerank_run(
                network,
                tokenizer,
                asked,
                initial,
                texts_of(passages, articles, initial.documents),
                max_tokens=parameters.max_tokens,
                batch=parameters.batch,
            )
            reranked = follow(reranked, whole)
            write_run(beside / f"{split}.trec", Run(reranked.queries, reranked.documents, reranked.scores, out.name))
            found = (initial.documents != PADDING).sum(axis=1)
            metrics |= {
                f"{split}_questions": float(len(asked)),
                f"{split}_pairs": float(found.sum()),
                f"{split}_questions_without_passage": float((found == 0).sum()),
                f"{split}_questions_with_few_passages": float(((found > 0) & (found < parameters.depth)).sum()),
            }
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_text", RerankTextParameters)
