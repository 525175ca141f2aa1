"""Registry of image encoders, the modules of `trivium/vision/encoders/`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, Field

from trivium.core.parameters import validate
from trivium.core.registry import Registry
from trivium.vision.image_encoder import EncoderParameters, ImageEncoder, Route

FAMILY = "trivium.vision.encoders"
SECTION = "kvqae.image_encoders"  # of params.yaml: those in use, in the order of the tables
ENCODERS: Registry[ImageEncoder] = Registry(FAMILY, "image encoder", SECTION)


def encoder_parameters(name: str, values: Mapping[str, Any]) -> EncoderParameters:
    """Check an encoder's entry in `kvqae.image_encoders`; `BadInput`: no such encoder, or see `validate`."""
    return validate(ENCODERS[name].Parameters, dict(values), f"{SECTION}.{name}", Path("params.yaml"))


def by_route(names: Iterable[str]) -> dict[Route, tuple[str, ...]]:
    """Group encoders by route, in the order given."""
    ordered = tuple(names)
    routes: tuple[Route, ...] = get_args(Route)
    return {route: tuple(name for name in ordered if ENCODERS[name].route == route) for route in routes}


# `kvqae.image_encoders` for stages that need only names and order of the encoders in use.
ImageEncoders = Annotated[
    dict[Annotated[str, AfterValidator(ENCODERS.check)], dict[str, Any]],
    Field(description="Image encoders in use, in the tables' order"),
]
