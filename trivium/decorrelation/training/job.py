"""One cell's training, from files to a saved model (decorrelation.md §4)."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch.nn.attention import SDPBackend, sdpa_kernel

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters, validate
from trivium.core.tasks import Curve, Metrics, Point
from trivium.decorrelation.matrix import Cell
from trivium.decorrelation.models.interface import RetrievalModel, start
from trivium.decorrelation.models.kind import KINDS, ModelSettings
from trivium.decorrelation.retrieval.encoding import encode_captions, encode_pictures
from trivium.decorrelation.training.batches import Batches, Draws, Pictures
from trivium.decorrelation.training.model_training import train
from trivium.decorrelation.training.training_pairs import training_captions, training_pairs
from trivium.formats.corpus_table import load_captions
from trivium.formats.picture_corpora import IMAGES
from trivium.formats.pictures import Corpus
from trivium.measures.recall import ranks_of_embeddings
from trivium.nets.device import pick_device

PARAMS = Path("params.yaml")  # where messages look


class TrainParameters(Parameters):
    """Section `decorrelation.train`."""

    checkpoint_every: int = Field(ge=1, description="Steps between checkpoints")
    memory: int = Field(ge=0, description="Bytes of training pictures that are kept instead of decoding them again")
    workers: int = Field(ge=0, description="Processes that decode pictures ahead; 0: none besides")
    threads: int | None = Field(ge=1, description="CPU threads of a process, null: all; small networks like one best")
    validation_pictures: int = Field(ge=0, description="Validation pictures asked at the end, with their captions")
    validation_batch: int = Field(ge=1, description="Pictures or captions encoded together in validation")
    models: dict[str, dict[str, Any]] = Field(min_length=1, description="Settings of each model, by its kind")
    cell: dict[str, Any] = Field(default={}, description="The cell's fields, from `decorrelation.cells`")

    places: ClassVar = {"cell": "decorrelation.cells.{cell}"}

    def settings_of(self, kind: str) -> ModelSettings:
        """The settings of a kind of model; `BadInput`: no such kind, or settings that are missing or not its own."""
        section, settings = f"decorrelation.train.models.{kind}", KINDS[kind].Settings
        if kind not in self.models:
            raise BadInput("no such model", field=section, choices=self.models)
        return validate(settings, self.models[kind], section, PARAMS)


@dataclass(frozen=True)
class TrainJob:
    """A cell with its settings and inputs; picklable, so that a worker of a cluster can do it.

    `raw`, `pairs`, `painted` and `base`, the model's own folder, are inputs of the stage.
    """

    cell: Cell
    settings: ModelSettings
    parameters: TrainParameters
    raw: Path
    pairs: Path
    painted: Path
    base: Path

    @property
    def steps(self) -> int:
        """Optimiser steps; 0 leaves the model as it starts."""
        return 0 if self.cell.variant == "zero_shot" else max(1, round(self.cell.steps * self.settings.steps))


def train_job(
    checkpoints: Path, *, job: TrainJob, card: Callable[..., None], out: Path, log: Curve
) -> tuple[Metrics, list[Point]]:
    """Train, save and validate a cell's model, as a task of the engine; returns the stage's metrics and `log.points`.

    `card` writes the model's card, given its folder and `metrics`.
    """
    if job.parameters.threads is not None:
        torch.set_num_threads(job.parameters.threads)
    device = pick_device()
    corpus, raw = load_captions(job.raw), Images(job.raw / IMAGES)
    metrics: Metrics = {"steps": 0.0}
    # In bf16 PyTorch's fused attention goes back more slowly on a processor than plain products do.
    with sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext():
        torch.manual_seed(job.cell.seed)
        model = start(job.cell.model, job.base, job.settings, training_captions(corpus))
        if job.steps:
            model.module.to(device)
            metrics |= _train(job, checkpoints, model, corpus, raw, log)
        with write_atomically(out) as path:
            model.save(path)
        model.module.eval().to(device)
        pictures, batch = job.parameters.validation_pictures, job.parameters.validation_batch
        validated = validation_recall(model, corpus, raw, pictures, batch)
    log(max(1, job.steps), **{name: value for name, value in validated.items() if name == "validation_r@1"})
    card(out, metrics=validated)
    return metrics | validated, log.points


def _train(job: TrainJob, checkpoints: Path, model: RetrievalModel, corpus: Corpus, raw: Images, log: Curve) -> Metrics:
    settings, cell = job.settings, job.cell
    pairs = training_pairs(
        corpus, job.pairs, original=cell.original, share=cell.share, captions=cell.captions_an_image, seed=cell.seed
    )
    # Of a part of D' a batch holds so much less: figure 4's axis is then what the training sees.
    share = None if settings.synthetic_share is None else settings.synthetic_share * cell.share
    draws = Draws(pairs, settings.batch_size, share, cell.seed)
    pictures = Pictures(model, raw, Images(job.painted / "train") if pairs.painted else None, job.parameters.memory)
    pictures.keep(draws.shown(job.steps))
    metrics = train(
        model,
        Batches(model, draws, pictures, seed=cell.seed),
        settings,
        steps=job.steps,
        seed=cell.seed,
        work=checkpoints,
        checkpoint_every=job.parameters.checkpoint_every,
        workers=job.parameters.workers,
        log=log,
    )
    painted = draws.painted_before(job.steps)
    return metrics | {
        "original_pairs": float(pairs.original_pairs),
        "synthetic_pairs": float(pairs.painted_pairs),
        "original_pairs_seen": float(job.steps * settings.batch_size - painted),
        "synthetic_pairs_seen": float(painted),
    }


def validation_recall(
    model: RetrievalModel, corpus: Corpus, raw: Images, count: int, batch_size: int
) -> dict[str, float]:
    """R@1 both ways among at most `count` validation pictures and their captions."""
    pictures = [picture for picture in corpus.pictures if picture.split == "validation" and picture.captions][:count]
    if not pictures:
        return {"validation_pictures": 0.0}
    captions = [caption.text for picture in pictures for caption in picture.captions]
    owner = np.repeat(np.arange(len(pictures)), [len(picture.captions) for picture in pictures])
    images = encode_pictures(model, raw, [picture.name for picture in pictures], batch_size)
    texts = encode_captions(model, captions, batch_size)
    rows = np.arange(len(pictures))
    ranks = ranks_of_embeddings(images, texts, rows, owner), ranks_of_embeddings(texts, images, owner, rows)
    return {
        "validation_pictures": float(len(pictures)),
        "validation_r@1": float(np.mean(ranks[0] == 1)),
        "validation_text_r@1": float(np.mean(ranks[1] == 1)),
    }
