"""Re-rank the best passages of a run by the cross-encoder, which reads question and passage (kvqae.md §4)."""

from pathlib import Path
from typing import Literal

import torch
from pydantic import Field

from stages.atomic import write_atomically
from stages.device import pick_device
from stages.kvqae.questions import read_questions
from stages.kvqae.reader.data import texts_of
from stages.kvqae.rerankers.cross_encoder import load_cross_encoder, rerank_run
from stages.measures.reorder import first, follow
from stages.measures.runs import PADDING, Run
from stages.stage import Context, Parameters, run_stage
from stages.trec import read_run_over, write_run


class RerankTextParameters(Parameters):
    """Section `kvqae.rerank_text`."""

    splits: tuple[Literal["train", "validation", "test"], ...] = Field(min_length=1, description="Splits re-ranked")
    depth: int = Field(ge=1, description="Best passages of the initial run that are re-ranked")
    max_tokens: int = Field(ge=8, le=512, description="Tokens of question and passage together")
    batch: int = Field(ge=1, description="Pairs scored together")


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
