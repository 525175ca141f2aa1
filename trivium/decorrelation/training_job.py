"""One cell's training, from files to a saved model: fixed steps, halved rates, no search (decorrelation.md §4)."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.optim.lr_scheduler import LambdaLR

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters, validate
from trivium.core.tasks import Curve, Metrics, Point
from trivium.decorrelation.batches import Batch, Batches, Draws, Pictures, seed_of, training_captions, training_pairs
from trivium.decorrelation.matrix import Cell
from trivium.decorrelation.models.interface import Contrast, RetrievalModel, start
from trivium.decorrelation.models.kind import KINDS, ModelSettings
from trivium.decorrelation.retrieval.sharded_model import encode_captions, encode_pictures
from trivium.formats.corpus_table import load_corpus
from trivium.formats.picture_corpora import IMAGES
from trivium.formats.pictures import Corpus
from trivium.measures.odmap import ranks_of_embeddings
from trivium.nets import training
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
    corpus, raw = load_corpus(job.raw, objects=False), Images(job.raw / IMAGES)
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
    metrics = train(model, Batches(model, draws, pictures, seed=cell.seed), job, checkpoints, log)
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


def halved(steps: int, halve_every: float) -> Callable[[int], float]:
    """Factor of the learning rate at a step (from 0): one half to the power of ⌊step / (halve_every · steps)⌋."""
    return lambda step: 0.5 ** math.floor(step / (halve_every * steps) + 1e-9)


def train(
    model: RetrievalModel, batches: Batches, job: TrainJob, work: Path, log: Callable[..., None]
) -> dict[str, float]:
    """Train in place; goes on from the checkpoint in `work` if there is one, to the same weights.

    The cell's seed is also of dropout and whatever else the loss draws. Returns `steps` and `loss` (mean over the last
    tenth of the steps).

    Raises:
        BadInput: a loss that is not finite, a checkpoint of another model, a batch that does not fit.
    """
    settings, steps = job.settings, job.steps
    trained = [weights for weights in model.module.parameters() if weights.requires_grad]
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.optimiser]
    optimizer = kind(trained, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)

    def gradient(numbered: tuple[int, Batch], micro_batch: int) -> tuple[float, dict[str, float]]:
        step, batch = numbered
        torch.manual_seed(seed_of(job.cell.seed, step, 0))
        model.begin_step(step, steps, batches.steps_an_epoch)
        try:
            return add_gradient(model, batch, step / steps, micro_batch), {}
        except torch.OutOfMemoryError:
            if model.contrast is not None:
                raise  # fewer pairs at a time will do
            better = "a smaller mini_batch_size (CLIP, VSE++) or batch_size, or gradient_checkpointing"
            got = f"{len(batch.pictures)} pairs"
            raise BadInput("a batch does not fit the GPU", got=got, expected=better) from None

    progress = training.train(
        model.module,
        optimizer,
        LambdaLR(optimizer, halved(steps, settings.halve_every)),
        steps=steps,
        batches=lambda first: enumerate(batches.between(first, steps, job.parameters.workers), first),
        gradient=gradient,
        micro_batch=min(settings.mini_batch_size, settings.batch_size),
        unit="pairs",
        max_gradient_norm=settings.max_gradient_norm,
        work=work,
        checkpoint_every=job.parameters.checkpoint_every,
        log=log,
    )
    return {"steps": float(steps), "loss": sum(progress.losses) / len(progress.losses)}


def add_gradient(model: RetrievalModel, batch: Batch, progress: float, micro_batch: int) -> float:
    """Add the gradient of a batch's loss; returns the loss.

    A batch larger than `micro_batch` is embedded in mini-batches: first without a graph, then, when the gradient with
    respect to each embedding is known, once more with it (Gao et al. 2021). The gradient is the same, in less memory.
    Some losses need more than embeddings; those see the whole batch.

    `progress` is the share of the steps done, `micro_batch` the largest mini-batch.
    """
    if model.contrast is not None and micro_batch < len(batch.pictures):
        return _cached(model, model.contrast, batch, progress, micro_batch)
    device = next(model.module.parameters()).device
    pixels, tokens = batch.pixels.to(device, non_blocking=True), _to(batch.tokens, device)
    loss = model.loss(pixels, tokens, pictures=batch.pictures.to(device), progress=progress)
    loss.backward()
    return loss.item()


def _cached(model: RetrievalModel, contrast: Contrast, batch: Batch, progress: float, micro_batch: int) -> float:
    seed, starts = torch.initial_seed(), range(0, len(batch.pictures), micro_batch)
    device = next(model.module.parameters()).device

    def embed(first: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed_of(seed, first))  # dropout draws the same in both passes
        part = slice(first, first + micro_batch)
        tokens = _to({name: values[part] for name, values in batch.tokens.items()}, device)
        return model.encode_images(batch.pixels[part].to(device)), model.encode_texts(tokens)

    with torch.no_grad():
        parts = [embed(first) for first in starts]
    images, texts = (torch.cat(side).requires_grad_() for side in zip(*parts, strict=True))
    loss = contrast(images, texts, pictures=batch.pictures.to(device), progress=progress)
    loss.backward()
    assert images.grad is not None
    assert texts.grad is not None
    for first in starts:
        part = slice(first, first + micro_batch)
        torch.autograd.backward(embed(first), (images.grad[part], texts.grad[part]))
    return loss.item()


def _to(tokens: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: values.to(device, non_blocking=True) for name, values in tokens.items()}
