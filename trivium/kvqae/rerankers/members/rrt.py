"""Re-rank by RRT: compare the question's image with those of articles by local features (kvqae.md §4)."""

from collections.abc import Sequence

import pyarrow as pa
from pydantic import Field

from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages
from trivium.kvqae.rerankers.model_files import is_left_out
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.measures.runs import Run


class RrtSettings(RerankerSettings):
    """Entry whose `reads` are the network's folder and the local features of all images."""

    batch: int = Field(ge=1, description="Image pairs scored together; halved when GPU memory runs out")


class Rrt(Reranker):
    """Re-ranker of all questions with a readable image; of none if RRT is left out (`kvqae.rrt.use`)."""

    name, label, row, symbol, sees = "rrt", "RRT", "RRT (whole image)", "RRT", "whole"
    Settings = RrtSettings

    def __init__(self, settings: RrtSettings, inputs: Inputs) -> None:
        from trivium.kvqae.rerankers.rrt import load_rrt, read_features

        self.settings = settings
        model, features = settings.reads
        self.left_out = is_left_out(model)
        if not self.left_out:
            self.network = load_rrt(model)
            self.base, self.features = (read_features(features / side, self.network) for side in ("kb", "questions"))
            pictures = read_table(inputs.kb / ARTICLES, ["image"])["image"]
            self.image_of = self.base.rows(pictures)[ArticlePassages(inputs.kb).article_of]

    def rerank(self, split: str, questions: Sequence[Question], initial: Run) -> tuple[Run, dict[str, float]]:
        """Re-rank by the network's scores; passages whose article has no readable image are left out."""
        from trivium.kvqae.rerankers.rrt import rerank

        if self.left_out:
            return Run.from_dict({}, name=self.name), {"questions_left_out": float(len(questions))}
        images = self.features.rows(pa.array([question.image for question in questions], pa.string()))
        best, batch = initial.first(self.settings.depth), self.settings.batch
        return rerank(best, images, self.image_of, self.features, self.base, self.network, batch=batch)
