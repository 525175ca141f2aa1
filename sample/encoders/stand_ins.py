"""From parameters to files: the three stand-ins for frozen image encoders."""

from collections.abc import Sequence
from pathlib import Path

from sample.encoders.arcface_stand_in import save_arcface, train_arcface
from sample.encoders.clip_stand_in import clip_configuration, save_clip, train_clip
from sample.encoders.imagenet_stand_in import save_imagenet, train_imagenet
from sample.encoders.known import FIRST_VIEW
from sample.encoders.training_pictures import Pictures, draw_faces, draw_things, scaled
from stages.kvqae.base_models import BaseModelsParameters
from trivium.harness.stage import Context

# Towers are trained on windows of pictures that are larger than their input by this factor.
_MARGIN = 8 / 7


def write_arcface(parameters: BaseModelsParameters, context: Context, folder: Path, known: Sequence[int]) -> float:
    """Draw faces, those of `known` people of a world among them, train, write `model.onnx`; the loss at the end."""
    own = parameters.arcface
    faces = draw_faces(
        context.engine, identities=own.identities, views=own.views, size=parameters.picture_size,
        difficulty=parameters.difficulty, landmark_noise=own.landmark_noise, known=known, known_from=FIRST_VIEW,
    )  # fmt: skip
    network, loss = train_arcface(
        faces, dimension=own.dimension, width=own.width, scale=own.scale, margin=own.margin, steps=own.steps,
        batch=own.batch, learning_rate=own.learning_rate, seed=parameters.seed, tracker=context.tracker,
    )  # fmt: skip
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
    model, loss = train_clip(
        things, configuration, steps=own.steps, batch=own.batch, learning_rate=own.learning_rate,
        seed=parameters.seed, tracker=context.tracker,
    )  # fmt: skip
    save_clip(model, configuration, folder)
    return loss


def write_imagenet(things: Pictures, parameters: BaseModelsParameters, context: Context, folder: Path) -> float:
    """Train on things, write `config.json` and `model.safetensors`; returns the loss at the end."""
    own = parameters.imagenet
    things = scaled(things, round(own.size * _MARGIN), identities=own.identities, views=own.views)
    network, loss = train_imagenet(
        things, architecture=own.architecture, size=own.size, steps=own.steps, batch=own.batch,
        learning_rate=own.learning_rate, seed=parameters.seed, tracker=context.tracker,
    )  # fmt: skip
    save_imagenet(network, architecture=own.architecture, size=own.size, folder=folder)
    return loss
