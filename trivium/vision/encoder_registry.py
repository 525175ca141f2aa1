"""The image encoders that there are: the modules of `trivium/vision/encoders/`, found by looking into the folder."""

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field

from trivium.errors import BadInput
from trivium.harness.parameters import validate
from trivium.vision import encoders
from trivium.vision.image_encoder import EncoderParameters, ImageEncoder, Route

FAMILY = "trivium.vision.encoders:ENCODER"
SECTION = "kvqae.image_encoders"  # of params.yaml: those in use, in the order of the tables


def encoder_names() -> tuple[str, ...]:
    """The names of all image encoders."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(encoders.__path__)))


def encoder_of(name: str) -> type[ImageEncoder]:
    """The encoder of this name.

    Raises:
        BadInput: there is none.
    """
    if name not in encoder_names():
        raise BadInput("no such image encoder", field=SECTION, got=name, choices=encoder_names())
    encoder: type[ImageEncoder] = import_module(f"{encoders.__name__}.{name}").ENCODER
    return encoder


def encoder_parameters(name: str, values: Mapping[str, Any], file: Path = Path("params.yaml")) -> EncoderParameters:
    """Check an encoder's entry in `kvqae.image_encoders`.

    Raises:
        BadInput: no such encoder, or see `validate`.
    """
    return validate(encoder_of(name).Parameters, dict(values), f"{SECTION}.{name}", file)


def by_route(names: Iterable[str]) -> dict[Route, tuple[str, ...]]:
    """The encoders of each route, in the order given."""
    ordered = tuple(names)
    routes: tuple[Route, ...] = get_args(Route)
    return {route: tuple(name for name in ordered if encoder_of(name).route == route) for route in routes}


def _known(entries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    unknown = sorted(set(entries) - set(encoder_names()))
    if unknown:
        raise ValueError(f"unknown image encoder: {', '.join(unknown)} (choices: {', '.join(encoder_names())})")
    return entries


# `kvqae.image_encoders`, as stages read it that only ask which encoders are in use, and in which order.
ImageEncoders = Annotated[
    dict[str, dict[str, Any]], AfterValidator(_known), Field(description="Image encoders in use, in the tables' order")
]
