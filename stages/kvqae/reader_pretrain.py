"""Pretrain the reader on TriviaQA with BM25's passages of all articles: the zero-shot reader (kvqae.md §5)."""

from pathlib import Path

import torch
from pydantic import Field

from stages.device import pick_device
from stages.kvqae.questions import read_questions
from stages.kvqae.reader.data import retrieved, texts_of
from stages.kvqae.reader.model import load_reader, save_reader
from stages.kvqae.reader.training import ReaderTrainingParameters, run_training
from stages.kvqae.reader.validation import Validation
from stages.nets.reader import PassageReduction
from stages.stage import Context, run_stage


class ReaderPretrainParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_pretrain`."""

    seed: int = Field(ge=0, description="Of the new heads, dropout, the order of questions, the passages")
    loss: PassageReduction = Field(description="Over a question's passages; max: the authors' first code")


DATA = "TriviaQA without the questions of ViQuAE"


def take_published(
    parameters: ReaderPretrainParameters,
    folder: Path,
    *,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Export the published reader as if trained here, measured on the same validation questions.

    Returns:
        `validation_em`.
    """
    model, tokenizer = load_reader(folder, parameters.max_tokens)
    torch.nn.Module.to(model, pick_device())
    asked = read_questions(questions / "validation.jsonl")
    lists = retrieved(runs / "validation.trec", asked, parameters.validation_passages)
    texts = texts_of(passages, articles, lists.documents)
    validation = Validation(asked[: parameters.validation_questions], lists, texts)
    exact_match = validation.exact_match(
        model,
        tokenizer,
        max_tokens=parameters.max_tokens,
        answer_tokens=parameters.answer_tokens,
        batch=parameters.batch,
    )
    metrics = {"validation_em": exact_match}
    save_reader(out, model, tokenizer, base=folder, data=DATA, metrics=metrics)
    return metrics


def main(
    parameters: ReaderPretrainParameters,
    context: Context,
    *,
    base: Path,
    published: Path,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
) -> dict[str, float]:
    """Train a reader from a plain encoder; folders hold one file a split, `train` and `validation`.

    Where --published holds `reader`, that is taken instead.
    """
    if (published / "reader").is_dir():
        return take_published(
            parameters, published / "reader", questions=questions, runs=runs, passages=passages, articles=articles,
            out=out,
        )  # fmt: skip
    return run_training(
        parameters,
        context,
        reduction=parameters.loss,
        seed=parameters.seed,
        base=base,
        new_heads=True,
        questions=questions,
        runs=runs,
        passages=passages,
        articles=articles,
        out=out,
        data=DATA,
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.reader_pretrain", ReaderPretrainParameters)
