"""Training of reader and cross-encoder: on questions, each with passages of its list (kvqae.md §4–5)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from pydantic import Field
from transformers import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertTokenizer,
    get_constant_schedule,
    get_linear_schedule_with_warmup,
)

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.reader.inputs import Example, sample_passages
from trivium.kvqae.reader.reading import Pairs, Sampled, tokenize_sampled
from trivium.nets import training
from trivium.nets.feeding import feed, feeders

# linear: warm-up, then decay to 0, and the last weights are kept; constant, as published: the best on validation are.
Schedule = Literal["linear", "constant"]
Model = BertForQuestionAnswering | BertForSequenceClassification
LossOf = Callable[[Pairs, Sampled], tuple[torch.Tensor, Mapping[str, int]]]


class QuestionTrainingParameters(Parameters):
    """Part of the sections of the reader's and of the cross-encoder's trainings."""

    max_tokens: int = shared("kvqae.texts.pair_tokens", ge=8, le=512, description="Tokens of question and passage")
    depth: int = Field(ge=1, description="Passages are sampled from the best of the run, this many")
    dropout: float = shared("kvqae.pair_training.dropout", ge=0, lt=1, description="Of attention and hidden layers")
    frozen_embeddings: bool = shared(
        "kvqae.pair_training.frozen_embeddings", description="Leave word embeddings as they are (a third less time)"
    )
    frozen_layers: int = Field(ge=0, description="Leave this many of the lowest layers as they are")
    questions: int = Field(ge=1, description="Questions in a step (batch)")
    steps: int = Field(ge=1, description="Optimiser steps, at most")
    patience: int | None = shared(
        "kvqae.pair_training.patience", None, ge=1, description="Constant only: validations without a better one"
    )
    learning_rate: float = Field(gt=0, description="AdamW's, at its highest")
    schedule: Schedule = shared("kvqae.pair_training.schedule", description="Of the learning rate")
    warmup: float = shared("kvqae.pair_training.warmup", ge=0, lt=1, description="Linear only: share of rising steps")
    max_gradient_norm: float = shared("kvqae.pair_training.max_gradient_norm", gt=0, description="Largest norm of it")
    validate_every: int = Field(ge=1, description="Steps between validations")
    validation_questions: int = Field(ge=1, description="Questions in validation, from the first on")
    validation_passages: int = Field(ge=1, description="Best passages of each in validation")
    batch: int = shared("kvqae.texts.pair_batch", ge=1, description="Pairs read together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")


def set_dropout(model: torch.nn.Module, share: float) -> None:
    """Set the dropout of all layers, whatever the base was trained with."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = share


def freeze(model: Model, *, word_embeddings: bool, layers: int) -> None:
    """Freeze word embeddings, so many of the lowest layers, and all embeddings below such layers."""
    own = model.bert.encoder.layer
    if layers > len(own):
        most = f"at most {len(own)}"
        raise BadInput("more layers than the model has", field="frozen_layers", got=layers, expected=most)
    model.bert.embeddings.word_embeddings.requires_grad_(not word_embeddings)
    if layers:
        own[:layers].requires_grad_(False)
        model.bert.embeddings.requires_grad_(False)  # their gradients would pass through the frozen layers


def train(
    model: Model,
    tokenizer: BertTokenizer,
    examples: Sequence[Example],
    texts: PassageTexts,
    parameters: QuestionTrainingParameters,
    *,
    name: str,
    seed: int,
    relevant: int,
    irrelevant: int,
    weight_decay: float,
    loss_of: LossOf,
    score: str,
    validate: Callable[[], float],
    work: Path,
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place; resumes from the checkpoint in `work` if there is one.

    Passages are sampled anew at each step, from a generator of that step alone. With a linear schedule the weights
    after the last step are kept. With a constant one the best weights on validation are kept, as published, and the
    training also ends after `patience` validations without a better one. While a GPU trains, processes tokenise the
    next passages.

    Args:
        texts: texts of all the examples' passages.
        relevant, irrelevant: passages of a question in a step, see `sample_passages`.
        loss_of: returns the sum of some questions' losses, and by name other values, which are summed over all steps.
        score: name, in metrics and curves, of the score that `validate` returns.

    Returns:
        `loss` of the last step, `score` of the weights kept, and the sums of the other values of `loss_of`.
    """
    constant = parameters.schedule == "constant"
    # This leaves the tokenizer, which is saved beside the model, set to cut and pad pairs.
    tokenize_sampled(tokenizer, [(examples[0], examples[0].relevant)], texts, parameters.max_tokens)
    set_dropout(model, parameters.dropout)
    freeze(model, word_embeddings=parameters.frozen_embeddings, layers=parameters.frozen_layers)
    trained = [weights for weights in model.parameters() if weights.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=parameters.learning_rate, weight_decay=weight_decay, fused=True)
    rising = round(parameters.warmup * parameters.steps)
    scheduler = (
        get_constant_schedule(optimizer)
        if constant
        else get_linear_schedule_with_warmup(optimizer, rising, parameters.steps)
    )

    def sample(step: int) -> Sampled:
        rng = np.random.default_rng([seed, 1, step])
        places = training.rows_of_step(len(examples), parameters.questions, step, seed, 0)
        return [(examples[place], sample_passages(examples[place], relevant, irrelevant, rng)) for place in places]

    def batches(first: int) -> Iterator[tuple[Sampled, Pairs]]:
        steps = range(first, parameters.steps)

        def tokens(number: int) -> Pairs:
            return tokenize_sampled(tokenizer, sample(steps[number]), texts, parameters.max_tokens)

        return zip(map(sample, steps), feed(tokens, len(steps), feeders()), strict=True)

    def gradient(batch: tuple[Sampled, Pairs], micro_batch: int) -> tuple[float, Counter[str]]:
        sampled, pairs = batch
        counts = Counter[str]()
        bounds = [0, *accumulate(len(ids) for _, ids in sampled)]

        def share(part: slice) -> torch.Tensor:
            own = slice(bounds[part.start], bounds[min(part.stop, len(sampled))])
            loss, part_counts = loss_of(pairs.part(own), sampled[part])
            counts.update(part_counts)
            return loss / len(sampled)

        return training.add_gradient(len(sampled), micro_batch, share), counts

    progress = training.train(
        model,
        optimizer,
        scheduler,
        steps=parameters.steps,
        batches=batches,
        gradient=gradient,
        micro_batch=parameters.questions,
        unit="questions",
        max_gradient_norm=parameters.max_gradient_norm,
        work=work,
        checkpoint_every=parameters.checkpoint_every,
        log=log,
        name=name,
        validation=training.Validation(
            lambda: {score: validate()},
            parameters.validate_every,
            best=score if constant else None,
            patience=parameters.patience if constant else None,
        ),
    )
    return {**progress.counts, "loss": progress.loss, **progress.scores}
