"""Stand-ins of CLIP: open_clip's architecture with a narrow ResNet, trained on invented pictures and captions."""

from pathlib import Path
from typing import Any

import open_clip
import torch
from numpy.typing import NDArray
from open_clip.model import CLIP
from torch.nn.functional import normalize

from sample.encoders.encoder_training import Log, crop_randomly, fit, standardise
from sample.encoders.settings import ClipSizes
from trivium.core.tables import write_json
from trivium.nets.weights import save_weights


def write_clip(
    pixels: NDArray[Any], ids: torch.Tensor, folder: Path, own: ClipSizes, *, size: int, text: dict[str, Any],
    seed: int, log: Log,
) -> float:  # fmt: skip
    """Train both towers with the symmetric contrastive loss over the batch (Radford et al., ICML 2021).

    Writes the folder that open_clip loads as `local-dir:`.

    Args:
        pixels: (n, side, side, 3) bytes; larger than `size`, each batch is cropped at random.
        ids: (n, captions, tokens); a step uses one caption of each picture.
        folder: folder to write to.
        own: sizes and training.
        size: side of the image tower's input.
        text: the text tower's configuration, as `open_clip_config.json` has it.
        seed, log: as `fit` takes them.

    Returns:
        The mean loss of the last tenth of the steps.
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
