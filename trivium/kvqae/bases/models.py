"""The encoders of a base: what they are called, a digest of all that decides a vector, and how they are loaded."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.core.errors import BadInput
from trivium.core.reading import open_file
from trivium.kvqae.bases.settings import BaseSettings, NamedEncoder
from trivium.kvqae.retrieval.text_encoders import Side, known_encoder
from trivium.vision.encoder_registry import ENCODERS, encoder_parameters
from trivium.vision.image_encoder import FaceEncoderParameters, Route

if TYPE_CHECKING:  # seconds to import
    from trivium.kvqae.retrieval.text_encoder import TextEncoder
    from trivium.vision.image_encoding import LoadedEncoder

VERSION = 1  # of how vectors are made here; another one encodes everything again


@dataclass(frozen=True)
class PictureModel:
    """An encoder of pictures.

    Attributes:
        name, label: of the base, and for people.
        route: what it looks at.
        digest: of weights, settings and code; equal digests give equal vectors.
        load: the networks.
    """

    name: str
    label: str
    route: Route
    digest: str
    load: "Callable[[], LoadedEncoder]"


@dataclass(frozen=True)
class TextModel:
    """An encoder of texts; attributes as of `PictureModel`, `load` takes a side."""

    name: str
    label: str
    digest: str
    load: "Callable[[Side], TextEncoder]"


Foreign = Callable[[str, NamedEncoder, BaseSettings], PictureModel]  # makes a model that no registry knows


def digest_of_folder(folder: Path, settings: Mapping[str, Any]) -> str:
    """A digest of a folder's files and of settings.

    Raises:
        BadInput: no such folder, or nothing in it.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    if not files:
        raise BadInput("no model", file=folder, expected="a folder with weights")
    found = {}
    for path in files:
        with open_file(path) as stream:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    return digest_of({"files": found, **settings})


def digest_of(value: Any) -> str:
    """A digest of JSON, and of this code's version."""
    return hashlib.sha256(json.dumps([VERSION, value], sort_keys=True).encode()).hexdigest()[:32]


def picture_model(name: str, entry: NamedEncoder, settings: BaseSettings, foreign: Foreign) -> PictureModel:
    """An encoder of pictures of a base.

    Raises:
        BadInput: no such encoder, or no weights.
    """
    if not entry.registered:
        return foreign(name, entry, settings)
    encoder, folder = ENCODERS[name], Path(entry.model)
    for file in encoder.files:
        if not (folder / file).is_file():
            raise BadInput("an encoder without its weights", file=folder / file)
    parameters = encoder_parameters(name, {**entry.settings, "model": folder})
    limits = {"max_side": settings.max_side, "max_pixels": settings.max_pixels}
    decisive = {"encoder": name, "settings": entry.settings, **limits}

    def load() -> "LoadedEncoder":
        from trivium.nets.device import pick_device
        from trivium.vision.image_encoding import LoadedEncoder

        device, detector = pick_device(), None
        if isinstance(parameters, FaceEncoderParameters):
            from trivium.kvqae.bases.faces import EveryFace  # whose detector a base without faces need not have

            detector = EveryFace.of(parameters, device)
        return LoadedEncoder(encoder.load(folder, device), detector)

    return PictureModel(name, encoder.label, encoder.route, digest_of_folder(folder, decisive), load)


def text_model(name: str, entry: NamedEncoder, settings: BaseSettings) -> TextModel:
    """An encoder of texts of a base.

    Raises:
        BadInput: no such encoder, or no weights.
    """
    known, folder = known_encoder(name), Path(entry.model)
    decisive = {"encoder": name, "prefixes": dict(known.prefixes), "tokens": settings.text_tokens}

    def load(side: Side) -> "TextEncoder":
        from trivium.kvqae.retrieval.text_encoder import TextEncoder
        from trivium.nets.device import pick_device

        return TextEncoder(name, folder, side, pick_device())

    weights = folder / "passage" if known.towers else folder
    return TextModel(name, known.label, digest_of_folder(weights, decisive), load)


def models_of(settings: BaseSettings, foreign: Foreign) -> tuple[list[PictureModel], list[TextModel]]:
    """All encoders of a base.

    Raises:
        BadInput: one of them is not there.
    """
    pictures = [picture_model(name, entry, settings, foreign) for name, entry in settings.image_encoders.items()]
    return pictures, [text_model(name, entry, settings) for name, entry in settings.text_encoders.items()]
