"""Re-rank one new question's passages by re-rankers in memory, with the stages' functions (kvqae.md §4).

A linear fusion of z-scores uses each re-ranker's mean and deviation over the test questions' lists, as the first-stage
fusion does; other fusions need one question only.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow.compute as pc

from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.asking.answer import IMAGE, QUERY, PictureView
from trivium.kvqae.asking.project import Project
from trivium.kvqae.asking.systems import NOBODY, Fused, round_as_file, scores_of
from trivium.kvqae.knowledge_base.passage_texts import PassageTexts
from trivium.kvqae.rerankers.cross_encoder import load_cross_encoder, rerank_run, score_pairs
from trivium.kvqae.rerankers.fusion import complete, default_minimum, read_choice, read_lists, systems_of
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters
from trivium.kvqae.rerankers.members.arcface import face_images
from trivium.kvqae.rerankers.members.arcface import rerank as rerank_by_face
from trivium.kvqae.rerankers.reranker import reranker_settings
from trivium.kvqae.rerankers.rrt import Base, load_rrt, read_base
from trivium.kvqae.rerankers.rrt import rerank as rerank_by_picture
from trivium.measures.fusion import gather, gather_blocks, scales
from trivium.measures.reorder import follow
from trivium.measures.runs import PADDING, Run
from trivium.vision.local_descriptors.extractors import DELG_FILES, NONE, load_extractor, read_kind
from trivium.vision.local_descriptors.folder import FeatureFolder

SPLIT = "test"  # split of the lists that give the scales
WHY_BLIND = {
    DELG_FILES: "The local features of a new picture need DELG's own tool: RRT is not used.",
    NONE: "RRT was left out (its features, or kvqae.rrt.use): only the picture's face is used in re-ranking.",
}
NEW_QUESTIONS = ("arcface", "rrt", "text")  # re-rankers for new questions; others work in the graph only


class Rerankers:
    """Cross-encoder, ArcFace and RRT of a project, and their fusions as chosen on validation.

    Attributes:
        why_blind: why RRT cannot be used for new pictures; None if it can.
    """

    def __init__(self, project: Project) -> None:
        self._settings = {name: reranker_settings(name, entry) for name, entry in project.value("rerankers").items()}
        self._pairs = {"max_tokens": project.value("texts.pair_tokens"), "batch": project.value("texts.pair_batch")}
        folder, tokens = project.require("models/kvqae/cross_encoder/few_shot"), self._pairs["max_tokens"]
        self._text, self._tokenizer = load_cross_encoder(folder, tokens)
        articles, passages = (project.require(f"data/kvqae/kb/{name}.parquet") for name in ("articles", "passages"))
        faces, self._face_of = face_images(articles, passages, project.require("data/kvqae/features/kb"))
        self._faces = faces.matrix("arcface")
        rrt = project.require("models/kvqae/rrt")
        self.why_blind = WHY_BLIND.get(str(read_kind(rrt / "extractor")))
        self._extract = None
        if self.why_blind is None:
            local = project.section("local_features", LocalFeaturesParameters)
            self._most = local.most
            self._base = read_base(articles, passages, project.require("data/kvqae/local_features/kb"))
            self._image_of = read_table(articles, ["image"])["image"]
            self._images = Images(project.require("data/kvqae/raw/images/kb"))
            self._rrt = load_rrt(rrt)
            self._extract = load_extractor(
                rrt / "extractor", most=local.most, max_side=local.max_side, max_pixels=local.max_pixels, files=None
            )
        self._systems = systems_of(self._settings)
        self._fusions = read_choice(project.require("data/kvqae/tuning/reranking.json"), self._systems)
        folders = {**{name: f"reranked/{name}" for name in NEW_QUESTIONS}, "image": "reranked_image"}
        lists = complete(
            {
                name: read_lists(project.require(f"data/kvqae/runs/{folder}") / f"{SPLIT}.trec", name)
                for name, folder in folders.items()
            }
        )
        self._scales = {
            fusion: scales(gather_blocks(list(default_minimum(self._of(fusion, lists)).values())))
            for fusion in ("image", "text_image")
        }

    def notes(self, view: PictureView) -> list[str]:
        """Return a note if only the picture's face is used in re-ranking."""
        return [self.why_blind] if view.image is not None and self.why_blind is not None else []

    def rerank(self, question: str, view: PictureView, initial: Run, texts: PassageTexts) -> Fused:
        """Re-rank the best passages of the fused list."""
        best = initial.first(self._settings["text"].depth)
        score = partial(score_pairs, self._text, self._tokenizer, texts=texts, **self._pairs)
        text = follow(rerank_run([Question(QUERY, question, (), "")], best, score), initial)
        images = {"arcface": self._by_face(view, initial), "rrt": self._by_picture(view, initial)}
        return self._fuse("text_image", {"text": text, "image": self._fuse("image", images).run})

    def _by_face(self, view: PictureView, initial: Run) -> Run:
        if view.vector is None:
            return NOBODY
        return rerank_by_face(initial.first(self._settings["arcface"].depth), view.vector, self._faces, self._face_of)

    def _by_picture(self, view: PictureView, initial: Run) -> Run:
        """Re-rank by RRT; images of the knowledge base without features from the graph are described now."""
        if view.image is None or self._extract is None:
            return NOBODY
        query, settings = self._describe({IMAGE: view.image}), self._settings["rrt"]
        best, scores = initial.first(settings.depth), dict[int, float]()
        for base in (self._base, self._describe_new(best)):
            run, _ = rerank_by_picture(
                best, query.rows(query.names), query, base, self._rrt, depth=settings.depth, batch=settings.batch
            )
            scores |= scores_of(run)
        return Run.from_dict({QUERY: scores}, settings.depth, "rrt")

    def _describe_new(self, run: Run) -> Base:
        articles = np.unique(self._base.article_of[run.documents[run.documents != PADDING]])
        names = self._image_of.take(articles)
        described = pc.is_in(names, value_set=self._base.features.names, skip_nulls=True)
        new = sorted({name for name in names.filter(pc.invert(described)).to_pylist() if name in self._images})
        features = self._describe({name: self._images.read(name) for name in new})
        image_of = np.full_like(self._base.image_of, -1)
        image_of[articles] = features.rows(names)
        return replace(self._base, image_of=image_of, features=features)

    def _describe(self, images: Mapping[str, bytes]) -> FeatureFolder:
        extract = self._extract
        assert extract is not None  # otherwise `why_blind` is set
        described = [extract.describe(name, data) for name, data in images.items()]
        descriptions = [None if isinstance(description, str) else description for description in described]
        return FeatureFolder.of(list(images), descriptions, most=self._most, dimension=extract.global_dimension)

    def _of(self, fusion: str, runs: Mapping[str, Run]) -> dict[str, Run]:
        """Return the runs that a fusion uses, in its order."""
        return {name: runs[name] for name in self._systems[fusion] if name in self._fusions[fusion].systems & set(runs)}

    def _fuse(self, name: str, runs: Mapping[str, Run]) -> Fused:
        runs = {system: round_as_file(run) for system, run in self._of(name, runs).items()}
        candidates = gather(list(default_minimum(runs).values()))
        parts = self._fusions[name].parts(candidates, list(runs), self._scales[name])
        return Fused.of(candidates, [f"reranked_{system}" for system in runs], parts)
