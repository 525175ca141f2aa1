"""Adapt a base model to French reading: FQuAD, two epochs, no search; one model a name and seed (complexity.md §2)."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated

import torch
from pydantic import Field, model_validator

from stages.atomic import write_atomically
from stages.cards import write_card
from stages.complexity.corpus.squad import SquadQuestion, read_squad
from stages.complexity.readers.interface import Reader, Reading, reader_of
from stages.complexity.readers.settings import AnyReaderSettings, ReaderSettings
from stages.complexity.readers.training import mean_loss, train
from stages.measures.french import exact_match, f1
from stages.measures.rouge import rouge_l
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_json

_PROVENANCE = "provenance.json"


class FinetuneParameters(Parameters):
    """Section `complexity.finetune`."""

    run: tuple[str, ...] = Field(min_length=1, description="Models that are trained and asked, names of `models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="Trainings of each model: new weights, order, dropout"
    )
    validation_questions: int = Field(ge=1, description="Validation questions asked at the end, spread over the file")
    validation_batch: int = Field(ge=1, description="Readings together in validation")
    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    models: dict[str, AnyReaderSettings] = Field(min_length=1, description="What each model is told, by name")

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


def finetune(
    parameters: FinetuneParameters,
    context: Context,
    *,
    settings: ReaderSettings,
    kind: str,
    seed: int,
    base: Path,
    training: Sequence[SquadQuestion],
    validation: Sequence[SquadQuestion],
) -> tuple[Reader, dict[str, float]]:
    """From a base model to a trained reader, with its metrics."""
    torch.manual_seed(seed)
    reader = reader_of(kind).start(base, settings)
    features = reader.features(training)
    metrics = {f"train_{name}": float(count) for name, count in features.counts.items()}
    metrics |= train(
        reader,
        features.items,
        seed=seed,
        work=context.work,
        checkpoint_every=parameters.checkpoint_every,
        log=context.tracker.log,
    )
    asked = spread(validation, parameters.validation_questions)
    scores = validation_scores(reader, asked, parameters.validation_batch)
    metrics |= {f"validation_{name}": value for name, value in scores.items()}
    trained = sum(weights.numel() for weights in reader.module.parameters() if weights.requires_grad)
    metrics |= {"parameters": float(sum(weights.numel() for weights in reader.module.parameters()))}
    return reader, metrics | {"parameters_trained": float(trained), "validation_questions": float(len(asked))}


def main(
    parameters: FinetuneParameters,
    context: Context,
    *,
    name: str,
    seed: int,
    base: Path,
    train: Path,
    validation: Path,
    out: Path,
) -> dict[str, float]:
    """Train the model --name with --seed from its folder in --base; export it with a card."""
    if name not in parameters.models:
        raise BadInput("no such model", field="--name", got=name, choices=parameters.models)
    settings = parameters.models[name]
    folder = base / settings.base
    if not folder.is_dir():
        raise BadInput("no such base model", file=folder, field=f"models.{name}.base",
                       choices=sorted(path.name for path in base.iterdir() if path.is_dir()))  # fmt: skip
    sets = {"train": read_squad(train), "validation": read_squad(validation)}
    reader, metrics = finetune(
        parameters,
        context,
        settings=settings,
        kind=settings.kind,
        seed=seed,
        base=folder,
        training=sets["train"].questions,
        validation=sets["validation"].questions,
    )
    metrics |= {f"{split}_dropped": float(sum(each.dropped.values())) for split, each in sets.items()}
    with write_atomically(out) as beside:
        beside.mkdir(parents=True)
        reader.save(beside)
        _card(beside, settings, seed, folder, train, metrics)
    return metrics


def _card(out: Path, settings: ReaderSettings, seed: int, base: Path, train: Path, metrics: dict[str, float]) -> None:
    path = base / _PROVENANCE
    origin = read_json(path) if path.exists() else {"from": settings.base, "licence": "other"}
    weak = " A small configuration that hardly reads: it shows that the path works, no more." if settings.weak else ""
    write_card(
        out,
        title=f"{settings.label}, reader of French questions, seed {seed}",
        description=f"Answers a question from a French context with words of that context.{weak}",
        base=origin["from"],
        data=f"{train}, from the world that `world.fquad` in params.yaml names (`sample`: generated sentences)",
        metrics={f"validation_{name}": metrics[f"validation_{name}"] for name in ("rouge_l", "em", "f1")},
        licence=origin["licence"],
    )


if __name__ == "__main__":
    run_stage(main, "complexity.finetune", FinetuneParameters)
