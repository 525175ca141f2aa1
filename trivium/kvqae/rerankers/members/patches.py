"""Re-rank by local patches that two pictures share in the same arrangement (kvqae.md §4). Beyond the paper.

Patches are vectors of a frozen ViT. Two match if each is the other's nearest in cosine. Matches count if one similarity
transform (shift, turn, scale) moves them onto each other, as RANSAC finds it (Fischler and Bolles 1981). A pair of
pictures has the sum of their cosines as its score, as a share of the patches. No fusion uses this re-ranker.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table
from trivium.formats.questions import Question
from trivium.kvqae.knowledge_base.passage_texts import ARTICLES, ArticlePassages
from trivium.kvqae.rerankers.reranker import Inputs, Reranker, RerankerSettings
from trivium.kvqae.retrieval.image_search import rank_passages
from trivium.measures.runs import PADDING, Run

if TYPE_CHECKING:
    from PIL import Image

REACH = 1.0  # largest error of a match under the transform, in patches
SCALES = 0.25, 4.0  # bounds of a transform's scale
FEWEST = 3  # matches; any two fit some transform
KEPT = 2000  # articles' images whose patches stay in memory


class PatchSettings(RerankerSettings):
    """Entry whose `reads` are an image encoder's folder and the images of the knowledge base."""

    encoder: str = Field(description="Its name in `kvqae.image_encoders`: dinov2, dinov3, siglip2 or eva_clip")
    max_side: int = Field(default=1024, ge=32, description="Longer side, in pixels, to which larger images are reduced")
    max_pixels: int = Field(default=100_000_000, ge=1, description="Images with more pixels are not decoded")


def match(query: NDArray[np.float32], target: NDArray[np.float32]) -> float:
    """Sum the cosines of verified matches, divided by the number of the query's patches: 0 to 1.

    Either picture has patches of length 1, (rows, columns, width).
    """
    import cv2

    width = query.shape[-1]
    cosines = query.reshape(-1, width) @ target.reshape(-1, width).T
    nearest = cosines.argmax(axis=1)
    mutual = np.flatnonzero((cosines.argmax(axis=0)[nearest] == np.arange(len(nearest))) & (cosines.max(axis=1) > 0))
    if len(mutual) < FEWEST:
        return 0.0
    places, others = (
        np.stack(np.unravel_index(numbers, patches.shape[:2]), axis=1).astype(np.float32)
        for numbers, patches in ((mutual, query), (nearest[mutual], target))
    )
    transform, kept = cv2.estimateAffinePartial2D(places, others, method=cv2.RANSAC, ransacReprojThreshold=REACH)
    if transform is None or not SCALES[0] < np.hypot(*transform[:, 0]) < SCALES[1]:
        return 0.0
    return float(cosines[mutual, nearest[mutual]][kept.ravel() > 0].sum() / len(nearest))


class Patches(Reranker):
    """Re-ranker of all questions with a readable image, by the readable images of articles."""

    name, label, row, symbol, sees = "patches", "local patches", "LP (local patches, beyond the paper)", "LP", "whole"
    fused = False
    Settings = PatchSettings

    def __init__(self, settings: PatchSettings, inputs: Inputs) -> None:
        from trivium.nets.device import pick_device
        from trivium.vision.encoder_registry import ENCODERS
        from trivium.vision.whole_images import PictureEmbedder

        model, images = settings.reads
        self.settings = settings
        encoder = ENCODERS[settings.encoder].load(model, pick_device())
        if not isinstance(encoder, PictureEmbedder):
            raise BadInput("no encoder of whole pictures", field="kvqae.rerankers.patches", got=settings.encoder)
        encoder.patches([])  # a network without patches is refused at once
        self.encoder = encoder
        self.base, self.question_images = Images(images), Images(inputs.question_images)
        self.article_of = ArticlePassages(inputs.kb).article_of
        self.image_of: list[str | None] = read_table(inputs.kb / ARTICLES, ["image"])["image"].to_pylist()
        self.known: dict[str, NDArray[np.float16] | None] = {}  # patches of articles' images; None: unreadable

    def rerank(self, split: str, questions: Sequence[Question], initial: Run) -> tuple[Run, dict[str, float]]:
        """Rank by `match`; passages of one article keep their order, those without a readable image are left out."""
        best = initial.first(self.settings.depth)
        values, shown = np.zeros(best.documents.shape), np.zeros(best.documents.shape, bool)
        counts = {"questions_without_image": 0, "passages": 0, "passages_without_image": 0, "pairs": 0}
        for row, (question, documents) in enumerate(zip(questions, best.documents, strict=True)):
            images = [self.image_of[article] for article in self.article_of[documents[documents != PADDING]]]
            counts["passages"] += len(images)
            name = question.image or ""
            query = self.describe(self.question_images, [name])[name]
            if query is None:
                counts["questions_without_image"] += 1
                continue
            scores = self.compare(query, sorted({name for name in images if name is not None}))
            shown[row, : len(images)] = [name in scores for name in images]
            values[row, : len(images)] = [scores.get(name or "", 0.0) for name in images]
            counts["pairs"] += len(scores)
            counts["passages_without_image"] += sum(name not in scores for name in images)
        return rank_passages(best, values, shown, self.name), {name: float(count) for name, count in counts.items()}

    def compare(self, query: NDArray[np.float16], names: Sequence[str]) -> dict[str, float]:
        """Score a picture with each of these articles' images that can be read."""
        if len(self.known) > KEPT:
            self.known.clear()
        self.known |= self.describe(self.base, [name for name in names if name not in self.known])
        targets = {name: patches for name in names if (patches := self.known[name]) is not None}
        wide = query.astype(np.float32)
        return {name: match(wide, patches.astype(np.float32)) for name, patches in targets.items()}

    def describe(self, images: Images, names: Sequence[str]) -> dict[str, NDArray[np.float16] | None]:
        """Embed the patches of images, by name; None if an image is missing or cannot be read."""
        from trivium.vision.decoding import Unreadable, decode

        pictures: dict[str, Image.Image] = {}
        limits = {"max_side": self.settings.max_side, "max_pixels": self.settings.max_pixels}
        for name in names:
            if name in images:
                try:
                    pictures[name] = decode(images.read(name), **limits)
                except Unreadable:
                    continue
        described = self.encoder.patches(list(pictures.values())).astype(np.float16)
        return dict.fromkeys(names) | dict(zip(pictures, described, strict=True))
