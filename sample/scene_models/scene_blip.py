"""BLIP's stand-ins: transformers' retrieval model and captioner, small, trained on scenes (decorrelation.md §4)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import (
    BlipConfig,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipImageProcessor,
    PreTrainedTokenizerFast,
)

from sample.encoders.encoder_training import fit, standardised
from sample.encoders.settings import StandIn
from sample.scene_models.scene_pictures import CAPTIONS, ScenePictures
from sample.scene_models.settings import BlipStandIn
from sample.scene_models.teacher import Teacher
from sample.scene_models.words import save_bert_tokenizer
from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH, TEMPERATURE
from trivium.decorrelation.models.interface import CLIP
from trivium.nets.blip import BlipEncoders, BlipTraining

_QUEUE, _MOMENTUM, _ALPHA = 512, 0.99, 0.4


def blip_config(tokenizer: PreTrainedTokenizerFast, own: BlipStandIn, size: int) -> BlipConfig:
    """A small BLIP; text and image towers are equally wide."""
    shape = {
        "hidden_size": own.width,
        "intermediate_size": 2 * own.width,
        "num_hidden_layers": own.layers,
        "num_attention_heads": own.width // 32,
    }
    text: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "encoder_hidden_size": own.width,
        "max_position_embeddings": 64,
        "bos_token_id": tokenizer.convert_tokens_to_ids(BEGIN_CAPTION),
        "sep_token_id": tokenizer.sep_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    vision = {"image_size": size, "patch_size": own.patch, "initializer_range": 0.02}
    return BlipConfig(text_config=shape | text, vision_config=shape | vision, image_text_hidden_size=own.dimension)


def write_blip(scenes: ScenePictures, folder: Path, own: BlipStandIn, *, seed: int, log: Callable[..., None]) -> float:
    """Teach both towers which kinds of things there are, train with BLIP's losses, write a Hugging Face folder.

    Args:
        scenes: pictures and captions, their cells as large as a patch.
        folder: where to.
        own: its sizes and trainings.
        seed, log: as `fit` takes them.

    Returns:
        The loss at the end.
    """
    captions = [caption for own in scenes.captions for caption in own]
    tokenizer = save_bert_tokenizer(captions, folder)
    torch.manual_seed(seed)
    network = BlipForImageTextRetrieval(blip_config(tokenizer, own, scenes.pixels.shape[1]))
    mark: Any = tokenizer.convert_tokens_to_ids(MATCH)
    encoders, teacher = BlipEncoders(network, mark), Teacher(scenes, width=own.width, dimension=own.dimension)
    read = tokenizer(captions, padding=True, return_tensors="pt")
    ids, mask = (read[name].view(len(scenes.captions), CAPTIONS, -1) for name in ("input_ids", "attention_mask"))

    def taught(chosen: torch.Tensor) -> torch.Tensor:
        pixels, which = standardised(scenes.pixels[chosen.numpy()], *CLIP), torch.randint(CAPTIONS, (len(chosen),))
        patches, images = encoders.images(pixels)
        texts = encoders.texts(ids[chosen, which], mask[chosen, which])
        loss: torch.Tensor = teacher(patches[:, 1:], images, texts, chosen)
        return loss

    def retrieval(chosen: torch.Tensor) -> torch.Tensor:
        pixels, which = standardised(scenes.pixels[chosen.numpy()], *CLIP), torch.randint(CAPTIONS, (len(chosen),))
        return training.loss(pixels, ids[chosen, which], mask[chosen, which], chosen, _ALPHA)

    fit(
        nn.ModuleList([network, teacher]), taught, examples=len(ids), own=own, seed=seed, log=log,
        name="blip_kinds", steps=own.taught_steps,
    )  # fmt: skip
    # Only now: the momentum encoders begin as copies of what was taught.
    training = BlipTraining(encoders, temperature=TEMPERATURE, queue=_QUEUE, momentum=_MOMENTUM)
    loss = fit(training, retrieval, examples=len(ids), own=own, seed=seed, log=log, name="blip")
    network.config.update({"contrast_temperature": training.temperature.item()})
    network.save_pretrained(folder)
    return loss


def write_captioner(
    scenes: ScenePictures,
    folder: Path,
    own: StandIn,
    *,
    blip: Path,
    seed: int,
    log: Callable[..., None],
) -> float:
    """Train a caption decoder on the image tower of `blip`, which stays as it is, and write a Hugging Face folder.

    Args:
        scenes: pictures and captions.
        folder: where to.
        own: its training.
        blip: folder of the retrieval model.
        seed, log: as `fit` takes them.

    Returns:
        The loss at the end, a token.
    """
    captions = [caption for own in scenes.captions for caption in own]
    tokenizer = save_bert_tokenizer(captions, folder)
    torch.manual_seed(seed)
    towers = BlipForImageTextRetrieval.from_pretrained(blip, trust_remote_code=False)
    network = BlipForConditionalGeneration(towers.config)
    network.vision_model.load_state_dict(towers.vision_model.state_dict())
    network.vision_model.requires_grad_(False)
    ids = tokenizer(captions, padding=True, return_tensors="pt")["input_ids"].view(len(scenes.captions), CAPTIONS, -1)
    ids[..., 0] = tokenizer.convert_tokens_to_ids(BEGIN_CAPTION)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        own = ids[chosen, torch.randint(CAPTIONS, (len(chosen),))]
        seen = own != tokenizer.pad_token_id
        loss: torch.Tensor = network(
            pixel_values=standardised(scenes.pixels[chosen.numpy()], *CLIP),
            input_ids=own,
            attention_mask=seen.long(),
            labels=own.masked_fill(~seen, -100),
        ).loss
        return loss

    loss = fit(network, loss_of, examples=len(ids), own=own, seed=seed, log=log, name="captioner")
    size = scenes.pixels.shape[1]
    network.save_pretrained(folder)
    mean, deviation = CLIP
    BlipImageProcessor(
        size={"height": size, "width": size}, image_mean=list(mean), image_std=list(deviation)
    ).save_pretrained(folder)
    return loss
