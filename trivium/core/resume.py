"""Checkpoints of long trainings: weights, optimiser, schedule and random state; complete or absent."""

import pickle
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_model, save_model

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.tables import read_json, write_json


def save_checkpoint(
    folder: Path,
    *,
    step: int,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    extra: dict[str, Any] | None = None,
) -> None:
    """Replace the checkpoint in `folder/checkpoint` by the state after `step` steps of the optimiser.

    `extra` has small JSON values to get back, such as the best score so far.
    """
    with write_atomically(folder / "checkpoint") as temporary:
        temporary.mkdir()
        save_model(model, str(temporary / "model.safetensors"))
        state: dict[str, Any] = {"optimizer": optimizer.state_dict(), "torch": torch.get_rng_state()}
        if scheduler is not None:
            state["scheduler"] = scheduler.state_dict()
        if torch.cuda.is_available():
            state["cuda"] = torch.cuda.get_rng_state_all()
        torch.save(state, temporary / "state.pt")
        write_json(temporary / "step.json", {"step": step, "extra": extra or {}})


def load_checkpoint(
    folder: Path,
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
) -> tuple[int, dict[str, Any]] | None:
    """Load the last checkpoint into model, optimiser, schedule and random state.

    Returns (steps done, extra), or None when there is none; `BadInput` where it is of a model of another shape.
    """
    checkpoint = folder / "checkpoint"
    if not checkpoint.exists():
        return None
    try:
        load_model(model, str(checkpoint / "model.safetensors"))
        state = torch.load(checkpoint / "state.pt", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError) as error:
        raise BadInput(f"checkpoint does not fit: {error}", file=checkpoint) from None
    optimizer.load_state_dict(state["optimizer"])
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
    done = read_json(checkpoint / "step.json")
    return done["step"], done["extra"]
