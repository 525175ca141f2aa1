"""Stage `kvqae-rerank_arcface`. The initial run's best passages by the faces of their articles' images."""

from pathlib import Path

from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.tables import read_table
from trivium.formats.trec import read_run_over, write_run
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures
from trivium.kvqae.rerankers.arcface_reranking import SYSTEM, RerankArcfaceParameters, face_images, rerank
from trivium.measures.reorder import first
from trivium.measures.runs import PADDING


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
