"""Dropout, learning rate by step, and which weights are kept, of the reader and the cross-encoder (kvqae.md §4–5)."""

from pathlib import Path
from typing import Literal

import torch
from safetensors.torch import load_model, save_model
from torch.optim.lr_scheduler import LRScheduler
from transformers import get_constant_schedule, get_linear_schedule_with_warmup

from stages.tables import write_atomically

# linear: rises, then falls to 0, and the last weights are kept; constant, as published: the best on validation are.
Schedule = Literal["linear", "constant"]
BEST = "best.safetensors"


def set_dropout(model: torch.nn.Module, share: float) -> None:
    """Let training leave out this share of activations, whatever the base was trained with."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Dropout):
            layer.p = share


def make_scheduler(optimizer: torch.optim.Optimizer, schedule: Schedule, *, warmup: float, steps: int) -> LRScheduler:
    """The learning rate of each of `steps` steps; it rises over the share `warmup` of them if it is linear."""
    if schedule == "constant":
        return get_constant_schedule(optimizer)
    return get_linear_schedule_with_warmup(optimizer, round(warmup * steps), steps)


def keep_weights(
    schedule: Schedule, score: float, seen: dict[str, float], name: str, *, work: Path, model: torch.nn.Module
) -> None:
    """Note a validation's score, at least 0, of the weights to keep; write them to `work` if they are the best so far.

    With a linear schedule the last weights are kept, whatever their score.
    """
    if schedule == "linear":
        seen[name] = score
    elif score > seen.get(name, -1.0):
        seen[name] = score
        with write_atomically(work / BEST) as beside:
            save_model(model, str(beside))


def load_best(work: Path, model: torch.nn.Module) -> None:
    """Bring the model back to the weights that `keep_weights` wrote last."""
    load_model(model, str(work / BEST))
