"""Small networks in place of CLIP, BLIP, its captioner and VGG, trained on scenes (decorrelation.md §4).

A ViT learns to see from hundreds of millions of captioned pictures. Within the sample's seconds captions alone do not
suffice, so it is also told which kinds of things each patch shows and each picture contains. Tokenizers have one token
for each word of the captions. Folders have the formats of the real models.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from torch.nn.functional import adaptive_max_pool2d
from transformers import PreTrainedTokenizerFast

from sample.encoders.encoder_training import Log, fit, write_clip
from sample.encoders.settings import StandIn
from sample.scene_models.scene_pictures import KINDS, ScenePictures, begin_with_shares, draw_scenes, kinds_loss
from sample.scene_models.settings import DecorrelationBaseModelsParameters, SceneBlip, SceneClip, SceneCnn
from sample.scenes.scene_world import CAPTIONS
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.decorrelation.models.blip import BEGIN_CAPTION, MATCH, TEMPERATURE
from trivium.decorrelation.models.interface import CLIP, IMAGENET
from trivium.decorrelation.models.vse import WORD, words_of
from trivium.nets.blip import BlipEncoders, BlipTraining
from trivium.nets.vse import Vgg
from trivium.nets.weights import WEIGHTS, save_weights
from trivium.sources.brought import PROVENANCE

_MADE = ("clip", "vse", "blip", "captioner")
_QUEUE, _MOMENTUM, _ALPHA = 512, 0.99, 0.4
_SCALE = 10.0  # factor of unit embeddings, so that the weights of the head after them can stay small


def make_stand_ins(parameters: DecorrelationBaseModelsParameters, context: Context, out: Path) -> dict[str, float]:
    """Train and write the sample's models, in the formats of the real ones.

    Returns:
        `<model>_loss` at the end of each training.

    Raises:
        BadInput: a model that has no stand-in, or the captioner without BLIP.
    """
    for model in parameters.models:
        if model not in _MADE:
            raise BadInput("no stand-in of this model; hub and local have it", field="models", got=model, choices=_MADE)
    if "captioner" in parameters.models and "blip" not in parameters.models:
        raise BadInput("the captioner's stand-in begins with BLIP's image tower", field="models",
                       got=parameters.models, expected="blip too")  # fmt: skip
    if parameters.picture_size % parameters.blip.patch:
        raise BadInput("not a divisor of picture_size", field="blip.patch", got=parameters.blip.patch)
    scenes, losses = draw_scenes(context.engine, parameters), {}
    training: dict[str, Any] = {"seed": parameters.seed, "log": context.tracker.log}
    with write_atomically(out) as target:
        for model in [model for model in _MADE if model in parameters.models]:
            folder = target / model
            folder.mkdir(parents=True)
            if model == "clip":
                loss = write_scene_clip(scenes, folder, parameters.clip, **training)
            elif model == "vse":
                loss = write_cnn(scenes, folder, parameters.vse, **training)
            elif model == "blip":
                loss = write_blip(scenes, folder, parameters.blip, **training)
            else:
                loss = write_captioner(scenes, folder, parameters.captioner, blip=target / "blip", **training)
            losses[f"{model}_loss"] = loss
            origin = f"a small network of the architecture of {model}, trained on generated scenes"
            write_json(folder / PROVENANCE, {"from": origin, "licence": "apache-2.0"})
    return losses


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


def _tokenize(scenes: ScenePictures, folder: Path) -> tuple[PreTrainedTokenizerFast, Tensor, Tensor]:
    """Write a tokenizer of the captions' words; returns it, and ids and masks (n, `CAPTIONS`, tokens)."""
    tokenizer = save_bert_tokenizer(scenes.captions, folder)
    read = tokenizer(scenes.captions, padding=True, return_tensors="pt")
    ids, mask = (read[name].view(len(scenes.pixels), CAPTIONS, -1) for name in ("input_ids", "attention_mask"))
    return tokenizer, ids, mask


def _configure(tokenizer: PreTrainedTokenizerFast, own: SceneBlip, size: int) -> transformers.BlipConfig:
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


def save_bert_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer of BERT's form, [CLS] words [SEP], with BLIP's two marks; returns it."""
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    words = [*marks.values(), BEGIN_CAPTION, MATCH, *_words(captions)]
    return _save_words(words, folder, "[CLS]", "[SEP]", **marks, extra_special_tokens=[BEGIN_CAPTION, MATCH])


def save_clip_tokenizer(captions: Iterable[str], folder: Path) -> PreTrainedTokenizerFast:
    """Write a tokenizer of <start> words <end>; the end has the highest id, by which CLIP's text tower finds it."""
    marks = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<start>", "eos_token": "<end>"}
    return _save_words(["<pad>", "<unk>", "<start>", *_words(captions), "<end>"], folder, "<start>", "<end>", **marks)


def _words(captions: Iterable[str]) -> list[str]:
    return sorted({word for caption in captions for word in words_of(caption)})


def _save_words(words: list[str], folder: Path, begin: str, end: str, **marks: Any) -> PreTrainedTokenizerFast:
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(numbers, unk_token=marks["unk_token"]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(WORD), behavior="removed", invert=True)
    tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, numbers[begin]), (end, numbers[end])]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)
    fast.save_pretrained(folder)
    return fast
