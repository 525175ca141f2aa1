"""Training of a reader of any kind: fixed steps, AdamW, linear warm-up and decay, no search (complexity.md §2)."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR

from trivium.complexity.readers.interface import Feature, Reader
from trivium.core.errors import BadInput
from trivium.nets import training


def steps_of(features: int, batch_size: int, epochs: int, max_steps: int | None) -> int:
    """Optimiser steps of so many epochs; the last batch of an epoch goes on into the next."""
    steps = math.ceil(features * epochs / batch_size)
    return steps if max_steps is None else min(steps, max_steps)


def train(
    reader: Reader,
    features: Sequence[Feature],
    *,
    seed: int,
    work: Path,
    checkpoint_every: int,
    log: Callable[..., None],
) -> dict[str, float]:
    """Train in place; goes on from the checkpoint in `work` if there is one, to the same weights.

    Only trained weights are in a checkpoint; frozen ones are the base model's.

    Args:
        reader: its settings say how long and how fast.
        features: training features of this reader.
        seed: of the order of the features.
        work: folder for checkpoints.
        checkpoint_every: steps between them.
        log: takes a step and values, for curves.

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
    steps = steps_of(len(features), settings.batch_size, settings.epochs, settings.max_steps)
    optimizer = torch.optim.AdamW(
        trained.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    rate = partial(training.rise_and_fall, rising=round(settings.warmup * steps), steps=steps)

    def batch(step: int) -> list[Feature]:
        drawn = [features[row] for row in training.rows_of_step(len(features), settings.batch_size, step, seed)]
        return sorted(drawn, key=lambda feature: -feature.tokens)  # similar lengths side by side: little padding

    def gradient(drawn: list[Feature], together: int) -> tuple[float, dict[str, float]]:
        def share(part: slice) -> torch.Tensor:
            return reader.loss(drawn[part]) * (len(drawn[part]) / len(drawn))

        return training.add_gradient(len(drawn), together, share), {}

    progress = training.train(
        module,
        optimizer,
        LambdaLR(optimizer, rate),
        steps=steps,
        batches=lambda first: map(batch, range(first, steps)),
        gradient=gradient,
        together=min(settings.mini_batch_size, settings.batch_size),
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
def mean_loss(reader: Reader, features: Sequence[Feature]) -> float:
    """Mean loss of the features in evaluation mode."""
    reader.module.eval()
    ordered, size = sorted(features, key=lambda feature: -feature.tokens), reader.settings.mini_batch_size
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return sum(reader.loss(batch).item() * len(batch) for batch in batches) / len(ordered)
