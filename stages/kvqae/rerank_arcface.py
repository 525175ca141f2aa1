"""Image re-ranking by faces: the initial run's best passages in the order of ArcFace's cosines (kvqae.md §4).

A passage stands for the image of its article, whoever that shows. Only questions whose image has a face are re-ranked,
and of their passages only those whose article is about a human and its image has one.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from stages.atomic import write_atomically
from stages.kvqae.illustrated_base import ImageFeatures, read_illustrated_base
from stages.kvqae.image_search import STEP
from stages.measures.reorder import first
from stages.measures.runs import PADDING, Run
from stages.stage import BadInput, Context, Parameters, run_stage
from stages.tables import read_table
from stages.trec import read_run_over, write_run

SYSTEM = "arcface"


class RerankArcfaceParameters(Parameters):
    """Section `kvqae.rerank_arcface`."""

    depth: int = Field(ge=1, description="Best passages of the initial run that are re-ranked")


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


def main(
    parameters: RerankArcfaceParameters,
    context: Context,
    *,
    run: Path,
    routing: list[Path],
    articles: Path,
    passages: Path,
    kb_features: Path,
    question_features: Path,
    out: Path,
) -> dict[str, float]:
    """Write `{split}.trec`, that of the folder `run` re-ranked, for each split that a table of routing is named as.

    Raises:
        BadInput: a run is not about the questions of its split, or has a passage that the knowledge base lacks.
    """
    base, image_of = face_images(articles, passages, kb_features)
    base_faces = base.matrix(SYSTEM)
    faces = ImageFeatures.read(question_features).matrix(SYSTEM)
    metrics: dict[str, float] = {}
    with write_atomically(out) as beside:
        for path in routing:
            split = path.stem
            routes = read_table(path, ["question", "image", "face"])
            served = routes.filter(routes["face"])
            initial = read_run_over(run / f"{split}.trec", routes["question"].to_pylist())
            if initial.documents.max(initial=0) >= len(image_of):
                raise BadInput(
                    "no such passage",
                    file=run / f"{split}.trec",
                    got=int(initial.documents.max()),
                    expected=f"below {len(image_of)}",
                )
            initial = first(initial.select(served["question"].to_pylist()), parameters.depth)
            ranked = rerank(initial, faces[served["image"].to_numpy()], base_faces, image_of)
            write_run(beside / f"{split}.trec", ranked)
            there, kept = initial.documents != PADDING, ranked.documents != PADDING
            metrics |= {
                f"{split}_questions": float(routes.num_rows),
                f"{split}_questions_with_face": float(served.num_rows),
                f"{split}_questions_without_result": float((~kept.any(axis=1)).sum()),
                f"{split}_passages": float(there.sum()),
                f"{split}_passages_with_face": float(kept.sum()),
            }
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_arcface", RerankArcfaceParameters)
