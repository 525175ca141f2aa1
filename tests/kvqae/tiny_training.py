"""Short trainings of a tiny reader and a tiny cross-encoder, and what they leave."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from stages.kvqae.reader_pretrain import main as pretrain_reader
from trivium.core.engine import LocalEngine
from trivium.core.stage import Context
from trivium.core.tasks import run_task
from trivium.core.tracking import Tracker
from trivium.kvqae.reader.inputs import TrainingData
from trivium.kvqae.reader.reader_training import ReaderPretrainParameters
from trivium.kvqae.rerankers.cross_encoder import CrossEncoderTrainingParameters, train_cross_encoder

SHARED = {
    "max_tokens": 32,
    "depth": 100,
    "dropout": 0.1,
    "frozen_embeddings": False,
    "frozen_layers": 0,
    "questions": 4,
    "steps": 6,
    "learning_rate": 3e-3,
    "schedule": "linear",
    "warmup": 0.1,
    "max_gradient_norm": 1.0,
    "validate_every": 3,
    "validation_questions": 5,
    "validation_passages": 3,
    "batch": 16,
    "checkpoint_every": 2,
}
READER = {**SHARED, "relevant": 2, "irrelevant": 4, "answer_positions": 10, "answer_tokens": 8, "selection": "em"}
CROSS_ENCODER = {**SHARED, "seed": 1, "passages": 4, "weight_decay": 0.01}


class Interrupted(Exception):
    pass


class Curves(Tracker):
    """Keeps the curves; may stop the training in the middle of a step, after its loss and before the optimiser."""

    def __init__(self, stop=None):
        self.points, self.stop = {}, stop

    def log(self, step, **values):
        if step == self.stop:
            raise Interrupted
        for name, value in values.items():
            self.points.setdefault(name, []).append((step, value))


def context(folder: Path, stop: int | None = None) -> Context:
    folder.mkdir(parents=True, exist_ok=True)
    return Context(tracker=Curves(stop), work=folder, engine=LocalEngine(1))


def pretrain_cross_encoder(parameters, ran, *, base, questions, runs, kb, out) -> dict[str, float]:
    """As stage kvqae-rerank_pretrain does, from any base."""
    source = TrainingData(questions, runs, kb)
    given = {"base": base, "base_name": "base", "new_perceptron": True, "source": source, "data": "TriviaQA"}
    return run_task(ran, partial(train_cross_encoder, parameters=parameters, **given), out, description="training")


def inputs(world) -> dict[str, Path]:
    """Of the cross-encoder's pretraining."""
    return {
        "base": world.base,
        "questions": world.triviaqa,
        "runs": world.runs / "bm25_triviaqa",
        "kb": world.kb,
    }


def same(first, second) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@dataclass(frozen=True)
class Training:
    """One of both pretrainings, with the world's inputs."""

    main: Callable[..., dict[str, float]]
    parameters: type
    values: dict[str, Any]
    inputs: dict[str, Path]
    score: str

    def run(self, ran: Context, out: Path, *, base: Path | None = None, **changes) -> dict[str, float]:
        torch.manual_seed(99)  # must not matter
        given = self.inputs | ({"base": base} if base else {})
        return self.main(self.parameters(**self.values | changes), ran, **given, out=out)

    def train(self, folder: Path, **changes) -> tuple[dict[str, float], dict[str, torch.Tensor]]:
        """Metrics and weights."""
        metrics = self.run(context(folder / "work"), folder / "model", **changes)
        return metrics, load_file(folder / "model" / "model.safetensors")


def reader_training(world) -> Training:
    """The `published` folder is there, and nothing in it."""
    published = world.folder / "published"
    published.mkdir(exist_ok=True)
    values = {**READER, "seed": 1, "losses": {"zero_shot": "mean"}}
    given = inputs(world) | {"published": published}
    main = partial(pretrain_reader, reader="zero_shot")
    return Training(main, ReaderPretrainParameters, values, given, "validation_em")


def cross_encoder_training(world) -> Training:
    own = CrossEncoderTrainingParameters
    return Training(pretrain_cross_encoder, own, CROSS_ENCODER, inputs(world), "validation_mrr")
