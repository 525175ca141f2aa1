"""CLIP's stand-in: open_clip's architecture with a narrow ResNet, trained on scenes (decorrelation.md §4)."""

from collections.abc import Callable
from pathlib import Path

import open_clip
import torch
from open_clip.model import CLIP
from torch.nn.functional import normalize

from sample.encoders.clip_stand_in import clip_configuration
from sample.encoders.encoder_training import fit, standardised
from sample.scene_models.scene_pictures import CAPTIONS, ScenePictures
from sample.scene_models.settings import ClipStandIn
from sample.scene_models.words import save_clip_tokenizer
from trivium.core.tables import write_json
from trivium.nets.weights import save_weights


def write_clip(scenes: ScenePictures, folder: Path, own: ClipStandIn, *, seed: int, log: Callable[..., None]) -> float:
    """Train with the symmetric contrastive loss and write an open_clip folder.

    Args:
        scenes: pictures and captions.
        folder: where to.
        own: its sizes and training.
        seed, log: as `fit` takes them.

    Returns:
        The loss at the end.
    """
    captions = [caption for own in scenes.captions for caption in own]
    tokenizer = save_clip_tokenizer(captions, folder)
    config = clip_configuration(dimension=own.dimension, width=own.width, size=scenes.pixels.shape[1])
    # open_clip reads the tokenizer from the model's folder when a name stands here, whatever it is.
    text = {"context_length": own.tokens, "vocab_size": len(tokenizer), "layers": 1, "hf_tokenizer_name": "words"}
    config["model_cfg"]["text_cfg"] |= text
    torch.manual_seed(seed)
    model, contrast = CLIP(**config["model_cfg"]).to(memory_format=torch.channels_last), open_clip.ClipLoss()
    rows = tokenizer(captions, padding="max_length", truncation=True, max_length=own.tokens)["input_ids"]
    ids = torch.tensor(rows).view(-1, CAPTIONS, own.tokens)
    standard = open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        pixels = standardised(scenes.pixels[chosen.numpy()], *standard).contiguous(memory_format=torch.channels_last)
        images = model.encode_image(pixels)
        texts = model.encode_text(ids[chosen, torch.randint(CAPTIONS, (len(chosen),))])
        loss: torch.Tensor = contrast(normalize(images, dim=1), normalize(texts, dim=1), model.logit_scale.exp())
        return loss

    loss = fit(model, loss_of, examples=len(ids), own=own, seed=seed, log=log, name="clip")
    write_json(folder / "open_clip_config.json", config)
    save_weights(model, folder / "open_clip_model.safetensors")
    return loss
