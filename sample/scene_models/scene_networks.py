"""Small networks in place of CLIP, BLIP, its captioner and VGG, trained on scenes (decorrelation.md §4).

A ViT learns to see from hundreds of millions of captioned pictures. Within the sample's seconds captions alone do not
suffice, so it is also told which kinds of things each patch shows and each picture contains.
"""

from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from torch.nn.functional import adaptive_max_pool2d

from sample.encoders.encoder_training import Log, fit, write_clip
from sample.encoders.settings import StandIn
from sample.scene_models.scene_pictures import KINDS, ScenePictures, begin_with_shares, kinds_loss
from sample.scene_models.settings import SceneBlip, SceneClip, SceneCnn
from sample.scene_models.words import save_bert_tokenizer, save_clip_tokenizer
from sample.scenes.scene_world import CAPTIONS
from trivium.core.tables import write_json
from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH, TEMPERATURE
from trivium.decorrelation.models.interface import CLIP, IMAGENET
from trivium.nets.blip import BlipEncoders, BlipTraining
from trivium.nets.vse import Vgg
from trivium.nets.weights import WEIGHTS, save_weights

_QUEUE, _MOMENTUM, _ALPHA = 512, 0.99, 0.4
_SCALE = 10.0  # factor of unit embeddings, so that the weights of the head after them can stay small


def write_scene_clip(scenes: ScenePictures, folder: Path, own: SceneClip, *, seed: int, log: Log) -> float:
    """Train CLIP on scenes, with a tokenizer of their captions' words; returns the final loss."""
    tokenizer = save_clip_tokenizer(scenes.captions, folder)
    # With any name here, open_clip reads the tokenizer from the model's folder.
    text = {
        "context_length": own.tokens, "vocab_size": len(tokenizer), "layers": 1, "hf_tokenizer_name": "words",
    }  # fmt: skip
    rows = tokenizer(scenes.captions, padding="max_length", truncation=True, max_length=own.tokens)["input_ids"]
    ids = torch.tensor(rows).view(len(scenes.pixels), -1, own.tokens)
    return write_clip(scenes.pixels, ids, folder, own, size=scenes.pixels.shape[1], text=text, seed=seed, log=log)


