"""Search by image: faces among persons, whole images among other entities (kvqae.md §3).

Routing is exclusive. F = 1, a face in the query image: encoders of faces (ArcFace) on humans with a detected face.
F = 0: encoders of whole pictures (ImageNet, CLIP) on non-humans. Humans without a detected face are the third part of
the knowledge base, and no image search returns them.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, model_validator

from trivium.core.parameters import Parameters, shared
from trivium.formats.questions import SPLITS, read_questions
from trivium.kvqae.knowledge_base.illustrated_base import IllustratedBase, ImageFeatures
from trivium.kvqae.retrieval.systems import NAMES
from trivium.kvqae.retrieval.text_encoders import TextEncoderParameters
from trivium.measures.runs import PADDING, Run
from trivium.vision.encoder_registry import ENCODERS, SECTION, ImageEncoders
from trivium.vision.neighbours import exact_search

STEP = 1e-8  # difference of scores of successive passages of an article, or in a list


class ImageSearchParameters(Parameters):
    """Section `kvqae.image_search`."""

    depth: int = shared("kvqae.depth", ge=1, description="Articles, and passages, kept a question and encoder")
    image_encoders: ImageEncoders = shared(SECTION)


@dataclass(frozen=True)
class ImageIndex:
    """The images or names that one encoder searches, opened once for any number of queries.

    Attributes:
        matrix: (images, dimension) embeddings, memory-mapped.
        rows: the rows of `matrix` that are searched, ascending.
        owners: the articles of each of these rows.
        starts: (articles + 1,) first passage of each article.
    """

    matrix: NDArray[np.float16]
    rows: NDArray[np.int64]
    owners: dict[int, list[int]]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, base: IllustratedBase, encoder: str) -> Self:
        """Open the part of the knowledge base that an encoder searches, by its route."""
        parts, faces = base.parts(), ENCODERS[encoder].route == "face"
        chosen = parts["humans_with_face"] if faces else parts["non_humans"] & base.readable()
        owners: dict[int, list[int]] = defaultdict(list)
        for image, article in zip(base.images[chosen].tolist(), base.articles[chosen].tolist(), strict=True):
            owners[image].append(article)
        rows = np.array(sorted(owners), dtype=np.int64)
        return cls(base.features.matrix(encoder), rows, owners, base.starts)

    def search(
        self, queries: NDArray[np.floating], depth: int
    ) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
        """Search for query images (n, dimension); returns articles' cosines and passages' scores, best first."""
        cosines, images = exact_search(queries, self.matrix, depth, rows=self.rows, cosine=True)
        articles = [articles_of(*ranked, self.owners, depth) for ranked in zip(images, cosines, strict=True)]
        return articles, [passages_of(ranked, self.starts, depth) for ranked in articles]


def articles_of(
    images: NDArray[np.int64], cosines: NDArray[np.floating], owners: dict[int, list[int]], depth: int
) -> dict[int, float]:
    """Convert ranked images to at most `depth` articles; all articles of an image get its score."""
    pairs = zip(images.tolist(), cosines.tolist(), strict=True)
    scores = ((article, score) for image, score in pairs for article in owners[image])
    return dict(islice(scores, depth))


def passages_of(articles: dict[int, float], starts: NDArray[np.int64], depth: int) -> dict[int, float]:
    """Convert ranked articles to passages, article by article, until there are `depth`.

    The score of an article's passage number p (from 0) is the article's minus p · 1e-8. `starts` is (articles + 1,),
    the first passage of each article.
    """
    passages: dict[int, float] = {}
    for article, score in articles.items():
        if len(passages) >= depth:
            break
        first, end = starts[article : article + 2].tolist()
        passages |= {passage: score - STEP * (passage - first) for passage in range(first, end)}
    return passages


def rank_passages(listed: Run, scores: NDArray[np.float64], shown: NDArray[np.bool_], name: str) -> Run:
    """Rank the passages of lists by the scores of their articles; those that are not shown are left out.

    Each position in the list costs 1e-8: passages of one article keep their order. `scores` and `shown` are (queries,
    depth). `ValueError` where what is shown has a score that is not finite.
    """
    documents = np.where(shown, listed.documents, PADDING)
    return Run.from_scores(listed.queries, documents, scores - STEP * np.arange(scores.shape[1]), name=name)


def route(file: Path, features: ImageFeatures, articles: pa.Table) -> pa.Table:
    """Route the questions of a split's file to faces or whole images, by the features of their images.

    Returns split, question, image (its row in `features`, -1 when missing), readable, face (F), and human of the
    question's entity, null when it has no article.
    """
    questions = read_questions(file)
    rows = features.rows(pa.array([question.image for question in questions], pa.string()))
    entities = pa.array([question.wikidata_id for question in questions], pa.string())
    place = pc.index_in(entities, value_set=articles["wikidata_id"], skip_nulls=True)
    return pa.table(
        {
            "split": [file.stem] * len(questions),
            "question": [question.id for question in questions],
            "image": rows,
            "readable": (rows >= 0) & features.readable[rows],
            "face": (rows >= 0) & features.detected[rows],
            "human": articles["human"].take(place),
        }
    )


def counts(base: IllustratedBase, routing: pa.Table) -> dict[str, float]:
    """Count the knowledge base's parts, and the images and questions that cannot be searched or routed."""
    result: dict[str, float] = {f"kb_{name}": int(mask.sum()) for name, mask in base.parts().items()}
    result["kb_image_missing"] = int((base.images < 0).sum())
    result["kb_image_unreadable"] = int(((base.images >= 0) & ~base.readable()).sum())
    for split in SPLITS:
        table = routing.filter(pc.field("split") == split)
        missing = table["image"].to_numpy() < 0
        readable, face = table["readable"].to_numpy(), table["face"].to_numpy()
        result |= {
            f"{split}_face": int(face.sum()),
            f"{split}_no_face": int((readable & ~face).sum()),
            f"{split}_image_missing": int(missing.sum()),
            f"{split}_image_unreadable": int((~missing & ~readable).sum()),
            f"{split}_entity_without_article": table["human"].null_count,
        }
    return result


class NameSearchParameters(Parameters):
    """Section `kvqae.name_search`."""

    depth: int = shared("kvqae.depth", ge=1, description="Articles, and passages, kept a question")
    settings: TextEncoderParameters = shared(f"{NAMES}.{{encoder}}", description="Its entry: a folder with both towers")
    pictures: dict[str, Any] = shared(f"{SECTION}.{{encoder}}", description="The entry of the encoder of pictures")
    batch_size: int = Field(ge=1, description="Names a batch; halves itself when GPU memory runs out")

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if str(self.settings.model) != str(self.pictures.get("model")):
            raise ValueError(f"names and pictures need the two towers of one model: {self.pictures.get('model')}")
        return self
