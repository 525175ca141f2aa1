"""Image re-ranking: the initial run's best passages by RRT, question image against article image (kvqae.md §4)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.kvqae.knowledge_base.article_passages import ArticlePassages
from trivium.kvqae.rerankers.rrt import score_pairs
from trivium.kvqae.retrieval.image_search import STEP
from trivium.measures.reorder import first
from trivium.measures.runs import PADDING, Run
from trivium.nets.reranking_transformer import RerankingTransformer
from trivium.vision.local_descriptors.folder import FeatureFolder


@dataclass(frozen=True)
class Base:
    """The knowledge base's side of the pairs.

    Attributes:
        article_of: (passages,) article of each passage.
        image_of: (articles,) row in `features` of each article's image, -1 without a readable one.
        features: of the images.
    """

    article_of: NDArray[np.int64]
    image_of: NDArray[np.int64]
    features: FeatureFolder


def image_pairs(run: Run, images: NDArray[np.int64], base: Base) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which image pairs a run asks for; each stands once, however many passages its article has.

    Args:
        run: the passages to rank anew.
        images: (queries,) row of each question's image, -1 without a readable one.
        base: articles and their images.

    Returns:
        (pairs, 2) rows of question images and article images; (queries, depth) number of the pair of each passage, -1
        where one of the images is missing.
    """
    there = run.documents != PADDING
    articles = base.article_of[np.where(there, run.documents, 0)]
    targets = np.where(there, base.image_of[articles], -1)
    asked = np.broadcast_to(images[:, None], targets.shape)
    both = (asked >= 0) & (targets >= 0)
    pairs, numbers = np.unique(np.stack([asked[both], targets[both]], axis=1), axis=0, return_inverse=True)
    places = np.full(targets.shape, -1, np.int64)
    places[both] = numbers.reshape(-1)
    return pairs, places


def rerank(
    run: Run,
    images: NDArray[np.int64],
    question_features: FeatureFolder,
    base: Base,
    model: RerankingTransformer,
    *,
    depth: int,
    batch: int,
) -> tuple[Run, dict[str, float]]:
    """Rank the best `depth` passages of each question anew; `batch` image pairs are scored together.

    A passage's score is its article's minus 1e-8 a position: passages of one article keep their order. A passage whose
    article has no readable image is left out, and so is every passage of a question without one.

    Returns:
        The run, and counts.
    """
    best = first(run, depth)
    pairs, places = image_pairs(best, images, base)
    scores = score_pairs(model, question_features, base.features, pairs, batch=batch)
    ranked = {
        query: {
            int(document): float(scores[place]) - STEP * position
            for position, (document, place) in enumerate(zip(documents, row, strict=True))
            if place >= 0
        }
        for query, documents, row in zip(best.queries, best.documents, places, strict=True)
    }
    without_locals = (question_features.counts[pairs[:, 0]] == 0) | (base.features.counts[pairs[:, 1]] == 0)
    there = best.documents != PADDING
    counts: dict[str, float] = {
        "questions_without_image": int((images < 0).sum()),
        "passages": int(there.sum()),
        "passages_without_image": int((there & (images >= 0)[:, None] & (places < 0)).sum()),
        "pairs": len(pairs),
        "pairs_without_locals": int(without_locals.sum()),
    }
    return Run.from_dict(ranked, depth=depth, name="rrt"), counts


def read_base(articles: Path, passages: Path, features: Path) -> Base:
    """Open the knowledge base's side.

    Raises:
        BadInput: passages are not in the order of their articles; see `FeatureFolder.read`.
    """
    folder = FeatureFolder.read(features)
    return Base(ArticlePassages(passages).article_of, folder.rows(read_table(articles, ["image"])["image"]), folder)