def write_blip(scenes: ScenePictures, folder: Path, own: SceneBlip, *, seed: int, log: Log) -> float:
    """Train both towers on the kinds of things, then with BLIP's losses; write a Hugging Face folder.

    Returns:
        The loss at the end.
    """
    tokenizer, ids, mask = _tokenize(scenes, folder)
    cells, kinds = torch.from_numpy(scenes.cells).flatten(1, 2).float(), torch.from_numpy(scenes.kinds).float()
    torch.manual_seed(seed)
    network = transformers.BlipForImageTextRetrieval(_configure(tokenizer, own, scenes.pixels.shape[1]))
    mark: Any = tokenizer.convert_tokens_to_ids(MATCH)
    encoders = BlipEncoders(network, mark)
    # Not saved. One head reads the embeddings of both towers, which aligns those of a picture and its text.
    of_patch, of_whole = nn.Linear(own.width, len(KINDS)), nn.Linear(own.dimension, len(KINDS))
    begin_with_shares(of_patch, cells)
    begin_with_shares(of_whole, kinds)

    def draw_batch(chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        images, which = scenes.images(chosen, CLIP), torch.randint(CAPTIONS, (len(chosen),))
        return images, ids[chosen, which], mask[chosen, which]

    def teach(chosen: Tensor) -> Tensor:
        pixels, *text = draw_batch(chosen)
        patches, images = encoders.images(pixels)
        texts = encoders.texts(*text)
        return kinds_loss(
            (of_patch(patches[:, 1:]), cells[chosen]),
            (of_whole(_SCALE * images), kinds[chosen]),
            (of_whole(_SCALE * texts), kinds[chosen]),
        )

    taught = nn.ModuleList([network, of_patch, of_whole])
    shared: dict[str, Any] = {"examples": len(ids), "own": own, "seed": seed, "log": log}
    fit(taught, teach, name="blip_kinds", steps=own.taught_steps, **shared)
    # Only after the first training, since the momentum encoders start as copies of the encoders.
    training = BlipTraining(encoders, temperature=TEMPERATURE, queue=_QUEUE, momentum=_MOMENTUM)
    loss = fit(training, lambda chosen: training.loss(*draw_batch(chosen), chosen, _ALPHA), name="blip", **shared)
    network.config.update({"contrast_temperature": training.temperature.item()})
    network.save_pretrained(folder)
    return loss


def write_captioner(scenes: ScenePictures, folder: Path, own: StandIn, *, blip: Path, seed: int, log: Log) -> float:
    """Train a caption decoder on the frozen image tower of the folder `blip`; write a Hugging Face folder.

    Returns:
        The mean loss per token of the last tenth of the steps.
    """
    tokenizer, ids, _ = _tokenize(scenes, folder)
    torch.manual_seed(seed)
    towers = transformers.BlipForImageTextRetrieval.from_pretrained(blip, trust_remote_code=False)
    network = transformers.BlipForConditionalGeneration(towers.config)
    network.vision_model.load_state_dict(towers.vision_model.state_dict())
    network.vision_model.requires_grad_(False)
    ids[..., 0] = tokenizer.get_vocab()[BEGIN_CAPTION]

    def loss_of(chosen: Tensor) -> Tensor:
        text = ids[chosen, torch.randint(CAPTIONS, (len(chosen),))]
        seen = text != tokenizer.pad_token_id
        loss: Tensor = network(
            pixel_values=scenes.images(chosen, CLIP),
            input_ids=text,
            attention_mask=seen.long(),
            labels=text.masked_fill(~seen, -100),
        ).loss
        return loss

    loss = fit(network, loss_of, examples=len(ids), own=own, seed=seed, log=log, name="captioner")
    network.save_pretrained(folder)
    size, (mean, deviation) = scenes.pixels.shape[1], CLIP
    square = {"height": size, "width": size}
    processor = transformers.BlipImageProcessor(size=square, image_mean=list(mean), image_std=list(deviation))
    processor.save_pretrained(folder)
    return loss


def _tokenize(scenes: ScenePictures, folder: Path) -> tuple[transformers.PreTrainedTokenizerFast, Tensor, Tensor]:
    """Write a tokenizer of the captions' words; returns it, and ids and masks (n, `CAPTIONS`, tokens)."""
    tokenizer = save_bert_tokenizer(scenes.captions, folder)
    read = tokenizer(scenes.captions, padding=True, return_tensors="pt")
    ids, mask = (read[name].view(len(scenes.pixels), CAPTIONS, -1) for name in ("input_ids", "attention_mask"))
    return tokenizer, ids, mask


def _configure(tokenizer: transformers.PreTrainedTokenizerFast, own: SceneBlip, size: int) -> transformers.BlipConfig:
    """Make the configuration of a small BLIP, whose text and image towers are equally wide."""
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
    return transformers.BlipConfig(
        text_config=shape | text, vision_config=shape | vision, image_text_hidden_size=own.dimension
    )


def write_cnn(scenes: ScenePictures, folder: Path, own: SceneCnn, *, seed: int, log: Log) -> float:
    """Train a small VGG to classify kinds; write `config.json` and torchvision's state dict.

    Returns:
        The loss at the end: cross-entropy of each kind, summed over the kinds, of the picture and of its squares.
    """
    torch.manual_seed(seed)
    network = Vgg(own.channels, grid=own.grid, hidden=own.hidden, classes=len(KINDS))
    for layer in network.modules():
        if isinstance(layer, nn.Conv2d):  # torch's default weights are too small for a VGG to start learning
            nn.init.kaiming_normal_(layer.weight)
    kinds, cells = torch.from_numpy(scenes.kinds).float(), torch.from_numpy(scenes.cells).float()
    # Not saved. Without this head, the network learns little from hundreds of pictures of several things.
    places = nn.Conv2d([width for width in own.channels if isinstance(width, int)][-1], len(KINDS), 1)
    last = next(layer for layer in reversed(network.classifier) if isinstance(layer, nn.Linear))
    begin_with_shares(last, kinds)
    begin_with_shares(places, cells)
    cells = cells.permute(0, 3, 1, 2)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = scenes.images(chosen, IMAGENET)
        maps = network.features(images.contiguous(memory_format=torch.channels_last))
        logits = network.classifier(network.avgpool(maps).flatten(1))
        where = adaptive_max_pool2d(cells[chosen], maps.shape[2:])
        return kinds_loss((logits, kinds[chosen]), (places(maps), where))

    both = nn.ModuleList([network, places])
    loss = fit(both, loss_of, examples=len(kinds), own=own, seed=seed, log=log, name="cnn")
    size = scenes.pixels.shape[1]
    config = {"architecture": "vgg", "channels": list(own.channels), "grid": own.grid, "hidden": own.hidden}
    write_json(folder / "config.json", config | {"size": size, "resize": size})
    save_weights(network, folder / WEIGHTS)
    return loss
