"""Training of the reader, shared by pretraining on TriviaQA and fine-tuning on ViQuAE (kvqae.md §5)."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from tqdm import tqdm
from transformers import BertForQuestionAnswering, BertTokenizer

from stages.device import autocast, halving, pick_device
from stages.kvqae.passage_texts import PassageTexts
from stages.kvqae.questions import read_questions
from stages.kvqae.reader.data import (
    Example,
    answer_characters,
    answer_targets,
    retrieved,
    sample_passages,
    split_by_relevance,
    texts_of,
    tokenize,
)
from stages.kvqae.reader.model import load_reader, save_reader
from stages.kvqae.reader.schedules import Schedule, keep_weights, load_best, make_scheduler, set_dropout
from stages.kvqae.reader.validation import Validation
from stages.nets.reader import PassageReduction, question_loss
from stages.resume import load_checkpoint, save_checkpoint
from stages.stage import BadInput, Context, Parameters


class ReaderTrainingParameters(Parameters):
    """What sections `kvqae.reader_pretrain` and `kvqae.reader_finetune` share."""

    max_tokens: int = Field(ge=8, le=512, description="Tokens of question and passage together")
    depth: int = Field(ge=1, description="Passages are sampled from the best of the run, this many")
    relevant: int = Field(ge=1, description="Most relevant passages of a question in a step")
    irrelevant: int = Field(ge=0, description="Irrelevant passages of a question in a step")
    answer_positions: int = Field(ge=1, description="Most answer positions used in a passage")
    dropout: float = Field(ge=0, lt=1, description="Of attention and hidden layers; BERT's 0.1 suits longer trainings")
    frozen_embeddings: bool = Field(description="Leave word embeddings as they are (a third less time)")
    questions: int = Field(ge=1, description="Questions in a step (batch)")
    steps: int = Field(ge=1, description="Optimiser steps")
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    schedule: Schedule = Field(
        description="Of the learning rate; constant also keeps the best weights on validation, linear the last ones"
    )
    warmup: float = Field(ge=0, lt=1, description="Linear only: share of the steps in which the learning rate rises")
    clip: float = Field(gt=0, description="Largest norm of the gradient")
    validate_every: int = Field(ge=1, description="Steps between validations")
    validation_questions: int = Field(ge=1, description="Validation questions asked, from the first on")
    validation_passages: int = Field(ge=1, description="Best passages read for each")
    answer_tokens: int = Field(ge=1, description="Longest answer in validation")
    batch: int = Field(ge=1, description="Pairs read together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")


def questions_of_step(count: int, size: int, step: int, seed: int) -> list[int]:
    """Which of `count` questions step `step` (from 0) sees: consecutive ones of an endless row of shuffled epochs."""
    places = range(step * size, (step + 1) * size)
    epochs = {place // count for place in places}
    orders = {epoch: np.random.default_rng([seed, 0, epoch]).permutation(count) for epoch in epochs}
    return [int(orders[place // count][place % count]) for place in places]


def loss_of(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    sampled: Sequence[tuple[Example, np.ndarray]],
    texts: PassageTexts,
    parameters: ReaderTrainingParameters,
    reduction: PassageReduction,
) -> tuple[torch.Tensor, int]:
    """Sum of these questions' losses, and how many of their passages lost all answers to the cut."""
    read = [(example, passage) for example, ids in sampled for passage in map(texts.__getitem__, ids)]
    pairs = tokenize(
        tokenizer,
        [example.question.text for example, _ in read],
        [passage for _, passage in read],
        parameters.max_tokens,
    )
    characters = [answer_characters(example.matcher, passage) for example, passage in read]
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
        question_loss(start_logits, end_logits, each_mask, starts, ends, reduction)
        for start_logits, end_logits, each_mask, starts, ends in zip(
            *(part.split(counts) for part in parts), strict=True
        )
    ]
    return torch.stack(losses).sum(), cut


def _backward(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    sampled: Sequence[tuple[Example, np.ndarray]],
    texts: PassageTexts,
    parameters: ReaderTrainingParameters,
    reduction: PassageReduction,
    together: int,
) -> tuple[float, int]:
    """The gradient of the questions' mean loss, so many at a time; returns the loss and `loss_of`'s count."""
    model.zero_grad(set_to_none=True)
    total, cut = 0.0, 0
    for start in range(0, len(sampled), together):
        part, part_cut = loss_of(model, tokenizer, sampled[start : start + together], texts, parameters, reduction)
        part = part / len(sampled)
        part.backward()
        total, cut = total + part.item(), cut + part_cut
    return total, cut


