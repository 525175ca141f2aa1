"""First-stage systems kept in memory that search for one new question (kvqae.md §3), by the stages' own functions."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.matrices import read_matrix
from trivium.core.tables import read_json
from trivium.kvqae.asking.project import Project
from trivium.kvqae.knowledge_base.illustrated_base import FACES_BY, read_illustrated_base
from trivium.kvqae.retrieval.dense_search import INDEX
from trivium.kvqae.retrieval.image_search import ImageIndex, NameIndex
from trivium.kvqae.retrieval.lucene import Searcher
from trivium.kvqae.retrieval.systems import system_of
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import TEXT_ENCODERS, text_encoder_parameters
from trivium.kvqae.retrieval.text_encoding import half_precision
from trivium.measures.reorder import untie
from trivium.measures.runs import Run
from trivium.nets.device import pick_device
from trivium.vision.decoding import Reason
from trivium.vision.encoder_registry import ENCODERS, by_route, encoder_parameters
from trivium.vision.image_encoder import Route
from trivium.vision.image_encoding import Features, encode_images, load_encoder
from trivium.vision.neighbours import exact_search, ivf_search, read_ivf

QUERY = "question"  # the only query of a run
IMAGE = "the picture"  # what messages call it: a file name may hold anything
LABELS = {
    "bm25": "text, BM25",
    "reranked_text": "re-ranked, text",
    "reranked_arcface": "re-ranked, face",
    "reranked_rrt": "re-ranked, picture",
    "reranked_image": "re-ranked, face and picture",
}
NAMED_BY = {system_of(name): name for name in ENCODERS}  # searches by names, and who looks at the picture
WHAT: dict[Route, str] = {"face": "face", "whole": "picture"}
PROBLEMS: dict[Reason, str] = {
    "not_an_image": "this is not an image that can be read",
    "corrupt": "the image is broken",
    "too_large": "the image has too many pixels",
}


def label_of(system: str) -> str:
    """What an answer calls a system or a re-ranker."""
    if system in LABELS:
        return LABELS[system]
    if system in TEXT_ENCODERS:
        return f"text, {TEXT_ENCODERS[system].label}"
    if system in NAMED_BY:
        return f"names, {ENCODERS[NAMED_BY[system]].label}"
    if system not in ENCODERS:  # a model that a base of one's own names
        return f"picture, {system}"
    encoder = ENCODERS[system]
    return f"{WHAT[encoder.route]}, {encoder.label}"


def as_written(run: Run) -> Run:
    """The run as the next stage reads it from its file: 32-bit scores, and equal ones stand apart in their order.

    In memory too, each step must see what its stage saw: where a system's scores hardly differ, z-scores make much of
    the last bits, and a fusion by positions more of the order.
    """
    return replace(run, scores=untie(run.scores))


class Bm25:
    """BM25 on the knowledge base, with the k1 and b that the grid search chose."""

    def __init__(self, project: Project) -> None:
        parameters = project.bm25_search
        chosen = read_json(project.made("metrics/kvqae/bm25_search.json"))
        self._k1, self._b, self._depth = chosen["k1"], chosen["b"], parameters.depth
        index = project.made("data/kvqae/indexes/kb")
        self._searcher = Searcher(index, threads=1, heap_gib=parameters.heap_gib)

    def search(self, question: str) -> Run:
        """The best passages."""
        return self._searcher.search([(QUERY, question)], k1=self._k1, b=self._b, depth=self._depth, name="bm25")


class Dense:
    """A text encoder of questions in memory, the passages' vectors memory-mapped, an inverted file if there is one."""

    def __init__(self, project: Project, system: str) -> None:
        vectors = project.made(f"data/kvqae/embeddings/{system}")
        self._name, self._tokens, self._search = system, project.text_tokens, project.dense_search
        settings = text_encoder_parameters(system, project.fuse.text_encoders[system])
        self._encoder = TextEncoder(system, project.made(str(settings.model)), "question", pick_device())
        self._matrix, self._ids = read_matrix(vectors / "kb.npy"), read_matrix(vectors / "kb_ids.npy")
        self._index = None
        if self._search.index != "exact":
            self._index = read_ivf(project.made(f"data/kvqae/runs/text/{system}/{INDEX}"))

    def search(self, question: str) -> Run:
        """The passages whose vectors have the largest inner product with the question's."""
        tokens = self._encoder.tokenize([question], self._tokens)
        query = half_precision(self._encoder.encode(tokens, 1), self._encoder.folder, 0)
        if self._index is None:
            scores, rows = exact_search(query, self._matrix, self._search.depth)
        else:
            depth, probes = self._search.depth, self._search.probes
            scores, rows = ivf_search(query, self._index, self._matrix, depth, probes=probes)
        return Run.from_scores((QUERY,), np.where(rows >= 0, self._ids[rows], -1), scores, name=self._name)


