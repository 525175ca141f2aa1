"""ArcFace: the face of the question's image against those of the articles' (kvqae.md §4)."""

from pathlib import Path

from trivium.core.errors import BadInput
from trivium.core.tables import read_table
from trivium.formats.trec import read_run_over
from trivium.kvqae.knowledge_base.illustrated_base import ImageFeatures
from trivium.kvqae.rerankers.arcface_reranking import SYSTEM, face_images, rerank
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.measures.reorder import first
from trivium.measures.runs import PADDING, Run


class ArcFace(Reranker):
    """Reads the features of all images, and the routing, which says which questions show a face."""

    name, label, row, symbol, sees = SYSTEM, "ArcFace", "F·A (ArcFace)", "F·A", "face"

    def __init__(self, settings: RerankerSettings, inputs: Inputs) -> None:
        features, self.routing = settings.reads
        self.depth = settings.depth
        base, self.image_of = face_images(inputs.articles, inputs.passages, features / "kb")
        self.base_faces = base.matrix(SYSTEM)
        self.faces = ImageFeatures.read(features / "questions").matrix(SYSTEM)

    def rerank(self, split: str, file: Path) -> tuple[Run, dict[str, float]]:
        """Questions with a face, by cosine; a passage whose article shows no human's face is left out."""
        routes = read_table(self.routing / f"{split}.parquet", ["question", "image", "face"])
        served = routes.filter(routes["face"])
        initial = read_run_over(file, routes["question"].to_pylist())
        if initial.documents.max(initial=0) >= len(self.image_of):
            raise BadInput(
                "no such passage",
                file=file,
                got=int(initial.documents.max()),
                expected=f"below {len(self.image_of)}",
            )
        initial = first(initial.select(served["question"].to_pylist()), self.depth)
        ranked = rerank(initial, self.faces[served["image"].to_numpy()], self.base_faces, self.image_of)
        there, kept = initial.documents != PADDING, ranked.documents != PADDING
        return ranked, {
            "questions": float(routes.num_rows),
            "questions_with_face": float(served.num_rows),
            "questions_without_result": float((~kept.any(axis=1)).sum()),
            "passages": float(there.sum()),
            "passages_with_face": float(kept.sum()),
        }
