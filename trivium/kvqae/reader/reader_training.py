"""Train the reader, in pretraining on TriviaQA and in fine-tuning on ViQuAE (kvqae.md §5)."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from transformers import BertForQuestionAnswering, BertTokenizer

from trivium.core.errors import BadInput
from trivium.core.parameters import shared
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.question_training import QuestionTrainingParameters, train
from trivium.kvqae.reader.inputs import TrainingData, split_by_relevance
from trivium.kvqae.reader.reading import (
    Pairs,
    Sampled,
    answer,
    answer_characters,
    answer_targets,
    load_reader,
    read_pairs,
    save_reader,
)
from trivium.measures.answers import exact_match, f1
from trivium.measures.runs import PADDING, Run
from trivium.nets.device import autocast
from trivium.nets.reader import PassageReduction, question_loss


class ReaderTrainingParameters(QuestionTrainingParameters):
    """Common part of sections `kvqae.reader_pretrain` and `kvqae.reader_finetune`, most of it in `kvqae.reader`."""

    places: ClassVar = {
        name: f"kvqae.reader.{name}"
        for name in ("depth", "frozen_layers", "validation_questions", "validation_passages")
    }
    relevant: int = shared("kvqae.reader.relevant", ge=1, description="Most relevant passages of a question in a step")
    irrelevant: int = shared("kvqae.reader.irrelevant", ge=0, description="Irrelevant passages of a question in a step")
    answer_positions: int = shared("kvqae.reader.answer_positions", ge=1, description="Most of a passage that are used")
    answer_tokens: int = shared("kvqae.reader.answer_tokens", ge=1, description="Longest answer in validation")
    selection: Literal["em", "f1"] = shared("kvqae.reader.selection", description="In validation; F1 as the authors")
    losses: dict[str, PassageReduction] = Field(
        min_length=1, description="By reader, the loss over a question's passages; max: the authors' first code"
    )


def validation_score(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    questions: Sequence[Question],
    run: Run,
    texts: PassageTexts,
    parameters: ReaderTrainingParameters,
) -> float:
    """Compute mean exact match or F1 of the first `validation_questions`, answered from the run's passages."""
    questions = questions[: parameters.validation_questions]
    passages = [row[row != PADDING].tolist() for row in run.documents[: len(questions)]]
    pairs = [(question.text, passage) for question, row in zip(questions, passages, strict=True) for passage in row]
    limits = {"max_tokens": parameters.max_tokens, "longest": parameters.answer_tokens, "batch": parameters.batch}
    readings = read_pairs(model, tokenizer, pairs, texts, **limits)
    measure = {"em": exact_match, "f1": f1}[parameters.selection]
    values = [
        measure(answer(question.text, row, readings).prediction, question.answers)
        for question, row in zip(questions, passages, strict=True)
    ]
    return float(np.mean(values))


def loss_of(
    model: BertForQuestionAnswering,
    pairs: Pairs,
    sampled: Sampled,
    texts: PassageTexts,
    parameters: ReaderTrainingParameters,
    reduction: PassageReduction,
) -> tuple[torch.Tensor, dict[str, int]]:
    """Sum these questions' losses; counts `passages_answers_cut`, relevant passages cut before the answer."""
    characters = [  # irrelevant passages have no answers, and searching them would take most of the time
        answer_characters(example.matcher, texts[passage]) if passage in example.relevant else []
        for example, ids in sampled
        for passage in ids.tolist()
    ]
    start_targets, end_targets, cut = answer_targets(pairs, characters, parameters.answer_positions)
    device = model.device
    mask = pairs.attention_mask.to(device)
    with autocast(device):
        output = model(
            input_ids=pairs.input_ids.to(device), attention_mask=mask, token_type_ids=pairs.token_type_ids.to(device)
        )
    parts = (output.start_logits, output.end_logits, mask.bool(), start_targets.to(device), end_targets.to(device))
    counts = [len(ids) for _, ids in sampled]
    losses = [
        question_loss(start_logits, end_logits, real, starts, ends, reduction)
        for start_logits, end_logits, real, starts, ends in zip(*(part.split(counts) for part in parts), strict=True)
    ]
    return torch.stack(losses).sum(), {"passages_answers_cut": cut}


def train_reader(
    checkpoints: Path,
    *,
    parameters: ReaderTrainingParameters,
    reduction: PassageReduction,
    seed: int,
    base: Path,
    base_name: str,
    new_heads: bool,
    source: TrainingData,
    data: str,
    own: Sequence[NDArray[np.int64]] | None = None,
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train a reader and export it; returns the counts of `train` and `split_by_relevance`, and the curve's points.

    `own` has the passages of each training question's article, see `split_by_relevance`. `BadInput`: see `load_reader`,
    `train`; no question has a relevant passage.
    """
    torch.manual_seed(seed)
    model, tokenizer = load_reader(base, parameters.max_tokens, new_heads=new_heads)
    depths = {"train": parameters.depth, "validation": parameters.validation_passages}
    questions, lists, texts = source.read(depths, own or ())
    examples, counts = split_by_relevance(questions["train"], lists["train"], texts, own)
    if not examples:
        raise BadInput(
            "no question has a relevant passage", file=source.runs / "train.trec", got=0, expected="at least one"
        )
    validation = questions["validation"], lists["validation"], texts
    metrics = train(
        model,
        tokenizer,
        examples,
        texts,
        parameters,
        name="reader",
        seed=seed,
        relevant=parameters.relevant,
        irrelevant=parameters.irrelevant,
        weight_decay=0,
        loss_of=lambda pairs, sampled: loss_of(model, pairs, sampled, texts, parameters, reduction),
        score=f"validation_{parameters.selection}",
        validate=lambda: validation_score(model, tokenizer, *validation, parameters),
        work=checkpoints,
        log=log,
    )
    metrics |= counts
    save_reader(out, model, tokenizer, base=Path(base_name), data=data, metrics=metrics)
    return metrics, log.points


class ReaderPretrainParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_pretrain`."""

    seed: int = Field(default=0, ge=0, description="Of the new heads, dropout, the order of questions, the passages")


class ReaderFinetuneParameters(ReaderTrainingParameters):
    """Section `kvqae.reader_finetune`."""

    max_start: str = Field(description="Pretrained reader that those with the loss `max` start from")


DATA = "TriviaQA without the questions of ViQuAE"


def take_published(
    parameters: ReaderPretrainParameters, folder: Path, *, source: TrainingData, out: Path
) -> dict[str, float]:
    """Export the published reader as if trained here; returns its validation score."""
    model, tokenizer = load_reader(folder, parameters.max_tokens)
    questions, lists, texts = source.read({"validation": parameters.validation_passages})
    score = validation_score(model, tokenizer, questions["validation"], lists["validation"], texts, parameters)
    metrics = {f"validation_{parameters.selection}": score}
    save_reader(out, model, tokenizer, base=folder, data=DATA, metrics=metrics)
    return metrics
