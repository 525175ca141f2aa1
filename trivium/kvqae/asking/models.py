"""Settings of a user's own base, and its encoders with a digest of each."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters
from trivium.core.reading import open_file
from trivium.kvqae.retrieval.text_encoders import Side, family_of
from trivium.vision.encoder_registry import ENCODERS, encoder_parameters
from trivium.vision.image_encoder import Route
from trivium.vision.image_encoding import load_encoder

if TYPE_CHECKING:  # takes seconds to import
    from trivium.kvqae.retrieval.text_encoder import TextEncoder

VERSION = 2  # version of how vectors are made; with another one everything is encoded again
LIMITS = {"max_side": 1024, "max_pixels": 100_000_000}  # of pictures, see `decode_picture`


class NamedEncoder(Parameters):
    """An encoder of the base.

    The registries' members are known by their names; any other model is known by what `trivium odmap` calls it.
    """

    registered: bool = Field(description="A member of the registries; else a model as `trivium odmap` names it")
    model: str = Field(min_length=1, description="Its folder, or kind and name such as open_clip:ViT-B-32/openai")
    settings: dict[str, Any] = Field(default={}, description="Of the registry's member, besides its folder")
    weight: float = Field(gt=0, description="In the sum of pictures' or texts' scores; only proportions matter")


class BaseSettings(Parameters):
    """Settings of a base."""

    version: int = Field(description="Of the code that makes bases: a base of another version is made again")
    source: Path = Field(description="The folder, or the table, that the base is made of")
    words: int = Field(default=100, ge=8, le=400, description="Most tokens of a passage; the title is not counted")
    text_tokens: int = Field(default=256, ge=16, le=512, description="Tokens of a text that an encoder reads")
    image_encoders: dict[str, NamedEncoder] = Field(default={}, description="Encoders of pictures, by name")
    text_encoders: dict[str, NamedEncoder] = Field(default={}, description="Encoders of texts, by name, beside BM25")
    bm25_weight: float = Field(default=1.0, ge=0, description="As the text encoders' weights; 0: BM25 has no say")
    k1: float = Field(default=0.9, ge=0, description="BM25's saturation")
    b: float = Field(default=0.4, ge=0, le=1, description="BM25's normalisation by length")
    reader: str | None = Field(default=None, description="Folder of a reader; null: named when a question is asked")
    reader_tokens: int = Field(default=256, ge=16, le=512, description="Tokens of question and passage, read together")
    answer_tokens: int = Field(default=10, ge=1, description="Longest answer")
    passages: int = Field(default=5, ge=1, description="Passages that the reader reads")
    invented: bool = Field(default=False, description="Models of the sample's invented world: every answer says so")


@dataclass(frozen=True)
class Model:
    """An encoder of pictures, or of texts."""

    name: str  # in the base
    label: str  # for people
    digest: str  # digest of weights, settings and code; equal digests give equal vectors
    load: Callable[..., Any] = field(compare=False)  # makes a `LoadedEncoder`; of a `Side` a `TextEncoder`
    route: Route = "whole"  # of pictures


Foreign = Callable[[str, NamedEncoder], Model]  # makes a model that is in no registry


def digest_of_folder(folder: Path, settings: Mapping[str, Any]) -> str:
    """Compute the digest of a folder's files, or of one file, and of settings; `BadInput`: no file."""
    inside = [folder] if folder.is_file() else folder.rglob("*")
    files = sorted(path for path in inside if path.is_file() and path.suffix != ".md")
    if not files:
        raise BadInput("no model", file=folder, expected="a folder with weights")
    hashes = {}
    for path in files:
        with open_file(path) as stream:
            hashes[path.relative_to(folder).as_posix()] = hashlib.file_digest(stream, "sha256").hexdigest()
    decisive = json.dumps([VERSION, {"files": hashes, **settings}], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:32]


def models_of(settings: BaseSettings, foreign: Foreign) -> tuple[list[Model], list[Model]]:
    """List a base's encoders of pictures, and of texts; `BadInput`: the weights of one are missing."""
    pictures, texts = [], []
    for name, entry in settings.image_encoders.items():
        if entry.registered:
            known, folder = ENCODERS[name], Path(entry.model)
            for file in known.files:
                if not (folder / file).is_file():
                    raise BadInput("the encoder's weights are missing", file=folder / file)
            load = partial(load_encoder, name, encoder_parameters(name, {**entry.settings, "model": folder}))
            digest = digest_of_folder(folder, {"encoder": name, "settings": entry.settings, **LIMITS})
            pictures.append(Model(name, known.label, digest, load, known.route))
        else:
            pictures.append(foreign(name, entry))
    for name, entry in settings.text_encoders.items():
        family, folder = family_of(name), Path(entry.model)
        decisive = {"encoder": name, "prefixes": dict(family.prefixes), "tokens": settings.text_tokens}
        digest = digest_of_folder(folder / "passage" if family.towers else folder, decisive)
        texts.append(Model(name, family.label, digest, partial(_load_text_encoder, name, folder)))
    return pictures, texts


def _load_text_encoder(name: str, folder: Path, side: Side) -> "TextEncoder":
    from trivium.kvqae.retrieval.text_encoder import TextEncoder

    return TextEncoder(name, folder, side)
