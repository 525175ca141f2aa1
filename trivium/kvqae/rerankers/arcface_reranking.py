"""Image re-ranking by faces: the initial run's best passages in the order of ArcFace's cosines (kvqae.md §4).

A passage stands for the image of its article, whoever that shows. Only questions whose image has a face are re-ranked,
and of their passages only those whose article is about a human and its image has one.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures, read_illustrated_base
from trivium.kvqae.retrieval.image_search import STEP
from trivium.measures.runs import PADDING, Run

SYSTEM = "arcface"


def face_images(articles: Path, passages: Path, features: Path) -> tuple[ImageFeatures, NDArray[np.int64]]:
    """Features of the knowledge base's images and, for each passage, its article's image there.

    -1 where the article is not about a human or shows no face: faces are compared with faces of humans only, as in
    retrieval.
    """
    base = read_illustrated_base(articles, passages, features)
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

    Args:
        initial: over the questions with a face.
        faces: (questions, dimension) of the questions' images.
        base_faces: (images, dimension) of the knowledge base, memory-mapped; only the rows needed are read.
        image_of: (passages,) row of the passage's image in `base_faces`, -1 without a human's face: left out.
    """
    images = np.where(initial.documents == PADDING, -1, image_of[initial.documents])
    documents = np.where(images < 0, PADDING, initial.documents)
    scores = np.zeros(images.shape)
    for row, face in enumerate(faces.astype(np.float64)):
        shown = images[row] >= 0
        found = base_faces[images[row, shown]].astype(np.float64)
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(face)
        scores[row, shown] = (found * face).sum(axis=1) / lengths
    scores -= STEP * np.arange(images.shape[-1])
    return Run.from_scores(initial.queries, documents, scores, name=SYSTEM)
