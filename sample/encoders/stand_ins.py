"""From parameters to files: the three stand-ins for frozen image encoders."""

from collections.abc import Sequence
from pathlib import Path

from sample.encoders.arcface_stand_in import save_arcface, train_arcface
from sample.encoders.clip_stand_in import clip_configuration, save_clip, train_clip
from sample.encoders.imagenet_stand_in import save_imagenet, train_imagenet
from sample.encoders.known import FIRST_VIEW, choose_known
from sample.encoders.settings import BaseModelsParameters
from sample.encoders.training_pictures import Pictures, draw_faces, draw_things, scaled
from sample.kvqae.entities import Entity
from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.kvqae.rerankers.overlap_lists import IDENTITIES, write_entities

# Towers are trained on windows of pictures that are larger than their input by this factor.
_MARGIN = 8 / 7


def write_arcface(parameters: BaseModelsParameters, context: Context, folder: Path, known: Sequence[int]) -> float:
    """Draw faces, those of `known` people of a world among them, train, write `model.onnx`; the loss at the end."""
    own = parameters.arcface
    faces = draw_faces(
        context.engine, identities=own.identities, views=own.views, size=parameters.picture_size,
        difficulty=parameters.difficulty, landmark_noise=own.landmark_noise, known=known, known_from=FIRST_VIEW,
    )  # fmt: skip
    network, loss = train_arcface(faces, own, seed=parameters.seed, log=context.tracker.log)
    save_arcface(network, folder / "model.onnx")
    return loss


def photograph_things(parameters: BaseModelsParameters, context: Context) -> Pictures:
    """What both CLIP and the ImageNet ResNet are trained on, drawn once."""
    own = parameters.clip, parameters.imagenet
    return draw_things(
        context.engine, identities=max(each.identities for each in own), views=max(each.views for each in own),
        size=parameters.picture_size, difficulty=parameters.difficulty,
    )  # fmt: skip


def write_clip(things: Pictures, parameters: BaseModelsParameters, context: Context, folder: Path) -> float:
    """Train on things, write an open_clip folder; returns the loss at the end."""
    own = parameters.clip
    things = scaled(things, round(own.size * _MARGIN), identities=own.identities, views=own.views)
    configuration = clip_configuration(dimension=own.dimension, width=own.width, size=own.size)
    model, loss = train_clip(things, configuration, own, seed=parameters.seed, log=context.tracker.log)
    save_clip(model, configuration, folder)
    return loss


def write_imagenet(things: Pictures, parameters: BaseModelsParameters, context: Context, folder: Path) -> float:
    """Train on things, write `config.json` and `model.safetensors`; returns the loss at the end."""
    own = parameters.imagenet
    things = scaled(things, round(own.size * _MARGIN), identities=own.identities, views=own.views)
    network, loss = train_imagenet(things, own, seed=parameters.seed, log=context.tracker.log)
    save_imagenet(network, architecture=own.architecture, size=own.size, folder=folder)
    return loss


def make_stand_ins(
    parameters: BaseModelsParameters, context: Context, out: Path, persons: Sequence[Entity]
) -> dict[str, float]:
    """Train and write the sample's stand-ins, in the formats of the real encoders, and ArcFace's overlap list.

    Args:
        parameters, context: of the stage.
        out: the folder; complete or absent.
        persons: of the knowledge base, a share of whom ArcFace is trained on.

    Returns:
        Each training's loss at its end, the layers of the text encoder, and how many persons ArcFace knows.

    Raises:
        BadInput: that share is more people than ArcFace's identities.
    """
    from trivium.sources.minilm import save_text

    own = parameters.arcface
    known = choose_known(persons, own.overlap, parameters.seed)
    if len(known) > own.identities:
        raise BadInput(
            f"{len(known)} of {len(persons)} persons do not fit among {own.identities} identities",
            field="kvqae.base_models.arcface.overlap",
            got=own.overlap,
            expected="a smaller share or more identities",
        )
    with write_atomically(out) as beside:
        write_entities(beside / IDENTITIES, known, "persons of the knowledge base whom ArcFace was trained on")
        losses = {"arcface_loss": write_arcface(parameters, context, beside / "arcface", list(known.values()))}
        things = photograph_things(parameters, context)
        losses["clip_loss"] = write_clip(things, parameters, context, beside / "clip")
        losses["imagenet_loss"] = write_imagenet(things, parameters, context, beside / "imagenet")
        return losses | {
            "arcface_known_persons": float(len(known)),
            "text_layers": save_text(beside / "text", layers=parameters.text.layers),
        }