@dataclass(frozen=True)
class FaceFound:
    """The face that was searched for.

    Attributes:
        box: left, top, right, bottom as shares of the upright picture's width and height; may reach out of [0, 1].
        probability: the detector's.
        faces: how many were found.
    """

    box: tuple[float, float, float, float]
    probability: float
    faces: int


@dataclass(frozen=True)
class Seen:
    """What the image systems make of a picture; nothing at all without one.

    Attributes:
        image: the picture's file.
        runs: the lists of the systems that serve it.
        face: the face that was searched for, if any.
        vector: ArcFace's, (1, dimension); None without a face.
    """

    image: bytes | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    face: FaceFound | None = None
    vector: NDArray[np.float16] | None = None


class ImageSystems:
    """Encoders of faces where a face is found, else of whole pictures, and the knowledge base's features."""

    def __init__(self, project: Project) -> None:
        self._limits, self._depth = project.picture_limits, project.image_search.depth
        base = read_illustrated_base(
            project.made("data/kvqae/kb/articles.parquet"),
            project.made("data/kvqae/kb/passages.parquet"),
            project.made("data/kvqae/features/kb"),
        )
        entries = project.image_search.image_encoders
        self._indexes = {system: ImageIndex.of(base, system) for system in entries}
        self._encoders = {}
        for system, entry in entries.items():
            settings = encoder_parameters(system, entry)
            there = settings.model_copy(update={"model": project.made(str(settings.model))})
            self._encoders[system] = load_encoder(system, there)
        self._routes = by_route(entries)
        self._names = {
            name: NameIndex.read(project.made(f"data/kvqae/embeddings/{system_of(name)}"), base.starts)
            for name in project.fuse.name_encoders
        }

    def search(self, image: bytes) -> Seen:
        """Look for the picture's face, or for the whole picture.

        Raises:
            BadInput: it cannot be read.
        """
        faces = self._encode(FACES_BY, image)
        seen = faces.table.to_pylist()[0]
        if seen["unreadable"] is not None:
            raise BadInput(PROBLEMS[seen["unreadable"]], field=IMAGE)
        face = None
        if seen["detected"]:
            (left, top, right, bottom), width, height = seen["box"], seen["width"], seen["height"]
            box = (left / width, top / height, right / width, bottom / height)
            face = FaceFound(box, seen["probability"], seen["faces"])
        runs = {}
        routed = self._routes["face" if face else "whole"]
        for system in dict.fromkeys((*routed, *self._names)):
            vectors = faces.matrix if system == FACES_BY else self._encode(system, image).matrix
            searched: dict[str, ImageIndex | NameIndex] = {system: self._indexes[system]} if system in routed else {}
            for name, index in (searched | self._by_name(system)).items():
                _, (passages,) = index.search(vectors, self._depth)
                runs[name] = Run.from_dict({QUERY: passages}, self._depth, name)
        return Seen(image, runs, face, faces.matrix if face else None)

    def _by_name(self, encoder: str) -> dict[str, NameIndex]:
        """The search by names of an encoder, if it has one."""
        return {system_of(encoder): self._names[encoder]} if encoder in self._names else {}

    def _encode(self, system: str, image: bytes) -> Features:
        with warnings.catch_warnings(action="ignore"):  # Pillow's, about many pixels: they are counted elsewhere
            return encode_images([(IMAGE, image)], self._encoders[system], **self._limits)
