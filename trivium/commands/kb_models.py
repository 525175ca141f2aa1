"""The models of a base of one's own as a person names them: folders, names, a built project, an endpoint."""

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from trivium.core.errors import BadInput
from trivium.core.folding import find_folded
from trivium.core.parameters import read_parameters, section_of, validate, value_at
from trivium.core.tables import read_json
from trivium.kvqae.asking.answer import Read
from trivium.kvqae.asking.artifacts import made
from trivium.kvqae.asking.asker import Reader
from trivium.kvqae.asking.models import BaseSettings, NamedEncoder, PictureModel, digest_of, digest_of_folder
from trivium.kvqae.asking.own_base import ReaderMaker
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.retrieval.fusion import RECORD, TUNED
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS, known_encoder
from trivium.vision.embedder import Embedder
from trivium.vision.encoder_registry import ENCODERS
from trivium.vision.image_encoding import LoadedEncoder

MTCNN = {"min_face": 20, "thresholds": [0.6, 0.7, 0.7], "factor": 0.709}  # as the graph finds faces
ROW = "dpr_few_shot_image"  # of a project's kvqae.fuse.weights, as `trivium ask` ranks there
WEIGHT = 1.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
PACE: dict[str, Any] = {"requests_per_minute": 600.0, "timeout_s": 120.0, "retries": 3, "backoff_s": 1.0}
PAUSE = 60.0  # seconds that an endpoint which fails is left alone
PROMPT = (
    "Answer the question with a few words from the passages, and nothing else. "
    "If the passages do not say, answer: unknown."
)


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
    found = find_model(asked)
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
        "invented": section_of(tree, "world", path).get("kvqae") == "sample",
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


class EndpointReader:
    """A language model behind an OpenAI-compatible endpoint reads the passages; pictures are not sent to it.

    Args:
        address: base URL.
        model: the endpoint's name for it.
        key_variable: environment variable with the key; None where none is needed.
        journal: folder that keeps its answers, so that none is paid for twice.

    Raises:
        BadInput: no key.
    """

    def __init__(self, address: str, model: str, key_variable: str | None, journal: Path) -> None:
        from trivium.prompting.answer_cache import AnswerCache
        from trivium.prompting.asking import EndpointModel
        from trivium.prompting.endpoint import Endpoint, key_from_environment

        told = {
            "label": model,
            "endpoint": address,
            "model": model,
            "parallel": 1,
            "key_variable": key_variable,
            **PACE,
        }
        self._asked = validate(EndpointModel, told, "reader", Path("the command line"))
        self._endpoint = Endpoint(str(self._asked.endpoint), model, key_from_environment(key_variable), **PACE)
        self._failed: tuple[float, BadInput] | None = None  # when, and how
        self._cache = AnswerCache(journal)

    def read(self, question: str, ranked: Mapping[int, float], texts: PassageTexts, entry: str | None) -> Read:
        """Its words, and where they stand in a passage, if they do.

        Raises:
            BadInput: it cannot be reached, or refuses.
        """
        passages = {passage: texts[passage] for passage in ranked}
        told = [f"[{place}] {title}: {text}" for place, (title, text) in enumerate(passages.values(), 1)]
        shown = [f"The picture shows: {entry}"] if entry is not None else []
        answer = self._ask("\n\n".join([PROMPT, *told, *shown, f"Question: {question}"]))
        wanted = answer.rstrip(".")
        if not wanted or wanted.casefold() == "unknown":
            return Read()
        for passage, (_, text) in passages.items():
            for span in find_folded(text, wanted, any_case=True):
                return Read(answer, None, passage, span)
        return Read(answer)

    def _ask(self, content: str) -> str:
        from trivium.prompting.answer_cache import key_of
        from trivium.prompting.endpoint import RefusedError

        messages = [{"role": "user", "content": content}]
        key = key_of(self._asked.model, messages, self._asked.sampling)
        reply = self._cache.get(key)
        if reply is None:
            if self._failed is not None and time.monotonic() - self._failed[0] < PAUSE:
                raise self._failed[1]  # a table of questions would wait for each
            try:
                reply = self._endpoint.ask(messages, self._asked.sampling)
            except RefusedError as error:
                raise BadInput(f"the endpoint refuses the question: {error}", file=self._asked.endpoint) from None
            except BadInput as error:
                self._failed = time.monotonic(), error
                raise
            if reply.final:
                self._cache.put(key, reply, model=self._asked.model)
        return reply.content.strip()


def reader_of(asked: str | None, model: str | None, key_variable: str | None, journal: Path) -> ReaderMaker:
    """What makes the reader of a base: of a folder, of an endpoint, or the base's own; None without any.

    Raises:
        BadInput: an endpoint without a model, or no such folder.
    """
    if asked is not None and asked.startswith(("http://", "https://")):
        if model is None:
            raise BadInput("an endpoint needs the name of its model", field="--reader-model")
        return lambda settings: EndpointReader(asked, model, key_variable, journal)
    if asked is not None and not Path(asked).is_dir():
        raise BadInput("no such reader", field="--reader", got=asked, expected="a folder, or http(s)://…")

    def made(settings: BaseSettings) -> Reader | None:
        from trivium.kvqae.asking.systems import FolderReader

        folder = asked or settings.reader
        return None if folder is None else FolderReader(Path(folder), settings.reader_tokens, settings.answer_tokens)

    return made
