"""The training loop that all stand-ins share: fixed steps, AdamW, one learning-rate cycle."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from tqdm import trange

from sample.encoders.settings import StandIn

Log = Callable[..., None]  # takes a step and values


def fit(
    model: nn.Module,
    loss_of: Callable[[torch.Tensor], torch.Tensor],
    *,
    examples: int,
    own: StandIn,
    seed: int,
    log: Log,
    name: str,
    steps: int | None = None,
) -> float:
    """Train a model in place; each epoch draws every example once.

    Args:
        model: its parameters are trained; it is left in evaluation mode.
        loss_of: computes the loss of a batch, given the examples' indices.
        examples: number of examples.
        own: steps, batch and learning rate, which rises over the first 20 % of the steps, then falls.
        seed: determines the order of the examples.
        log: receives the curve `{name}_loss`.
        name: name of the model, for the curve and the progress bar.
        steps: number of steps; by default those of `own`.

    Returns:
        The mean loss of the last tenth of the steps.
    """
    steps, batch = steps or own.steps, own.batch
    optimizer = torch.optim.AdamW(model.parameters(), lr=own.learning_rate, weight_decay=0.05, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, own.learning_rate, total_steps=steps, pct_start=0.2)
    generator = torch.Generator().manual_seed(seed)
    model.train()
    losses, order = [], torch.randperm(examples, generator=generator)
    for step in trange(steps, desc=f"train {name}", mininterval=5, leave=False):
        if len(order) < batch:
            order = torch.cat([order, torch.randperm(examples, generator=generator)])
        chosen, order = order[:batch], order[batch:]
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(chosen)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 10 == 0:
            log(step, **{f"{name}_loss": losses[-1]})
    model.eval()
    return float(np.mean(losses[-max(1, steps // 10) :]))


def standardise(pixels: NDArray[np.uint8], mean: tuple[float, ...], deviation: tuple[float, ...]) -> torch.Tensor:
    """Convert bytes (n, h, w, 3) to floats (n, 3, h, w), as torchvision's ToTensor and Normalize do."""
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float().div_(255)
    return images.sub_(torch.tensor(mean).view(1, 3, 1, 1)).div_(torch.tensor(deviation).view(1, 3, 1, 1))


def crop_randomly(images: torch.Tensor, size: int, generator: torch.Generator) -> torch.Tensor:
    """Crop all (n, 3, h, w) images of a batch to the same random window."""
    top, left = (int(torch.randint(images.shape[axis] - size + 1, (), generator=generator)) for axis in (2, 3))
    return images[:, :, top : top + size, left : left + size]
