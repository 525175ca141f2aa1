"""Training of a retrieval model of any kind: fixed steps, halved learning rates, no search (decorrelation.md §4)."""

import math
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from trivium.core.errors import BadInput
from trivium.decorrelation.models.interface import Contrast, RetrievalModel
from trivium.decorrelation.models.kind import TrainingSettings
from trivium.decorrelation.training.batches import Batch, Batches, seed_of
from trivium.nets import training


def optimiser_of(module: torch.nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """Adam or AdamW over what is trained; `BadInput` where every weight is frozen."""
    trained = [weights for weights in module.parameters() if weights.requires_grad]
    if not trained:
        raise BadInput("nothing to train: every weight is frozen", field="settings")
    if settings.optimiser == "adam":
        return torch.optim.Adam(trained, lr=settings.learning_rate, fused=True)
    return torch.optim.AdamW(trained, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def halved(steps: int, halve_every: float) -> Callable[[int], float]:
    """Factor of the learning rate at a step (from 0): one half to the power of ⌊step / (halve_every · steps)⌋."""
    return lambda step: 0.5 ** math.floor(step / (halve_every * steps) + 1e-9)


def train(
    model: RetrievalModel,
    batches: Batches,
    settings: TrainingSettings,
    *,
    steps: int,
    seed: int,
    work: Path,
    checkpoint_every: int,
    workers: int,
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place; goes on from the checkpoint in `work` if there is one, to the same weights.

    Args:
        model: on its device.
        batches: the batch of each step.
        settings: how fast, in which mini-batches.
        steps: optimiser steps.
        seed: of dropout and whatever else the loss draws.
        work: folder for checkpoints.
        checkpoint_every: steps between them.
        workers: processes that decode pictures ahead.
        log: takes a step and values, for curves.

    Returns:
        `steps`, `loss` (mean over the last tenth of the steps).

    Raises:
        BadInput: nothing to train, a loss that is not finite, a checkpoint of another model, a batch that does not fit.
    """
    optimizer = optimiser_of(model.module, settings)

    def gradient(numbered: tuple[int, Batch], together: int) -> tuple[float, dict[str, float]]:
        step, batch = numbered
        torch.manual_seed(seed_of(seed, step, 0))
        model.begin_step(step, steps, batches.steps_an_epoch)
        try:
            return add_gradient(model, batch, step / steps, together), {}
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
        batches=lambda first: enumerate(batches.between(first, steps, workers), first),
        gradient=gradient,
        together=min(settings.mini_batch_size, settings.batch_size),
        unit="pairs",
        max_gradient_norm=settings.max_gradient_norm,
        work=work,
        checkpoint_every=checkpoint_every,
        log=log,
    )
    return {"steps": float(steps), "loss": sum(progress.losses) / len(progress.losses)}


def add_gradient(model: RetrievalModel, batch: Batch, progress: float, together: int) -> float:
    """Add the gradient of a batch's loss; returns the loss.

    A batch larger than `together` is embedded in mini-batches: first without a graph, then, the gradient with respect
    to each embedding known, once more with it (Gao et al. 2021): the same gradient as at once, in less memory. Some
    losses need more than embeddings; those see the whole batch.

    `progress` is the share of the steps done, `together` the largest mini-batch.
    """
    if model.contrast is not None and together < len(batch.pictures):
        return _cached(model, model.contrast, batch, progress, together, torch.initial_seed())
    device = next(model.module.parameters()).device
    pixels, tokens = batch.pixels.to(device, non_blocking=True), _to(batch.tokens, device)
    loss = model.loss(pixels, tokens, pictures=batch.pictures.to(device), progress=progress)
    loss.backward()
    return loss.item()


def _cached(
    model: RetrievalModel, contrast: Contrast, batch: Batch, progress: float, together: int, seed: int
) -> float:
    starts = range(0, len(batch.pictures), together)
    device = next(model.module.parameters()).device

    def embed(start: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed_of(seed, start))  # dropout draws the same in both passes
        part = slice(start, start + together)
        tokens = _to({name: values[part] for name, values in batch.tokens.items()}, device)
        return model.encode_images(batch.pixels[part].to(device)), model.encode_texts(tokens)

    with torch.no_grad():
        parts = [embed(start) for start in starts]
    images, texts = (torch.cat(side).requires_grad_() for side in zip(*parts, strict=True))
    loss = contrast(images, texts, pictures=batch.pictures.to(device), progress=progress)
    loss.backward()
    assert images.grad is not None
    assert texts.grad is not None
    for start in starts:
        part = slice(start, start + together)
        torch.autograd.backward(embed(start), (images.grad[part], texts.grad[part]))
    return loss.item()


def _to(tokens: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: values.to(device, non_blocking=True) for name, values in tokens.items()}
