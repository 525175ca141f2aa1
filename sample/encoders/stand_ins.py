"""Train KVQAE's stand-ins for frozen encoders and write them in the formats of the real ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import nn
from torchvision import models

from sample.encoders.arcface_stand_in import write_arcface
from sample.encoders.encoder_training import Log, crop_randomly, fit, standardise, write_clip
from sample.encoders.settings import BaseModelsParameters, ImageNetStandIn
from sample.encoders.training_pictures import Pictures, draw_faces, draw_things, scale_things
from sample.kvqae.entities import Entity
from sample.kvqae.entity_world import FIRST_TRAINING_VIEW, choose_known
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.core.tables import write_json
from trivium.kvqae.rerankers.model_files import IDENTITIES, write_entities
from trivium.nets.weights import WEIGHTS, save_weights
from trivium.sources.plain_weights import save_text
from trivium.vision.whole_images import DEVIATION, MEAN

# Image towers are trained on random crops of pictures that are larger than their input by this factor.
_MARGIN = 8 / 7
_RESNET = "resnet18"
_TEXT_TOWER = {"context_length": 32, "vocab_size": 49408, "layers": 2}


def make_stand_ins(
    parameters: BaseModelsParameters, context: Context, out: Path, persons: Sequence[Entity]
) -> dict[str, float]:
    """Train and write the sample's stand-ins and ArcFace's overlap list: ArcFace is trained on a share of `persons`.

    Returns:
        The final loss of each training, the text encoder's layers, and the number of persons ArcFace was trained on.

    Raises:
        BadInput: ArcFace's training has fewer identities than that share has persons.
    """
    arcface, clip, imagenet = parameters.arcface, parameters.clip, parameters.imagenet
    training: dict[str, Any] = {"seed": parameters.seed, "log": context.tracker.log}
    known = choose_known(persons, arcface.overlap, parameters.seed)
    if len(known) > arcface.identities:
        raise BadInput(
            f"{len(known)} of {len(persons)} persons do not fit among {arcface.identities} identities",
            field="kvqae.base_models.arcface.overlap",
            got=arcface.overlap,
            expected="a smaller share or more identities",
        )
    photographs: dict[str, Any] = {"size": parameters.picture_size, "difficulty": parameters.difficulty}
    faces = draw_faces(
        context.engine, identities=arcface.identities, views=arcface.views, known=list(known.values()),
        known_from=FIRST_TRAINING_VIEW, **photographs,
    )  # fmt: skip
    things = draw_things(
        context.engine, identities=max(clip.identities, imagenet.identities), views=max(clip.views, imagenet.views),
        **photographs,
    )  # fmt: skip
    seen_by_clip, seen_by_imagenet = (
        scale_things(things, round(own.size * _MARGIN), identities=own.identities, views=own.views)
        for own in (clip, imagenet)
    )
    captions = open_clip.SimpleTokenizer(context_length=_TEXT_TOWER["context_length"])(seen_by_clip.captions)
    with write_atomically(out) as target:
        for name in ("arcface", "clip", "imagenet"):
            (target / name).mkdir(parents=True)
        write_entities(target / IDENTITIES, known, "persons of the knowledge base whom ArcFace was trained on")
        return {
            "arcface_loss": write_arcface(faces, target / "arcface", arcface, **training),
            "clip_loss": write_clip(
                seen_by_clip.pixels, captions[:, None], target / "clip", clip, size=clip.size, text=_TEXT_TOWER,
                **training,
            ),
            "imagenet_loss": _write_imagenet(seen_by_imagenet, target / "imagenet", imagenet, **training),
            "arcface_known_persons": float(len(known)),
            "text_layers": save_text(target / "text", layers=parameters.text.layers),
        }  # fmt: skip


def _write_imagenet(things: Pictures, folder: Path, own: ImageNetStandIn, *, seed: int, log: Log) -> float:
    """Train a classifier of things by kind and sort; write `config.json` and `model.safetensors`; returns `fit`'s loss.

    Pictures are a little larger than the network's input; each batch is cropped at random.
    """
    torch.manual_seed(seed)
    names = sorted(set(things.classes))
    labels = torch.tensor([names.index(name) for name in things.classes])
    network = models.get_model(_RESNET, weights=None, num_classes=len(names))
    windows = torch.Generator().manual_seed(seed)

    def loss_of(chosen: torch.Tensor) -> torch.Tensor:
        images = crop_randomly(standardise(things.pixels[chosen.numpy()], MEAN, DEVIATION), own.size, windows)
        return nn.functional.cross_entropy(network(images), labels[chosen])

    loss = fit(network, loss_of, examples=len(labels), own=own, seed=seed, log=log, name="imagenet")
    write_json(folder / "config.json", {"architecture": _RESNET, "size": own.size})
    save_weights(network, folder / WEIGHTS)
    return loss
