"""Training of the cross-encoder, shared by pretraining on TriviaQA and fine-tuning on ViQuAE (kvqae.md §4)."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from tqdm import tqdm
from transformers import BertForSequenceClassification, BertTokenizer

from stages.device import halving, pick_device
from stages.kvqae.passage_texts import PassageTexts
from stages.kvqae.questions import read_questions
from stages.kvqae.reader.data import Example, retrieved, sample_passages, split_by_relevance, texts_of, tokenize
from stages.kvqae.reader.schedules import Schedule, keep_weights, load_best, make_scheduler, set_dropout
from stages.kvqae.reader.training import questions_of_step
from stages.kvqae.rerankers.cross_encoder import check_positions, load_cross_encoder, save_cross_encoder
from stages.kvqae.rerankers.cross_encoder_validation import Validation
from stages.nets.cross_encoder import one_relevant_loss, relevance_scores
from stages.resume import load_checkpoint, save_checkpoint
from stages.stage import BadInput, Context, Parameters


class CrossEncoderTrainingParameters(Parameters):
    """Sections `kvqae.rerank_pretrain` and `kvqae.rerank_finetune`."""

    seed: int = Field(ge=0, description="Of the new perceptron, dropout, the order of questions, the passages")
    max_tokens: int = Field(ge=8, le=512, description="Tokens of question and passage together")
    depth: int = Field(ge=2, description="Passages are sampled from the best of the run, this many")
    passages: int = Field(ge=2, description="Passages of a question in a step, one of them relevant")
    dropout: float = Field(ge=0, lt=1, description="Of attention and hidden layers; BERT's 0.1 suits longer trainings")
    frozen_embeddings: bool = Field(description="Leave word embeddings as they are (a third less time)")
    questions: int = Field(ge=1, description="Questions in a step (batch)")
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    weight_decay: float = Field(ge=0, description="AdamW's")
    schedule: Schedule = Field(
        description="Of the learning rate; constant also keeps the best weights on validation, linear the last ones"
    )
    warmup: float = Field(ge=0, lt=1, description="Linear only: share of the steps in which the learning rate rises")
    clip: float = Field(gt=0, description="Largest norm of the gradient")
    validate_every: int = Field(ge=1, description="Steps between validations")
    validation_questions: int = Field(ge=1, description="Validation questions re-ranked, from the first on")
    validation_passages: int = Field(ge=1, description="Best passages re-ranked for each")
    batch: int = Field(ge=1, description="Pairs scored together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")


def loss_of(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    sampled: Sequence[tuple[Example, NDArray[np.int64]]],
    texts: PassageTexts,
    max_tokens: int,
) -> torch.Tensor:
    """Sum of these questions' losses; of each the same number of passages, the first one relevant."""
    pairs = tokenize(
        tokenizer,
        [example.question.text for example, ids in sampled for _ in ids],
        [texts[passage] for _, ids in sampled for passage in ids.tolist()],
        max_tokens,
    )
    scores = relevance_scores(model, pairs.input_ids, pairs.attention_mask, pairs.token_type_ids)
    return one_relevant_loss(scores.view(len(sampled), -1)).sum()


def _backward(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    sampled: Sequence[tuple[Example, NDArray[np.int64]]],
    texts: PassageTexts,
    max_tokens: int,
    together: int,
) -> float:
    """The gradient of the questions' mean loss, so many questions at a time; returns the loss."""
    model.zero_grad(set_to_none=True)
    total = 0.0
    for start in range(0, len(sampled), together):
        part = loss_of(model, tokenizer, sampled[start : start + together], texts, max_tokens) / len(sampled)
        part.backward()
        total += part.item()
    return total


