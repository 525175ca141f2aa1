"""The graph's knowledge base in memory: systems, scales, re-rankers and reader of a row (kvqae.md §3 to §5).

Passages are ranked and re-ranked with the stages' functions. z-scores use each system's, or re-ranker's, mean and
deviation over the test questions' lists, since one question has too few scores.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.core.arithmetic import remember
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.lock import Artifacts
from trivium.core.matrices import read_matrix
from trivium.core.parameters import Parameters, RunParameters, read_parameters, validate, value_at, values_of
from trivium.core.tables import read_json, read_table
from trivium.formats.questions import Question
from trivium.kvqae.asking.answer import IMAGE, QUERY, PictureView
from trivium.kvqae.asking.asker import Base
from trivium.kvqae.asking.systems import NOBODY, Dense, FolderReader, Fused, fuse, round_as_file
from trivium.kvqae.knowledge_base import passage_texts
from trivium.kvqae.knowledge_base.illustrated_base import read_illustrated_base
from trivium.kvqae.reader.inputs import ReadParameters
from trivium.kvqae.rerankers import cross_encoder, fusion, rrt
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters
from trivium.kvqae.rerankers.members import arcface
from trivium.kvqae.rerankers.reranker import reranker_settings
from trivium.kvqae.retrieval.dense_search import INDEX, DenseSearchParameters
from trivium.kvqae.retrieval.fusion import RECORD, TUNED, FuseAndTuneParameters, read_split
from trivium.kvqae.retrieval.image_search import ImageIndex, ImageSearchParameters
from trivium.kvqae.retrieval.text_encoder import TextEncoder
from trivium.kvqae.retrieval.text_encoders import TextEncoderParameters
from trivium.measures.fusion import gather, gather_blocks, scales
from trivium.measures.reorder import follow
from trivium.measures.runs import PADDING, Run
from trivium.vision.encoder_registry import ENCODERS, encoder_parameters
from trivium.vision.image_encoding import load_encoder
from trivium.vision.local_descriptors.extractors import DELG_FILES, NONE, load_extractor, read_kind
from trivium.vision.local_descriptors.folder import FeatureFolder
from trivium.vision.neighbours import read_ivf

P = TypeVar("P", bound=Parameters)

TEXT = "dpr_few_shot"
ROW = f"{TEXT}_image"  # of kvqae.fuse.weights: the one that the report's gallery shows
SPLIT = "test"  # split of the lists that give the scales
WITHOUT_RRT = "RRT is not used: it was left out, or its features of a new picture need DELG's own tool."
NEW_QUESTIONS = ("arcface", "rrt", "text")  # re-rankers for new questions; others work in the graph only


def require(root: Path, path: str) -> Path:
    """Return the path of an output of the graph; `BadInput`: it does not exist."""
    if not (root / path).exists():
        raise BadInput("not there: run `make repro` first", file=root / path)
    return root / path


class Project:
    """Outputs and parameters of the last `dvc repro` in a folder; sets the precision that its stages have."""

    def __init__(self, root: Path) -> None:
        self.root, self._file = root, root / "params.yaml"
        self._tree = read_parameters(self._file)
        self.artifacts = Artifacts(root)
        remember(validate(RunParameters, self._tree.get("run") or {}, "run", self._file).portable)

    def section(self, name: str, model: type[P]) -> P:
        """Read a section of `kvqae`, as its stage does."""
        values = values_of(self._tree, f"kvqae.{name}", model, self._file, {})
        return validate(model, values, f"kvqae.{name}", self._file)

    def value(self, key: str) -> Any:
        """Read the value of a key, such as `kvqae.pictures`."""
        return value_at(self._tree, self._file, key)

    def require(self, path: str) -> Path:
        """Return the path of an output of this project; `BadInput`: it is missing, or does not fit the others."""
        place = require(self.root, path)
        self.artifacts.use(path)
        return place


class GraphBase(Base):
    """Outputs of `dvc repro`, loaded once; passages are ranked by `ROW`.

    `BadInput`: bad parameters, an output is missing, or the row has a brought run.
    """

    def __init__(self, root: Path) -> None:
        self._project = project = Project(root)
        self.invented = project.value("world.kvqae") == "sample"
        self._fuse = section = project.section("fuse", FuseAndTuneParameters)
        self.limits = project.value("kvqae.pictures")
        if others := [name for name in section.rows[ROW] if name not in (TEXT, *ENCODERS)]:
            problem = "a row with a brought run or a search by names: neither searches for a new question here"
            raise BadInput(problem, field=f"kvqae.fuse.weights.{ROW}", got=others)
        record = read_json(project.require(f"data/kvqae/runs/fused/{ROW}/{RECORD}"))
        self._weights = weights = record["weights"] if section.weights == TUNED else section.weights[ROW]
        if record != {"depth": section.depth, "weights": weights} or set(weights) != set(section.rows[ROW]):
            raise BadInput("kvqae.fuse has changed since the last run: run `make repro` first", field=ROW)
        kinds = {name: "image" if name in ENCODERS else "text" for name in weights}
        folders = [project.require(f"data/kvqae/runs/{kind}/{name}") for name, kind in kinds.items()]
        lists = read_split(folders, SPLIT, {ROW: weights})["passage"]
        self._scales = dict(zip(weights, scales(gather_blocks(list(lists.values()))), strict=True))

        for name in ("articles", "passages"):
            self.kb = kb = project.require(f"data/kvqae/kb/{name}.parquet").parent
        self.texts = passage_texts.read_passage_texts(kb, np.arange(passage_texts.knowledge_base_size(kb)))
        self.article_of = passage_texts.ArticlePassages(kb).article_of
        self.image_of = read_table(kb / passage_texts.ARTICLES, ["image"])["image"]
        self.images = Images(project.require("data/kvqae/raw/images/kb"))
        reading = project.section("read", ReadParameters)
        read = reading.rows[reading.asked_row]
        folder = project.require(f"models/kvqae/reader/few_shot/seed-{reading.seeds[0]}")
        limits = reading.max_tokens, reading.answer_tokens, reading.batch
        self.reader = FolderReader(folder, *limits, weighted=read.weighted)
        if read.passages == "validation":
            self.passages = int(read_json(project.require("metrics/kvqae/read.json"))[f"{reading.asked_row}_passages"])
        else:
            self.passages = read.passages
        self.text_systems = {TEXT: self._text_system()}
        search = project.section("image_search", ImageSearchParameters)
        base = read_illustrated_base(kb, project.require("data/kvqae/features/kb"))
        self._indexes = {system: ImageIndex.of(base, system) for system in search.image_encoders}
        encoders = {}
        for system, entry in search.image_encoders.items():
            settings = encoder_parameters(system, entry)
            settings = settings.model_copy(update={"model": project.require(str(settings.model))})
            encoders[system] = load_encoder(system, settings)
        self.encoders, self._depth = encoders, search.depth
        reranked = str(project.value("kvqae.initial.run"))
        self.rerankers = Rerankers(project, self) if reranked == ROW else None
        self.why_not_reranked = f"Only the row {reranked} is re-ranked."

    def check(self) -> None:
        """Check that the outputs are those that were loaded; `BadInput` otherwise."""
        self._project.artifacts.check()

    def search(self, view: PictureView, vectors: Mapping[str, NDArray[np.float32]]) -> PictureView:
        """Search by a face among humans, or by the whole picture among things and places."""
        halves = {system: vector[None].astype(np.float16) for system, vector in vectors.items()}  # as in the stages
        runs = {}
        for system, vector in halves.items():
            _, (passages,) = self._indexes[system].search(vector, self._depth)
            runs[system] = Run.from_dict({QUERY: passages}, self._depth, system)
        whole = "No face was searched for: the whole picture was compared with those of things and places."
        return replace(view, runs=runs, vector=halves.get("arcface"), notes=[*view.notes, *[whole] * (not view.face)])

    def fuse(self, runs: Mapping[str, Run]) -> Fused:
        """Fuse with the row's weights and the scales of the test questions' lists."""
        return fuse(runs, self._weights, self._scales, self._fuse.depth)

    def picture_of(self, passage: int) -> bytes | None:
        """Read the image of a passage's article; None without one."""
        name = self.image_of[int(self.article_of[passage])].as_py()
        return self.images.read(name) if name in self.images else None

    def _text_system(self) -> Dense:
        """Open the text encoder and its vectors, with an inverted file if one is used."""
        project, vectors = self._project, f"data/kvqae/embeddings/{TEXT}"
        search = project.section("dense_search", DenseSearchParameters)
        index = None
        if search.index != "exact":
            index = read_ivf(project.require(f"data/kvqae/runs/text/{TEXT}/{INDEX}"))
        model = project.require(str(project.section(f"text_encoders.{TEXT}", TextEncoderParameters).model))
        matrix, ids = (read_matrix(project.require(f"{vectors}/{name}.npy")) for name in ("kb", "kb_ids"))
        tokens, encoder = int(project.value("kvqae.texts.tokens")), TextEncoder(TEXT, model, "question")
        return Dense(TEXT, encoder, tokens, matrix, ids, search.depth, index, search.probes)


