"""The models of a base of one's own as a person names them: folders, names, endpoints, a built project."""

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters, value_at
from trivium.core.tables import read_json
from trivium.kvqae.asking.answer import NO_READER, WOULD_READ
from trivium.kvqae.asking.asker import Reader
from trivium.kvqae.asking.encoding import LIMITS, BaseSettings, Model, NamedEncoder, digest_of_folder
from trivium.kvqae.asking.endpoints import EndpointIdentifier, EndpointReader, PaidModel
from trivium.kvqae.asking.graph import ROW, require
from trivium.kvqae.asking.own_base import ReaderMaker
from trivium.kvqae.asking.systems import FolderReader
from trivium.kvqae.retrieval.fusion import RECORD, TUNED
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS, family_of
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoder import Embedder
from trivium.vision.image_encoding import LoadedEncoder

E = TypeVar("E", bound=PaidModel)

MTCNN: dict[str, Any] = {"min_face": 20, "thresholds": [0.6, 0.7, 0.7], "factor": 0.709}  # as the graph finds faces
WEIGHT = 1.0
OF_PROJECT = {  # settings of a base → keys of kvqae
    "words": "knowledge_base.words",
    "text_tokens": "texts.tokens",
    "reader_tokens": "texts.pair_tokens",
    "answer_tokens": "reader.answer_tokens",
    "passages": "read.passages",
}
STAND_INS = (
    f"The reader is the sample's: it knows an invented world only, and does not read here (--stand-ins). {WOULD_READ}"
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def image_encoder(value: str) -> tuple[str, dict[str, Any]]:
    """Return name and entry of an `--image-encoder`; `BadInput`: no such model."""
    from trivium.decorrelation.benchmark.family import find_model

    name, equals, model = value.partition("=")
    if not equals:
        name, model = _encoder_of(Path(value)), value
    if name in ENCODERS and Path(model).is_dir():
        return name, _entry(Path(model).resolve(), **(MTCNN if ENCODERS[name].route == "face" else {}))
    if name in ENCODERS and ":" not in model:
        raise BadInput("no such folder", field="--image-encoder", got=value, expected=f"{name}=FOLDER")
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
    return file_name, {"registered": False, "model": f"{named.family}:{place}", "weight": WEIGHT}


def _encoder_of(folder: Path) -> str:
    """Return the encoder of the graph for a folder of transformers with a network of pictures alone, else ""."""
    config = read_json(folder / "config.json") if (folder / "config.json").is_file() else None
    kind = config.get("model_type") if isinstance(config, dict) else None
    return next((name for name, encoder in ENCODERS.items() if kind in getattr(encoder, "kinds", ())), "")


def text_encoder(value: str) -> tuple[str, dict[str, Any]]:
    """Return name and entry of a `--text-encoder`; `BadInput`: no such encoder."""
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
    return name, _entry(Path(folder).resolve())


def from_checkout(root: Path) -> dict[str, Any]:
    """Return the encoders, weights and reader that a built project has; `BadInput`: no encoder is there."""
    root, path = root.resolve(), root.resolve() / "params.yaml"
    tree = read_parameters(path)

    def value(key: str) -> Any:
        return value_at(tree, path, f"kvqae.{key}")

    encoders: dict[str, dict[str, Any]] = {"image": {}, "text": {}}
    weights = value("fuse.weights")
    if weights == TUNED:
        weights = {ROW: read_json(require(root, f"data/kvqae/runs/fused/{ROW}/{RECORD}"))["weights"]}
    for name, weight in weights[ROW].items():
        kind = "text" if name in TEXT_ENCODERS else "image"
        entry = dict(value(f"{kind}_encoders.{name}"))
        folder = root / str(entry.pop("model"))
        files = (["passage"] if TEXT_ENCODERS[name].towers else [""]) if kind == "text" else ENCODERS[name].files
        if all((folder / file).exists() for file in files):
            encoders[kind][name] = _entry(folder, weight, **entry)
    if not encoders["image"]:
        raise BadInput("no encoder is built there: run `make repro P=kvqae` there first", file=root)
    values: dict[str, Any] = {name: value(key) for name, key in OF_PROJECT.items()}
    values |= {"image_encoders": encoders["image"], "text_encoders": encoders["text"]}
    values["bm25_weight"] = 0.0 if encoders["text"] else WEIGHT
    if (reader := root / f"models/kvqae/reader/few_shot/seed-{value('read.seeds')[0]}").is_dir():
        values["reader"] = str(reader)
    return values


def _entry(model: Path, weight: float = WEIGHT, **settings: Any) -> dict[str, Any]:
    """Return a `NamedEncoder` of the registries."""
    return {"registered": True, "model": str(model), "settings": settings, "weight": weight}


class NamedEmbedder(Embedder):
    """The picture tower of a model as `find_model` takes its name."""

    def __init__(self, name: str) -> None:
        from trivium.decorrelation.benchmark.family import find_model

        self.path = Path(name)
        self._model = find_model(name).load()

    def prepare(self, images: Sequence[Any]) -> Sequence[Any]:
        """Return RGB pictures as they are: the model prepares them itself."""
        return images

    def embed(self, prepared: Sequence[Any]) -> NDArray[np.float32]:
        """Embed RGB pictures; returns (n, dimension), each of length 1."""
        import torch

        from trivium.decorrelation.benchmark.embeddings import unit

        with torch.inference_mode():
            return unit(self._model.encode_images(prepared), len(prepared), str(self.path))


def foreign(name: str, entry: NamedEncoder) -> Model:
    """Make a model that is in no registry; its files are in its digest, as a name may come to stand for others."""
    from trivium.decorrelation.benchmark.family import find_model

    model = find_model(entry.model)
    digest = digest_of_folder(model.files(), LIMITS | {"kind": model.family})
    return Model(name, name, digest, lambda: LoadedEncoder(NamedEmbedder(entry.model)), "whole")


def reader_of(arguments: Namespace, journal: Path) -> ReaderMaker:
    """Return a function that makes the reader that the command line names, or the base's own, or says why none reads.

    The sample's reads only where `--stand-ins` lets it. `BadInput`: an endpoint without a model, or no such folder.
    """
    reader = arguments.reader
    if reader is not None and reader.startswith(("http://", "https://")):
        endpoint = _behind(EndpointReader, "reader", arguments, journal)
        return lambda settings: endpoint
    if reader is not None and not Path(reader).is_dir():
        raise BadInput("no such reader", field="--reader", got=reader, expected="a folder, or http(s)://…")

    def make(settings: BaseSettings) -> Reader | str:
        if (folder := reader or settings.reader) is None:
            return NO_READER
        if (invented := is_stand_in(Path(folder))) and not arguments.stand_ins:
            return STAND_INS
        return FolderReader(Path(folder), settings.reader_tokens, settings.answer_tokens, invented=invented)

    return make


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
