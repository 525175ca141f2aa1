"""Adapt a base model to French reading, two epochs, no search, and ask it every evaluation question (complexity.md §2).

There is one model a name and seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import torch
from pydantic import Field, model_validator

from trivium.complexity.readers.interface import READERS, AnyReaderSettings, Reader, Reading, load_reader
from trivium.complexity.readers.reader_training import mean_loss, train
from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.tasks import Curve, Metrics, Point
from trivium.formats.frame_corpora import read_examples
from trivium.formats.predictions import write_predictions
from trivium.formats.squad import SquadQuestion, read_squad
from trivium.measures.french import exact_match, f1
from trivium.measures.rouge import rouge_l

SCORES = ("rouge_l", "em", "f1")  # that stand in the card


class FinetuneParameters(Parameters):
    """Section `complexity.finetune`."""

    run: tuple[str, ...] = Field(min_length=1, description="Models that are trained and asked, names of `models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="Trainings of each model: new weights, order, dropout"
    )
    validation_questions: int = Field(ge=1, description="Validation questions asked at the end, spread over the file")
    validation_batch: int = Field(default=64, ge=1, description="Readings together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    models: dict[str, dict[str, Any]] = Field(min_length=1, description="What each model is told, by name")
    settings: AnyReaderSettings = Field(description="What the model of this cell is told, checked by its kind")
    elsewhere = {"settings": "complexity.finetune.models.{name}"}  # noqa: RUF012

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
    answers = reader.answer([Reading(each.id, each.question, each.context) for each in questions], batch_size)
    texts = [answer.text for answer in answers]
    references = [each.answers[0][0] for each in questions]
    pairs = list(zip(texts, references, strict=True))
    losses = {"loss": mean_loss(reader, features)} if features else {}
    return losses | {
        "rouge_l": float(rouge_l(references, texts).mean()),
        "em": fmean(exact_match(answer, reference) for answer, reference in pairs),
        "f1": fmean(f1(answer, reference) for answer, reference in pairs),
    }


@dataclass(frozen=True)
class FinetuneJob:
    """What a training is told.

    Attributes:
        parameters: of the stage.
        seed: of new weights, order and dropout.
        base: folder of the base model.
        train, validation: question sets in SQuAD's format.
    """

    parameters: FinetuneParameters
    seed: int
    base: Path
    train: Path
    validation: Path


def finetune_job(
    checkpoints: Path, *, job: FinetuneJob, card: Callable[..., None], out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """From a base model to a trained reader in a folder, as a task of the engine; its metrics.

    `card` writes the reader's card, given its folder and `metrics`.
    """
    sets = {"train": read_squad(job.train), "validation": read_squad(job.validation)}
    reader, metrics = finetune(
        job.parameters,
        seed=job.seed,
        base=job.base,
        training=sets["train"].questions,
        validation=sets["validation"].questions,
        work=checkpoints,
        log=log,
    )
    with write_atomically(out) as beside:
        beside.mkdir(parents=True)
        reader.save(beside)
        card(beside, metrics={f"validation_{name}": metrics[f"validation_{name}"] for name in SCORES})
    dropped = {f"{split}_dropped": float(sum(each.dropped.values())) for split, each in sets.items()}
    return metrics | dropped, log.points


def finetune(
    parameters: FinetuneParameters,
    *,
    seed: int,
    base: Path,
    training: Sequence[SquadQuestion],
    validation: Sequence[SquadQuestion],
    work: Path,
    log: Callable[..., None],
) -> tuple[Reader, dict[str, float]]:
    """From a base model to a trained reader, with its metrics."""
    torch.manual_seed(seed)
    reader = READERS[parameters.settings.kind].start(base, parameters.settings)
    features = reader.features(training)
    metrics = {f"train_{name}": float(count) for name, count in features.counts.items()}
    metrics |= train(
        reader,
        features.items,
        seed=seed,
        work=work,
        checkpoint_every=parameters.checkpoint_every,
        log=log,
    )
    asked = spread(validation, parameters.validation_questions)
    scores = validation_scores(reader, asked, parameters.validation_batch)
    metrics |= {f"validation_{name}": value for name, value in scores.items()}
    trained = sum(weights.numel() for weights in reader.module.parameters() if weights.requires_grad)
    metrics |= {"parameters": float(sum(weights.numel() for weights in reader.module.parameters()))}
    return reader, metrics | {"parameters_trained": float(trained), "validation_questions": float(len(asked))}


def answer_job(
    checkpoints: Path, *, model: Path, questions: Path, texts: Path, batch_size: int, out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Write an answer a question; a few minutes' work, without checkpoints.

    All questions stay together: how they stand in batches may turn a tie between two answers.

    Args:
        checkpoints: not used.
        model: folder of the reader.
        questions, texts: see `read_examples`.
        batch_size: readings together.
        out: file of the answers.
        log: takes nothing.

    Returns:
        `questions`, `empty` (answers without a letter), `verbatim` (share found in the text as they stand); of readers
        that write, 0 for others: `contexts_cut` (the end of the text did not fit into the prompt),
        `answers_behind_cut` (so that the reference answer was not read, or not all of it), `not_ended` (answers cut at
        their longest).
    """
    examples = read_examples(questions, texts)
    reader = load_reader(model)
    readings = [Reading(each.id, each.question, each.text.text) for each in examples]
    answers = reader.answer(readings, batch_size)
    pairs = list(zip(examples, answers, strict=True))
    write_predictions(out, {each.id: answer.text for each, answer in pairs})
    found = sum(bool(answer.text) and answer.text in each.text.text for each, answer in pairs)
    return {
        "questions": float(len(answers)),
        "empty": float(sum(not answer.text.strip() for answer in answers)),
        "verbatim": found / len(answers),
        "contexts_cut": float(sum(answer.read < len(each.text.text) for each, answer in pairs)),
        "answers_behind_cut": float(sum(answer.read < each.answer.end for each, answer in pairs)),
        "not_ended": float(sum(not answer.ended for answer in answers)),
    }, log.points