class Rerankers:
    """Cross-encoder, ArcFace and RRT of a project, and their fusions as chosen on validation.

    A linear fusion of z-scores uses the scales of the test questions' lists; other fusions need one question only.
    `note` says that RRT cannot be used for new pictures; empty if it can.
    """

    def __init__(self, project: Project, base: GraphBase) -> None:
        entries = project.value("kvqae.rerankers")
        self._settings = {name: reranker_settings(name, entry) for name, entry in entries.items()}
        tokens = project.value("kvqae.texts.pair_tokens")
        self._pairs = {"max_tokens": tokens, "batch": project.value("kvqae.texts.pair_batch")}
        folder = project.require("models/kvqae/cross_encoder/few_shot")
        self._text, self._tokenizer = cross_encoder.load_cross_encoder(folder, tokens)
        faces, self._face_of = arcface.face_images(base.kb, project.require("data/kvqae/features/kb"))
        self._faces = faces.matrix("arcface")
        model = project.require("models/kvqae/rrt")
        self.note = WITHOUT_RRT if read_kind(model / "extractor") in (DELG_FILES, NONE) else ""
        if not self.note:
            local = project.section("local_features", LocalFeaturesParameters)
            self._most = local.most
            self._article_of, self._image_of, self._images = base.article_of, base.image_of, base.images
            self._rrt = rrt.load_rrt(model)
            self._dimension, self._extract = load_extractor(
                model / "extractor", most=local.most, max_side=local.max_side, max_pixels=local.max_pixels, files=None
            )
        self._systems = fusion.systems_of(self._settings)
        self._fusions = fusion.read_choice(project.require("data/kvqae/tuning/reranking.json"), self._systems)
        folders = {**{name: f"reranked/{name}" for name in NEW_QUESTIONS}, "image": "reranked_image"}
        lists = fusion.read_lists(
            {name: project.require(f"data/kvqae/runs/{path}") / f"{SPLIT}.trec" for name, path in folders.items()}
        )
        self._scales = {
            name: scales(gather_blocks(list(fusion.default_minimum(self._of(name, lists)).values())))
            for name in ("image", "text_image")
        }

    def rerank(self, question: str, view: PictureView, initial: Run, texts: passage_texts.PassageTexts) -> Fused:
        """Re-rank the best passages of the fused list."""
        best = initial.first(self._settings["text"].depth)
        score = partial(cross_encoder.score_pairs, self._text, self._tokenizer, texts=texts, **self._pairs)
        text = follow(cross_encoder.rerank_run([Question(QUERY, question, (), "")], best, score), initial)
        images = {"arcface": self._by_face(view, initial), "rrt": self._by_picture(view, initial)}
        return self._fuse("text_image", {"text": text, "image": self._fuse("image", images).run})

    def _by_face(self, view: PictureView, initial: Run) -> Run:
        if view.vector is None:
            return NOBODY
        best = initial.first(self._settings["arcface"].depth)
        return arcface.rerank(best, view.vector, self._faces, self._face_of)

    def _by_picture(self, view: PictureView, initial: Run) -> Run:
        """Re-rank by RRT; the picture and those of the best passages are described now."""
        if view.image is None or self.note:
            return NOBODY
        settings = self._settings["rrt"]
        best = initial.first(settings.depth)
        articles = np.unique(self._article_of[best.documents[best.documents != PADDING]])
        names = self._image_of.take(articles)
        images = {name: self._images.read(name) for name in names.unique().to_pylist() if name in self._images}
        query, features = self._describe({IMAGE: view.image}), self._describe(images)
        image_of = np.full(len(self._image_of), -1)
        image_of[articles] = features.rows(names)
        own, listed = query.rows(query.names), image_of[self._article_of]
        return rrt.rerank(best, own, listed, query, features, self._rrt, batch=settings.batch)[0]

    def _describe(self, images: Mapping[str, bytes]) -> FeatureFolder:
        described = [self._extract(name, data) for name, data in images.items()]
        descriptions = [None if isinstance(description, str) else description for description in described]
        return FeatureFolder.of(list(images), descriptions, most=self._most, dimension=self._dimension)

    def _of(self, name: str, runs: Mapping[str, Run]) -> dict[str, Run]:
        """Return the runs that a fusion uses, in its order."""
        used = self._fusions[name].systems & set(runs)
        return {system: runs[system] for system in self._systems[name] if system in used}

    def _fuse(self, name: str, runs: Mapping[str, Run]) -> Fused:
        runs = {system: round_as_file(run) for system, run in self._of(name, runs).items()}
        candidates = gather(list(fusion.default_minimum(runs).values()))
        parts = self._fusions[name].parts(candidates, list(runs), self._scales[name])
        return Fused.of(candidates, [f"reranked_{system}" for system in runs], parts)
