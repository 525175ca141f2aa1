"""Stage `complexity-finetune`: the one training loop, with a checkpoint after every other step."""

from collections.abc import Iterator
from pathlib import Path

import torch
from pydantic import Field
from safetensors.torch import save_model
from torch.optim.lr_scheduler import ConstantLR

from stages.lingering import linger, pause
from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.nets.training import train


class FinetuneParameters(Parameters):
    """Section `complexity.finetune`."""

    steps: int = Field(ge=1, description="Of the optimiser")
    seed: int = Field(ge=0, description="Of weights and batches")


def main(parameters: FinetuneParameters, context: Context, *, out: Path) -> dict[str, float]:
    """Train a network on what is drawn from torch's random state, which a checkpoint holds."""
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Dropout(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters())

    def batches(first: int) -> Iterator[int]:
        for step in range(first, parameters.steps):
            pause()
            if step == parameters.steps // 2:
                linger()
            yield step

    def gradient(step: int, together: int) -> tuple[float, dict[str, float]]:
        inputs = torch.randn(together, 16)
        loss = (model(inputs).squeeze(1) - inputs.sum(1)).square().mean()
        loss.backward()
        return loss.item(), {}

    progress = train(
        model,
        optimizer,
        ConstantLR(optimizer, factor=1.0),
        steps=parameters.steps,
        batches=batches,
        gradient=gradient,
        together=8,
        unit="rows",
        max_gradient_norm=1.0,
        work=context.work,
        checkpoint_every=2,
        log=context.tracker.log,
    )
    with write_atomically(out) as beside:
        beside.mkdir()
        save_model(model, str(beside / "model.safetensors"))
        write_json(beside / "losses.json", progress.losses)
    return {"loss": progress.loss}


if __name__ == "__main__":
    run_stage(main, "complexity.finetune", FinetuneParameters)
