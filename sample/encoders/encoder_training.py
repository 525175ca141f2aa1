"""What stand-ins share: the training loop (fixed steps, AdamW, one learning-rate cycle), and CLIP's.

CLIP is open_clip's architecture with a narrow ResNet, trained on invented pictures and captions.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from open_clip.model import CLIP
from torch import nn
from torch.nn.functional import normalize
from tqdm import trange

from sample.encoders.settings import ClipSizes, StandIn
from trivium.core.tables import write_json
from trivium.nets.weights import save_weights

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


def write_clip(
    pixels: NDArray[Any], ids: torch.Tensor, folder: Path, own: ClipSizes, *, size: int, text: dict[str, Any],
    seed: int, log: Log,
) -> float:  # fmt: skip
    """Train both towers with the symmetric contrastive loss over the batch (Radford et al., ICML 2021).

    Writes the folder that open_clip loads as `local-dir:`; returns `fit`'s loss.

    Args:
        pixels: (n, side, side, 3) bytes; larger than `size`, each batch is cropped at random.
        ids: (n, captions, tokens); a step uses one caption of each picture.
        size: side of the image tower's input.
        text: the text tower's configuration, as `open_clip_config.json` has it.
    """
    mean, deviation = open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD
    # A modified ResNet as in RN50, with one block a stage.
    vision = {"image_size": size, "layers": [1, 1, 1, 1], "width": own.width, "patch_size": None}
    config: dict[str, Any] = {
        "model_cfg": {"embed_dim": own.dimension, "vision_cfg": vision, "text_cfg": {"width": 64, "heads": 2} | text},
        "preprocess_cfg": {
            "mean": list(mean), "std": list(deviation), "interpolation": "bicubic", "resize_mode": "shortest",
        },
    }  # fmt: skip
    torch.manual_seed(seed)
    model, contrast = CLIP(**config["model_cfg"]).to(memory_format=torch.channels_last), open_clip.ClipLoss()
    windows = torch.Generator().manual_seed(seed)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = crop_randomly(standardise(pixels[chosen.numpy()], mean, deviation), size, windows)
        seen = model.encode_image(images.contiguous(memory_format=torch.channels_last))
        read = model.encode_text(ids[chosen, torch.randint(ids.shape[1], (len(chosen),))])
        loss: torch.Tensor = contrast(normalize(seen, dim=1), normalize(read, dim=1), model.logit_scale.exp())
        return loss

    loss = fit(model, loss_of, examples=len(ids), own=own, seed=seed, log=log, name="clip")
    write_json(folder / "open_clip_config.json", config)
    save_weights(model, folder / "open_clip_model.safetensors")
    return loss
