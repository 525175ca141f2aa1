"""Re-rank by ArcFace: compare the face in the question's image with those in articles' images (kvqae.md §4)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures, read_illustrated_base
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.kvqae.retrieval.image_search import rank_passages
from trivium.measures.runs import PADDING, Run

SYSTEM = "arcface"


def face_images(kb: Path, features: Path) -> tuple[ImageFeatures, NDArray[np.int64]]:
    """Read the features of the knowledge base's images and, for each passage, the row of its article's image.

    The row is -1 if the article is not about a human or its image shows no face: only faces of humans are compared, as
    in retrieval.
    """
    base = read_illustrated_base(kb, features)
    image_of = np.full(len(base.starts) - 1, -1, dtype=np.int64)
    face = base.parts()["humans_with_face"]
    image_of[base.articles[face]] = base.images[face]
    return base.features, np.repeat(image_of, np.diff(base.starts))


def rerank(
    initial: Run,
    faces: NDArray[np.floating],
    base_faces: NDArray[np.floating],
    image_of: NDArray[np.int64],
) -> Run:
    """Rank each list's passages by the cosine of the question's face and the face of their article's image.

    Faces of the run's questions are (questions, dimension). `base_faces`, (images, dimension), may be memory-mapped;
    `image_of` has each passage's row in them, -1 without a human's face: left out.
    """
    images = np.where(initial.documents == PADDING, -1, image_of[initial.documents])
    shown, scores = images >= 0, np.zeros(images.shape)
    for row, face in enumerate(faces.astype(np.float64)):
        targets = base_faces[images[row, shown[row]]].astype(np.float64)
        lengths = np.linalg.norm(targets, axis=1) * np.linalg.norm(face)
        scores[row, shown[row]] = (targets * face).sum(axis=1) / lengths
    return rank_passages(initial, scores, shown, SYSTEM)


class ArcFace(Reranker):
    """Re-ranker that reads the features of all images, and the routing, which says which questions show a face."""

    name, label, row, symbol, sees = SYSTEM, "ArcFace", "F·A (ArcFace)", "F·A", "face"

    def __init__(self, settings: RerankerSettings, inputs: Inputs) -> None:
        features, self.routing = settings.reads
        self.depth = settings.depth
        base, self.image_of = face_images(inputs.kb, features / "kb")
        self.base_faces = base.matrix(SYSTEM)
        self.faces = ImageFeatures.read(features / "questions").matrix(SYSTEM)

    def rerank(self, split: str, questions: Sequence[Question], initial: Run) -> tuple[Run, dict[str, float]]:
        """Re-rank questions with a face by cosine; passages whose article shows no human's face are left out."""
        routes = read_table(self.routing / f"{split}.parquet", ["question", "image", "face"])
        served = routes.filter(routes["face"])
        initial = initial.select(served["question"].to_pylist()).first(self.depth)
        ranked = rerank(initial, self.faces[served["image"].to_numpy()], self.base_faces, self.image_of)
        kept = ranked.documents != PADDING
        return ranked, {
            "questions": float(len(questions)),
            "questions_with_face": float(served.num_rows),
            "questions_without_result": float((~kept.any(axis=1)).sum()),
            "passages": float((initial.documents != PADDING).sum()),
            "passages_with_face": float(kept.sum()),
        }
