"""Pretrain the reader on TriviaQA with BM25's passages of all articles: the zero-shot reader (kvqae.md §5)."""

from pathlib import Path

import torch
from pydantic import Field

from trivium.formats.questions import read_questions
from trivium.kvqae.reader.inputs import retrieved, texts_of
from trivium.kvqae.reader.reader_folder import load_reader, save_reader
from trivium.kvqae.reader.reader_training import ReaderTrainingParameters
from trivium.kvqae.reader.validation import Validation
from trivium.nets.device import pick_device
from trivium.nets.reader import PassageReduction


class ReaderPretrainParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_pretrain`."""

    seed: int = Field(default=0, ge=0, description="Of the new heads, dropout, the order of questions, the passages")
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
