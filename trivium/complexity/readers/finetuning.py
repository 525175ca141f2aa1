"""Fine-tuning of readers on French questions, and their answers to the evaluation questions (complexity.md §2, §5).

One model is trained for each name and seed: fixed steps, AdamW, linear warm-up and decay, no search.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field, model_validator
from torch.optim.lr_scheduler import LambdaLR

from trivium.complexity.readers.interface import READERS, AnyReaderSettings, Reader, Reading, load_reader
from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters, shared
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.answer_files import write_predictions
from trivium.formats.frame_corpora import read_examples
from trivium.formats.squad import SquadQuestion, read_squad
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import rouge_l
from trivium.nets import training


def train(
    reader: Reader, features: Sequence[Any], *, seed: int, work: Path, checkpoint_every: int, log: Callable[..., None]
) -> dict[str, float]:
    """Train in place; goes on from the checkpoint in `work` if there is one, to the same weights.

    Only trained weights are in a checkpoint; frozen ones are the base model's.

    Returns:
        `steps`, `features`, `epochs` (seen), `loss` (mean over the last tenth of the steps).

    Raises:
        BadInput: no feature, nothing to train, a loss that is not finite, a checkpoint of another model.
    """
    settings, module = reader.settings, reader.module
    if not features:
        raise BadInput("no question can be trained on", field="train", got=0)
    # A name may not hold a point.
    trained = torch.nn.ParameterDict(
        {name.replace(".", "/"): weights for name, weights in module.named_parameters() if weights.requires_grad}
    )
    if not len(trained):
        raise BadInput("nothing to train: every weight is frozen", field="settings", got=settings.label)
    # The last batch of an epoch goes on into the next.
    steps = math.ceil(len(features) * settings.epochs / settings.batch_size)
    steps = steps if settings.max_steps is None else min(steps, settings.max_steps)
    optimizer = torch.optim.AdamW(
        trained.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    rate = partial(training.rise_and_fall, rising=round(settings.warmup * steps), steps=steps)

    def batch(step: int) -> list[Any]:
        drawn = [features[row] for row in training.rows_of_step(len(features), settings.batch_size, step, seed)]
        return sorted(drawn, key=lambda feature: -feature.tokens)  # similar lengths side by side: little padding

    def gradient(drawn: list[Any], micro_batch: int) -> tuple[float, dict[str, float]]:
        size = len(drawn)
        return training.add_gradient(
            size, micro_batch, lambda part: reader.loss(drawn[part]) * (len(drawn[part]) / size)
        ), {}

    progress = training.train(
        module,
        optimizer,
        LambdaLR(optimizer, rate),
        steps=steps,
        batches=lambda first: map(batch, range(first, steps)),
        gradient=gradient,
        micro_batch=min(settings.mini_batch_size, settings.batch_size),
        unit="features",
        max_gradient_norm=settings.max_gradient_norm,
        work=work,
        checkpoint_every=checkpoint_every,
        log=log,
        saved=trained,
    )
    return {
        "steps": float(steps),
        "features": float(len(features)),
        "epochs": steps * settings.batch_size / len(features),
        "loss": float(np.mean(progress.losses)),
    }


@torch.inference_mode()
def mean_loss(reader: Reader, features: Sequence[Any]) -> float:
    """Mean loss of the features in evaluation mode."""
    reader.module.eval()
    ordered, size = sorted(features, key=lambda feature: -feature.tokens), reader.settings.mini_batch_size
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return sum(reader.loss(batch).item() * len(batch) for batch in batches) / len(ordered)


class FinetuneParameters(Parameters):
    """Section `complexity.finetune`."""

    run: tuple[str, ...] = Field(min_length=1, description="Models that are trained and asked, names of `models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="Trainings of each model: new weights, order, dropout"
    )
    validation_questions: int = Field(ge=1, description="Validation questions asked at the end, spread over the file")
    validation_batch: int = Field(default=64, ge=1, description="Readings together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    models: dict[str, dict[str, Any]] = Field(min_length=1, description="Settings of each model, by name")
    settings: AnyReaderSettings = shared(
        "complexity.finetune.models.{name}", description="Settings of this cell's model, checked by its kind"
    )

    @model_validator(mode="after")
    def _known_models(self) -> "FinetuneParameters":
        if unknown := sorted(set(self.run) - set(self.models)):
            raise ValueError(f"run: no settings for {', '.join(unknown)}; there are {', '.join(self.models)}")
        return self


def spread(questions: Sequence[SquadQuestion], count: int) -> list[SquadQuestion]:
    """At most `count` of the questions, at equal distances: neighbours share their text."""
    count = min(count, len(questions))
    return [questions[place * len(questions) // count] for place in range(count)]


def validation_scores(reader: Reader, questions: Sequence[SquadQuestion], batch_size: int) -> dict[str, float]:
    """Mean loss, and mean ROUGE-L, EM and F1 of the answers against each question's first reference."""
    features = reader.features(questions).items
    answers = reader.answer([Reading(row.id, row.question, row.context) for row in questions], batch_size)
    texts, references = [answer.text for answer in answers], [row.answers[0][0] for row in questions]
    pairs = list(zip(texts, references, strict=True))
    losses = {"loss": mean_loss(reader, features)} if features else {}
    return losses | {
        "rouge_l": float(rouge_l(references, texts).mean()),
        "em": fmean(exact_match(answer, reference) for answer, reference in pairs),
        "f1": fmean(f1(answer, reference) for answer, reference in pairs),
    }