def train(
    model: BertForQuestionAnswering,
    tokenizer: BertTokenizer,
    examples: Sequence[Example],
    texts: PassageTexts,
    parameters: ReaderTrainingParameters,
    *,
    reduction: PassageReduction,
    seed: int,
    work: Path,
    validate: Callable[[], float],
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place for a fixed number of steps; goes on from the checkpoint in `work` if there is one.

    Passages are sampled anew at each step, from a generator of that step alone. With a linear schedule the weights
    after the last step are kept: the learning rate has fallen to 0 by then. With a constant one the best on validation
    are, as published; the first at equality. `reduction`: how a question's passages make its loss.

    Returns:
        `loss` of the last step, `validation_em` of the weights kept, `passages_answers_cut` (seen relevant passages cut
        before the answer).

    Raises:
        BadInput: the loss is not finite, or the checkpoint is of another model.
    """
    set_dropout(model, parameters.dropout)
    model.bert.embeddings.word_embeddings.requires_grad_(not parameters.frozen_embeddings)
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=parameters.learning_rate, weight_decay=0, fused=True)
    scheduler = make_scheduler(optimizer, parameters.schedule, warmup=parameters.warmup, steps=parameters.steps)
    state = load_checkpoint(work, model=model, optimizer=optimizer, scheduler=scheduler)
    first, seen = state or (0, {"passages_answers_cut": 0.0})
    together = parameters.questions  # halved when GPU memory runs out
    for step in tqdm(range(first, parameters.steps), desc="reader", unit="step", mininterval=5, leave=False):
        model.train()
        rng = np.random.default_rng([seed, 1, step])
        sampled = [
            (examples[place], sample_passages(examples[place], parameters.relevant, parameters.irrelevant, rng))
            for place in questions_of_step(len(examples), parameters.questions, step, seed)
        ]
        attempt = partial(_backward, model, tokenizer, sampled, texts, parameters, reduction)
        (loss, cut), together = halving(together, attempt, unit="questions")
        if not math.isfinite(loss):
            raise BadInput("the loss is not finite", row=f"step {step + 1}", got=loss, expected="a lower learning rate")
        norm = torch.nn.utils.clip_grad_norm_(trained, parameters.clip)
        done = step + 1
        log(done, loss=loss, learning_rate=scheduler.get_last_lr()[0], gradient_norm=float(norm))
        optimizer.step()
        scheduler.step()
        seen = {**seen, "loss": loss, "passages_answers_cut": seen["passages_answers_cut"] + cut}
        if done % parameters.validate_every == 0 or done == parameters.steps:
            score = validate()
            log(done, validation_em=score)
            keep_weights(parameters.schedule, score, seen, "validation_em", work=work, model=model)
        if done % parameters.checkpoint_every == 0:
            save_checkpoint(work, step=done, model=model, optimizer=optimizer, scheduler=scheduler, extra=seen)
    if parameters.schedule == "constant":
        load_best(work, model)
    return seen


def run_training(
    parameters: ReaderTrainingParameters,
    context: Context,
    *,
    reduction: PassageReduction,
    seed: int,
    base: Path,
    new_heads: bool,
    questions: Path,
    runs: Path,
    passages: Path,
    articles: Path,
    out: Path,
    data: str,
    own: Sequence[NDArray[np.int64]] | None = None,
) -> dict[str, float]:
    """What both stages do: read questions and runs of the splits train and validation, train, export.

    `own`: passages of each training question's own article, see `split_by_relevance`.

    Raises:
        BadInput: see `load_reader`, `retrieved`; no question has a relevant passage; a loss that is not finite.
    """
    torch.manual_seed(seed)
    model, tokenizer = load_reader(base, parameters.max_tokens, new_heads=new_heads)
    torch.nn.Module.to(model, pick_device())
    asked = {split: read_questions(questions / f"{split}.jsonl") for split in ("train", "validation")}
    lists = {
        "train": retrieved(runs / "train.trec", asked["train"], parameters.depth),
        "validation": retrieved(runs / "validation.trec", asked["validation"], parameters.validation_passages),
    }
    texts = texts_of(passages, articles, *(run.documents for run in lists.values()), *(own or ()))
    examples, counts = split_by_relevance(asked["train"], lists["train"], texts, own)
    if not examples:
        raise BadInput("no question has a relevant passage", file=runs / "train.trec", got=0, expected="at least one")
    validation = Validation(asked["validation"][: parameters.validation_questions], lists["validation"], texts)
    metrics = train(
        model,
        tokenizer,
        examples,
        texts,
        parameters,
        reduction=reduction,
        seed=seed,
        work=context.work,
        validate=lambda: validation.exact_match(
            model,
            tokenizer,
            max_tokens=parameters.max_tokens,
            answer_tokens=parameters.answer_tokens,
            batch=parameters.batch,
        ),
        log=context.tracker.log,
    )
    metrics |= counts
    save_reader(out, model, tokenizer, base=base, data=data, metrics=metrics)
    return metrics
