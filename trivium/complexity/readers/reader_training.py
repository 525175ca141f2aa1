"""Training of a reader of any kind: fixed steps, AdamW, linear warm-up and decay, no search (complexity.md §2)."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from trivium.complexity.readers.interface import Feature, Reader
from trivium.errors import BadInput
from trivium.harness.resume import load_checkpoint, save_checkpoint
from trivium.nets.device import halving


def steps_of(features: int, batch_size: int, epochs: int, max_steps: int | None) -> int:
    """Optimiser steps of so many epochs; the last batch of an epoch goes on into the next."""
    steps = math.ceil(features * epochs / batch_size)
    return steps if max_steps is None else min(steps, max_steps)


def batch_of(features: int, batch_size: int, step: int, seed: int) -> list[int]:
    """Which features step `step` (from 0) sees: consecutive ones of an endless row of shuffled epochs."""
    places = range(step * batch_size, (step + 1) * batch_size)
    orders = {
        epoch: np.random.default_rng([seed, epoch]).permutation(features)
        for epoch in {place // features for place in places}
    }
    return [int(orders[place // features][place % features]) for place in places]


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
    rising = round(settings.warmup * steps)
    optimizer = torch.optim.AdamW(
        trained.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    scheduler = LambdaLR(
        optimizer, lambda step: (step + 1) / (rising + 1) if step < rising else (steps - step) / max(1, steps - rising)
    )
    state = load_checkpoint(work, model=trained, optimizer=optimizer, scheduler=scheduler)
    first, losses = (state[0], state[1]["losses"]) if state else (0, [])
    together = min(settings.mini_batch_size, settings.batch_size)
    module.train()
    for step in tqdm(range(first, steps), initial=first, total=steps, desc="train", unit="step", mininterval=5):
        batch = [features[place] for place in batch_of(len(features), settings.batch_size, step, seed)]
        loss, together = _backward(reader, batch, together)
        if not math.isfinite(loss):
            raise BadInput("the loss is not finite", row=f"step {step + 1}", got=loss, expected="a lower learning rate")
        norm = torch.nn.utils.clip_grad_norm_(trained.parameters(), settings.max_gradient_norm)
        log(step + 1, loss=loss, learning_rate=scheduler.get_last_lr()[0], gradient_norm=float(norm))
        optimizer.step()
        scheduler.step()
        losses.append(loss)
        if (step + 1) % checkpoint_every == 0:
            save_checkpoint(
                work, step=step + 1, model=trained, optimizer=optimizer, scheduler=scheduler, extra={"losses": losses}
            )
    module.eval()
    return {
        "steps": float(steps),
        "features": float(len(features)),
        "epochs": steps * settings.batch_size / len(features),
        "loss": float(np.mean(losses[-max(1, steps // 10) :])),
    }


def _backward(reader: Reader, batch: Sequence[Feature], together: int) -> tuple[float, int]:
    """Loss of a batch, its gradient added up from mini-batches; one that does not fit the GPU is halved.

    Returns:
        The loss, and the mini-batch size to go on with.

    Raises:
        torch.OutOfMemoryError: a single feature does not fit.
    """
    # Similar lengths side by side: little padding.
    ordered = sorted(batch, key=lambda feature: -feature.tokens)

    def attempt(size: int) -> float:
        reader.module.zero_grad(set_to_none=True)
        total = 0.0
        for start in range(0, len(ordered), size):
            part = ordered[start : start + size]
            loss = reader.loss(part) * (len(part) / len(ordered))
            loss.backward()
            total += loss.item()
        return total

    return halving(together, attempt, unit="features")


@torch.inference_mode()
def mean_loss(reader: Reader, features: Sequence[Feature]) -> float:
    """Mean loss of the features in evaluation mode."""
    reader.module.eval()
    ordered, size = sorted(features, key=lambda feature: -feature.tokens), reader.settings.mini_batch_size
    batches = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    return sum(reader.loss(batch).item() * len(batch) for batch in batches) / len(ordered)
