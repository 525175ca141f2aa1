"""The models of a base of one's own as a person names them: folders, names, endpoints."""

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters
from trivium.kvqae.asking.answer import NO_READER, WOULD_READ
from trivium.kvqae.asking.asker import Reader
from trivium.kvqae.asking.encoding import LIMITS, Model, digest_of_folder
from trivium.kvqae.asking.endpoints import EndpointIdentifier, EndpointReader, PaidModel
from trivium.kvqae.asking.systems import FolderReader
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS, family_of
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoder import Embedder
from trivium.vision.image_encoding import LoadedEncoder

E = TypeVar("E", bound=PaidModel)

READER_TOKENS, LONGEST = 256, 10  # tokens of question and passage, read together, and of an answer
STAND_INS = (
    f"The reader is the sample's: it knows an invented world only, and does not read here (--stand-ins). {WOULD_READ}"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def image_encoder(value: str) -> tuple[str, str]:
    """Return name and model of an `--image-encoder`; `BadInput`: no such model."""
    from trivium.decorrelation.benchmark.family import find_model

    name, equals, model = value.partition("=")
    if equals and name in ENCODERS and ":" not in model:
        if not Path(model).is_dir():
            raise BadInput("no such folder", field="--image-encoder", got=value, expected=f"{name}=FOLDER")
        return name, str(Path(model).resolve())
    try:
        named = find_model(value)
    except BadInput as error:
        error.args = (str(error).replace("--model", "--image-encoder"),)
        raise
    if named.family == "npy" or named.name in ENCODERS:
        expected = "a model, not stored embeddings, with a NAME= that no encoder of the graph has"
        raise BadInput("no model that can be used", field="--image-encoder", got=value, expected=expected)
    place = str(Path(named.source).resolve()) if Path(named.source).is_dir() else named.source
    file_name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in named.name)
    return file_name, f"{named.family}:{place}"


def text_encoder(value: str) -> tuple[str, str]:
    """Return name and folder of a `--text-encoder`; `BadInput`: no such encoder."""
    name, equals, folder = value.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise BadInput("no such text encoder", field="--text-encoder", got=value, expected="NAME=FOLDER",
                       choices=TEXT_ENCODERS)  # fmt: skip
    from trivium.nets.pretrained import MODULES  # imports torch

    needed = ("question", "passage") if family_of(name).towers else (MODULES,)
    for file in needed:
        if not (Path(folder) / file).exists():
            expected = "a folder of sentence-transformers, or of DPR's two towers under its name"
            raise BadInput("no such text encoder", field="--text-encoder", file=Path(folder) / file, expected=expected)
    return name, str(Path(folder).resolve())


def foreign(name: str, model: str) -> Model:
    """Make a model that is in no registry; its files are in its digest, as a name may come to stand for others."""
    from trivium.decorrelation.benchmark.family import find_model

    named = find_model(model)
    digest = digest_of_folder(named.files(), LIMITS | {"kind": named.family})
    return Model(name, digest, lambda: LoadedEncoder(NamedEmbedder(named.load(), Path(model))))


class NamedEmbedder(Embedder):
    """The picture tower of a model that `find_model` has found, which prepares RGB pictures itself."""

    def __init__(self, network: Any, path: Path) -> None:
        self._network, self.path = network, path

    def prepare(self, images: Sequence[Any]) -> Sequence[Any]:
        """Return the pictures as they are."""
        return images

    def embed(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Embed pictures; returns (n, dimension), each of length 1."""
        import torch

        from trivium.decorrelation.benchmark.embeddings import unit

        with torch.inference_mode():
            return unit(self._network.encode_images(prepared), len(prepared), str(self.path))


def reader_of(arguments: Namespace, journal: Path) -> Reader | str:
    """Return the reader that the command line names, or why none reads; `BadInput`: no such folder or endpoint.

    The sample's reads only where `--stand-ins` lets it.
    """
    if (reader := arguments.reader) is None:
        return NO_READER
    if reader.startswith(("http://", "https://")):
        return _behind(EndpointReader, "reader", arguments, journal)
    if not Path(reader).is_dir():
        raise BadInput("no such reader", field="--reader", got=reader, expected="a folder, or http(s)://…")
    if (invented := is_stand_in(Path(reader))) and not arguments.stand_ins:
        return STAND_INS
    return FolderReader(Path(reader), READER_TOKENS, LONGEST, invented=invented)


def identifier_of(arguments: Namespace, journal: Path) -> EndpointIdentifier | None:
    """Return the model that chooses the entity; None where none is named; `BadInput` without its name or key."""
    return None if arguments.identify is None else _behind(EndpointIdentifier, "identify", arguments, journal)


def _behind(kind: type[E], option: str, arguments: Namespace, journal: Path) -> E:
    """Make a model behind the endpoint that an option names; `BadInput` without its name or key."""
    address, model = getattr(arguments, option), getattr(arguments, f"{option}_model")
    if model is None:
        raise BadInput("an endpoint needs the name of its model", field=f"--{option}-model")
    return kind(address, model, arguments.key_variable, journal)


def is_stand_in(model: Path) -> bool:
    """Return whether a folder is one that a project with the invented sample's world has made."""
    projects = [parent.parent for parent in model.resolve().parents if parent.name == "models"]
    files = [project / "params.yaml" for project in projects if (project / "dvc.yaml").is_file()]
    return any((read_parameters(file).get("world") or {}).get("kvqae") == "sample" for file in files if file.is_file())