def train(
    model: BertForSequenceClassification,
    tokenizer: BertTokenizer,
    examples: Sequence[Example],
    texts: PassageTexts,
    parameters: CrossEncoderTrainingParameters,
    *,
    work: Path,
    validate: Callable[[], float],
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place for a fixed number of steps; goes on from the checkpoint in `work` if there is one.

    Passages are sampled anew at each step, from a generator of that step alone. With a linear schedule the weights
    after the last step are kept: the learning rate has fallen to 0 by then, and what a small validation says between
    steps is noise. With a constant one the best on validation are, as published; the first at equality.

    Args:
        model, tokenizer: the cross-encoder.
        examples: each with a relevant passage and at least `parameters.passages − 1` others.
        texts: of their passages.
        parameters: of the stage.
        work: the stage's work folder.
        validate: gives the validation MRR.
        log: takes the step and named values.

    Returns:
        `loss` of the last step, and `validation_mrr` of the weights kept.

    Raises:
        BadInput: the loss is not finite, or the checkpoint is of another model.
    """
    set_dropout(model, parameters.dropout)
    model.bert.embeddings.word_embeddings.requires_grad_(not parameters.frozen_embeddings)
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    optimizer = torch.optim.AdamW(
        trained, lr=parameters.learning_rate, weight_decay=parameters.weight_decay, fused=True
    )
    scheduler = make_scheduler(optimizer, parameters.schedule, warmup=parameters.warmup, steps=parameters.steps)
    first, seen = load_checkpoint(work, model=model, optimizer=optimizer, scheduler=scheduler) or (0, {})
    together = parameters.questions  # halved when GPU memory runs out
    for step in tqdm(range(first, parameters.steps), desc="cross-encoder", unit="step", mininterval=5, leave=False):
        model.train()
        rng = np.random.default_rng([parameters.seed, 1, step])
        sampled = [
            (examples[place], sample_passages(examples[place], 1, parameters.passages - 1, rng))
            for place in questions_of_step(len(examples), parameters.questions, step, parameters.seed)
        ]
        attempt = partial(_backward, model, tokenizer, sampled, texts, parameters.max_tokens)
        loss, together = halving(together, attempt, unit="questions")
        if not math.isfinite(loss):
            raise BadInput("the loss is not finite", row=f"step {step + 1}", got=loss, expected="a lower learning rate")
        norm = torch.nn.utils.clip_grad_norm_(trained, parameters.clip)
        done = step + 1
        log(done, loss=loss, learning_rate=scheduler.get_last_lr()[0], gradient_norm=float(norm))
        optimizer.step()
        scheduler.step()
        seen = {**seen, "loss": loss}
        if done % parameters.validate_every == 0 or done == parameters.steps:
            score = validate()
            log(done, validation_mrr=score)
            keep_weights(parameters.schedule, score, seen, "validation_mrr", work=work, model=model)
        if done % parameters.checkpoint_every == 0:
            save_checkpoint(work, step=done, model=model, optimizer=optimizer, scheduler=scheduler, extra=seen)
    if parameters.schedule == "constant":
        load_best(work, model)
    return seen


def run_training(
    parameters: CrossEncoderTrainingParameters,
    context: Context,
    *,
    base: Path,
    new_perceptron: bool,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
    data: str,
) -> dict[str, float]:
    """What both stages do: read questions and runs of the splits train and validation, train, export.

    Returns:
        What `train` and `split_by_relevance` return; `questions_with_few_irrelevant`, dropped as they cannot fill
        `passages`; and `initial_validation_mrr`, of the lists before re-ranking.

    Raises:
        BadInput: see `load_cross_encoder`, `retrieved`, `train`; no question to train on.
    """
    torch.manual_seed(parameters.seed)
    model, tokenizer = load_cross_encoder(base, new_perceptron=new_perceptron)
    check_positions(model, parameters.max_tokens)
    torch.nn.Module.to(model, pick_device())
    asked = {split: read_questions(questions / f"{split}.jsonl") for split in ("train", "validation")}
    lists = {
        "train": retrieved(runs / "train.trec", asked["train"], parameters.depth),
        "validation": retrieved(runs / "validation.trec", asked["validation"], parameters.validation_passages),
    }
    texts = texts_of(passages, articles, *(run.documents for run in lists.values()))
    with_relevant, counts = split_by_relevance(asked["train"], lists["train"], texts)
    examples = [example for example in with_relevant if len(example.irrelevant) >= parameters.passages - 1]
    if not examples:
        raise BadInput(
            "no question to train on",
            file=runs / "train.trec",
            got=f"{len(with_relevant)} with a relevant passage, none of them with enough others",
            expected=f"a relevant passage and {parameters.passages - 1} others among the best {parameters.depth}",
        )
    validation = Validation.judge(asked["validation"][: parameters.validation_questions], lists["validation"], texts)
    metrics = train(
        model,
        tokenizer,
        examples,
        texts,
        parameters,
        work=context.work,
        validate=partial(validation.mrr, model, tokenizer, max_tokens=parameters.max_tokens, batch=parameters.batch),
        log=context.tracker.log,
    )
    metrics |= counts | {
        "questions_with_few_irrelevant": float(len(with_relevant) - len(examples)),
        "initial_validation_mrr": validation.initial_mrr(),
    }
    save_cross_encoder(out, model, tokenizer, base=base, data=data, metrics=metrics)
    return metrics
