"""The models of a base of one's own as a person names them: folders, names, a built project."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.parameters import read_parameters, value_at
from trivium.core.tables import read_json
from trivium.kvqae.asking.artifacts import made
from trivium.kvqae.asking.models import BaseSettings, NamedEncoder, PictureModel, digest_of, digest_of_folder
from trivium.kvqae.retrieval.fusion import RECORD, TUNED
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS, known_encoder
from trivium.vision.embedder import Embedder
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoding import LoadedEncoder

MTCNN = {"min_face": 20, "thresholds": [0.6, 0.7, 0.7], "factor": 0.709}  # as the graph finds faces
ROW = "dpr_few_shot_image"  # of a project's kvqae.fuse.weights, as `trivium ask` ranks there
WEIGHT = 1.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def image_encoder(asked: str) -> tuple[str, dict[str, Any]]:
    """Name and entry of what `--image-encoder` says.

    Raises:
        BadInput: no such model.
    """
    from trivium.decorrelation.benchmark.family import find_model

    name, equals, model = asked.partition("=")
    if equals and name in ENCODERS and Path(model).is_dir():
        settings = MTCNN if ENCODERS[name].route == "face" else {}
        return name, {"registered": True, "model": str(Path(model).resolve()), "settings": settings, "weight": WEIGHT}
    if equals and name in ENCODERS and ":" not in model:
        raise BadInput("no such folder", field="--image-encoder", got=asked, expected=f"{name}=FOLDER")
    try:
        found = find_model(asked)
    except BadInput as error:
        error.args = (str(error).replace("--model", "--image-encoder"),)
        raise
    if found.family == "npy":
        problem = "stored embeddings cannot encode new pictures; a base needs a model"
        raise BadInput(problem, field="--image-encoder", got=asked)
    if found.name in ENCODERS:
        problem = "this name belongs to an encoder of the graph"
        raise BadInput(problem, field="--image-encoder", got=asked, expected="another NAME=")
    where = str(Path(found.where).resolve()) if Path(found.where).is_dir() else found.where
    file_name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in found.name)
    return file_name, {"registered": False, "model": f"{found.family}:{where}", "weight": WEIGHT}


def text_encoder(asked: str) -> tuple[str, dict[str, Any]]:
    """Name and entry of what `--text-encoder` says.

    Raises:
        BadInput: no such encoder.
    """
    name, equals, folder = asked.partition("=")
    if not equals or not _NAME.fullmatch(name):
        raise BadInput("no such text encoder", field="--text-encoder", got=asked, expected="NAME=FOLDER",
                       choices=TEXT_ENCODERS)  # fmt: skip
    from trivium.nets.sentence_folder import MODULES  # imports torch

    needed = ("question", "passage") if known_encoder(name).towers else (MODULES,)
    for file in needed:
        if not (Path(folder) / file).exists():
            expected = "a folder of sentence-transformers, or of DPR's two towers under its name"
            raise BadInput("no such text encoder", field="--text-encoder", file=Path(folder) / file, expected=expected)
    return name, {"registered": True, "model": str(Path(folder).resolve()), "weight": WEIGHT}


def check_model(name: str, entry: NamedEncoder) -> None:
    """Refuse a model that is not there.

    Raises:
        BadInput: it is not.
    """
    from trivium.decorrelation.benchmark.family import find_model

    if not entry.registered:
        find_model(entry.model)
        return
    for file in ENCODERS[name].files:
        if not (Path(entry.model) / file).is_file():
            raise BadInput("the encoder's weights are missing", file=Path(entry.model) / file)


def from_checkout(root: Path) -> dict[str, Any]:
    """Encoders, weights and reader of a built project, those that are there.

    Raises:
        BadInput: no project, or nothing is built.
    """
    root, path = root.resolve(), root.resolve() / "params.yaml"
    tree = read_parameters(path)

    def value(key: str) -> Any:
        return value_at(tree, path, f"kvqae.{key}")

    encoders: dict[str, dict[str, Any]] = {"image": {}, "text": {}}
    weights = value("fuse.weights")
    if weights == TUNED:
        weights = {ROW: read_json(made(root, f"data/kvqae/runs/fused/{ROW}/{RECORD}"))["weights"]}
    for name, weight in weights[ROW].items():
        kind = "text" if name in TEXT_ENCODERS else "image"
        entry = dict(value(f"{kind}_encoders.{name}"))
        folder = root / str(entry.pop("model"))
        files = (["passage"] if TEXT_ENCODERS[name].towers else [""]) if kind == "text" else ENCODERS[name].files
        if all((folder / file).exists() for file in files):
            encoders[kind][name] = {"registered": True, "model": str(folder), "settings": entry, "weight": weight}
    if not encoders["image"]:
        raise BadInput("no encoder is built there: run `make repro P=kvqae` there first", file=root)
    values: dict[str, Any] = {
        "words": value("knowledge_base.words"),
        "text_tokens": value("texts.tokens"),
        "image_encoders": encoders["image"],
        "text_encoders": encoders["text"],
        "bm25_weight": 0.0 if encoders["text"] else WEIGHT,
        "reader_tokens": value("texts.pair_tokens"),
        "answer_tokens": value("reader.answer_tokens"),
        "passages": value("read.passages"),
    }
    reader = root / f"models/kvqae/reader/few_shot/seed-{value('read.seeds')[0]}"
    tuned = root / "metrics/kvqae/bm25_search.json"
    values |= {"reader": str(reader)} if reader.is_dir() else {}
    return values | ({name: read_json(tuned)[name] for name in ("k1", "b")} if tuned.is_file() else {})


class NamedEmbedder(Embedder):
    """The picture tower of a model that `trivium odmap` knows.

    Args:
        asked: as `find_model` takes it.

    Attributes:
        weights: a digest of its parameters.

    Raises:
        BadInput: it cannot be had.
    """

    def __init__(self, asked: str) -> None:
        import torch

        from trivium.decorrelation.benchmark.family import find_model

        self.path = Path(asked)
        self._model = find_model(asked).load()
        self.dimension = self([Image.new("RGB", (32, 32))]).shape[1]
        state = hashlib.sha256()
        for module in vars(self._model).values():
            for name, tensor in sorted(module.state_dict().items()) if isinstance(module, torch.nn.Module) else ():
                state.update(name.encode() + tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        self.weights = state.hexdigest()

    def prepare(self, images: Sequence[Image.Image]) -> Sequence[Image.Image]:
        """RGB pictures as they are: the model prepares them itself."""
        return images

    def embed(self, prepared: Sequence[Image.Image]) -> NDArray[np.float32]:
        """Embed RGB pictures; returns (n, dimension), each of length 1."""
        import torch

        from trivium.decorrelation.benchmark.embedder import unit

        with torch.inference_mode():
            return unit(self._model.encode_images(prepared), len(prepared), str(self.path))


def foreign(name: str, entry: NamedEncoder, settings: BaseSettings) -> PictureModel:
    """A model that no registry knows; one without a folder is loaded to know its weights.

    Raises:
        BadInput: it cannot be had.
    """
    kind, _, where = entry.model.partition(":")
    if Path(where).is_dir():
        digest = digest_of_folder(Path(where), settings.limits | {"kind": kind})
        return PictureModel(name, name, "whole", digest, lambda: LoadedEncoder(NamedEmbedder(entry.model)))
    embedder = NamedEmbedder(entry.model)
    digest = digest_of(settings.limits | {"model": entry.model, "weights": embedder.weights})
    return PictureModel(name, name, "whole", digest, lambda: LoadedEncoder(embedder))