def finetune_job(
    checkpoints: Path,
    *,
    parameters: FinetuneParameters,
    seed: int,
    base: Path,
    sets: Mapping[str, Path],
    card: Callable[..., None],
    out: Path,
    log: Curve,
) -> tuple[Metrics, list[Point]]:
    """Train a base model into a reader in a folder, as a task of the engine; returns metrics.

    The base model is in the folder `base`; `sets` are `train` and `validation`, in SQuAD's format; `card` writes the
    reader's card, given its folder and `metrics`.
    """
    read = {split: read_squad(path) for split, path in sets.items()}
    torch.manual_seed(seed)
    reader = READERS[parameters.settings.kind].start(base, parameters.settings)
    features = reader.features(read["train"].questions)
    metrics = {f"train_{name}": float(count) for name, count in features.counts.items()}
    every = parameters.checkpoint_every
    metrics |= train(reader, features.items, seed=seed, work=checkpoints, checkpoint_every=every, log=log)
    validation = spread(read["validation"].questions, parameters.validation_questions)
    scores = validation_scores(reader, validation, parameters.validation_batch)
    metrics |= {f"validation_{name}": value for name, value in scores.items()}
    weights = list(reader.module.parameters())
    metrics |= {
        "parameters": float(sum(weight.numel() for weight in weights)),
        "parameters_trained": float(sum(weight.numel() for weight in weights if weight.requires_grad)),
        "validation_questions": float(len(validation)),
    }
    with write_folder(out) as folder:
        reader.save(folder)
        card(folder, metrics={f"validation_{name}": scores[name] for name in ("rouge_l", "em", "f1")})
    dropped = {f"{split}_dropped": float(sum(part.dropped.values())) for split, part in read.items()}
    return metrics | dropped, log.points


def answer_job(
    checkpoints: Path, *, model: Path, questions: Path, texts: Path, batch_size: int, out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Write an answer a question; a few minutes' work, without checkpoints.

    All questions stay together, because batching may decide a tie between two answers.

    Returns:
        `questions`, `empty` (answers without a letter), `verbatim` (share found in the text as they stand); of readers
        that write, 0 for others: `contexts_cut` (the end of the text did not fit into the prompt),
        `answers_behind_cut` (so that the reference answer was not read, or not all of it), `not_ended` (answers cut at
        their longest).
    """
    del checkpoints
    examples = read_examples(questions, texts)
    reader = load_reader(model)
    readings = [Reading(row.id, row.question, row.text.text) for row in examples]
    answers = reader.answer(readings, batch_size)
    pairs = list(zip(examples, answers, strict=True))
    write_predictions(out, {row.id: answer.text for row, answer in pairs})
    verbatim = sum(bool(answer.text) and answer.text in row.text.text for row, answer in pairs)
    return {
        "questions": float(len(answers)),
        "empty": float(sum(not answer.text.strip() for answer in answers)),
        "verbatim": verbatim / len(answers),
        "contexts_cut": float(sum(answer.read < len(row.text.text) for row, answer in pairs)),
        "answers_behind_cut": float(sum(answer.read < row.answer.end for row, answer in pairs)),
        "not_ended": float(sum(not answer.ended for answer in answers)),
    }, log.points
