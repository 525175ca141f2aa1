"""BLIP's stand-ins: transformers' retrieval model and captioner, small, trained on scenes (decorrelation.md §4).

A ViT learns to see from hundreds of millions of captioned pictures. In the seconds that the sample has, captions alone
do not get it there; the kinds of things that a patch shows and a picture holds do (`Teacher`).
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import (
    BlipConfig,
    BlipForConditionalGeneration,
    BlipForImageTextRetrieval,
    BlipImageProcessor,
    PreTrainedTokenizerFast,
)

from sample.encoders.encoder_training import Log, fit
from sample.encoders.settings import StandIn
from sample.scene_models.scene_pictures import CAPTIONS, KINDS, ScenePictures, begin_with_shares
from sample.scene_models.settings import SceneBlip
from sample.scene_models.words import save_bert_tokenizer
from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH, TEMPERATURE
from trivium.decorrelation.models.interface import CLIP
from trivium.nets.blip import BlipEncoders, BlipTraining

_QUEUE, _MOMENTUM, _ALPHA = 512, 0.99, 0.4
_SCALE = 10.0  # of unit embeddings, so that the teacher's weights can stay small


class Teacher(nn.Module):
    """Asks patches and embeddings for the kinds of things; thrown away after the training.

    One head reads both towers' embeddings: a picture and its text come to lie together.

    Args:
        scenes: with cells of the size of a patch.
        own: how wide a patch's vector and an embedding are.
    """

    def __init__(self, scenes: ScenePictures, own: SceneBlip) -> None:
        super().__init__()
        self._cells = torch.from_numpy(scenes.cells).flatten(1, 2).float()
        self._kinds = torch.from_numpy(scenes.kinds).float()
        self.patch, self.whole = nn.Linear(own.width, len(KINDS)), nn.Linear(own.dimension, len(KINDS))
        begin_with_shares(self.patch, self._cells)
        begin_with_shares(self.whole, self._kinds)

    def forward(self, patches: Tensor, images: Tensor, texts: Tensor, chosen: Tensor) -> Tensor:
        """Cross-entropy of each kind, summed over the kinds; of patches, pictures and texts.

        Args:
            patches: (n, patches, width) of the last layer.
            images, texts: (n, dimension) of length 1.
            chosen: (n,) which scenes they are of.
        """
        pairs = [(self.patch(patches), self._cells[chosen])]
        pairs += [(self.whole(_SCALE * embeddings), self._kinds[chosen]) for embeddings in (images, texts)]
        losses = [binary_cross_entropy_with_logits(logits, kinds) for logits, kinds in pairs]
        return torch.stack(losses).sum() * len(KINDS)


def write_blip(scenes: ScenePictures, folder: Path, own: SceneBlip, *, seed: int, log: Log) -> float:
    """Teach both towers which kinds of things there are, train with BLIP's losses, write a Hugging Face folder.

    Returns:
        The loss at the end.
    """
    tokenizer, ids, mask = _tokenize(scenes, folder)
    torch.manual_seed(seed)
    network = BlipForImageTextRetrieval(_configure(tokenizer, own, scenes.pixels.shape[1]))
    mark: Any = tokenizer.convert_tokens_to_ids(MATCH)
    encoders, teacher = BlipEncoders(network, mark), Teacher(scenes, own)

    def batch_of(chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        images, which = scenes.images(chosen, CLIP), torch.randint(CAPTIONS, (len(chosen),))
        return images, ids[chosen, which], mask[chosen, which]

    def teach(chosen: Tensor) -> Tensor:
        pixels, *text = batch_of(chosen)
        patches, images = encoders.images(pixels)
        loss: Tensor = teacher(patches[:, 1:], images, encoders.texts(*text), chosen)
        return loss

    both, shared = nn.ModuleList([network, teacher]), {"examples": len(ids), "own": own, "seed": seed, "log": log}
    fit(both, teach, name="blip_kinds", steps=own.taught_steps, **shared)
    # Only now: the momentum encoders begin as copies of what was taught.
    training = BlipTraining(encoders, temperature=TEMPERATURE, queue=_QUEUE, momentum=_MOMENTUM)
    loss = fit(training, lambda chosen: training.loss(*batch_of(chosen), chosen, _ALPHA), name="blip", **shared)
    network.config.update({"contrast_temperature": training.temperature.item()})
    network.save_pretrained(folder)
    return loss


def write_captioner(scenes: ScenePictures, folder: Path, own: StandIn, *, blip: Path, seed: int, log: Log) -> float:
    """Train a caption decoder on the image tower of the folder `blip`, which stays as it is; write a folder.

    Returns:
        The loss at the end, a token.
    """
    tokenizer, ids, _ = _tokenize(scenes, folder)
    torch.manual_seed(seed)
    towers = BlipForImageTextRetrieval.from_pretrained(blip, trust_remote_code=False)
    network = BlipForConditionalGeneration(towers.config)
    network.vision_model.load_state_dict(towers.vision_model.state_dict())
    network.vision_model.requires_grad_(False)
    ids[..., 0] = tokenizer.convert_tokens_to_ids(BEGIN_CAPTION)

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
    BlipImageProcessor(
        size={"height": size, "width": size}, image_mean=list(mean), image_std=list(deviation)
    ).save_pretrained(folder)
    return loss


def _tokenize(scenes: ScenePictures, folder: Path) -> tuple[PreTrainedTokenizerFast, Tensor, Tensor]:
    """Write a tokenizer of the captions' words; it, and ids and masks (n, `CAPTIONS`, tokens)."""
    tokenizer = save_bert_tokenizer(scenes.captions, folder)
    read = tokenizer(scenes.captions, padding=True, return_tensors="pt")
    ids, mask = (read[name].view(len(scenes.pixels), CAPTIONS, -1) for name in ("input_ids", "attention_mask"))
    return tokenizer, ids, mask


def _configure(tokenizer: PreTrainedTokenizerFast, own: SceneBlip, size: int) -> BlipConfig:
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
