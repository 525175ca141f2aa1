"""What a model scores on a set: ODmAP, the still-named rate, R@k both ways, each with its values by query.

Where a folder of right answers was brought, ECCV Caption's and CxC's measures too (`positives.py`).

Search, judgement, recall and bootstrap are those of the graph (decorrelation.md §3, §5).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors
from trivium.decorrelation.benchmark.positives import positive_scores
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP, RECALL, judge, recalls
from trivium.decorrelation.evaluation.comparisons import PictureBootstrap
from trivium.decorrelation.evaluation.queries import chance
from trivium.decorrelation.retrieval.ranking import top_captions
from trivium.measures.recall import ranks_of_embeddings

STILL_NAMED = "still_named"
TO_TEXT, TO_IMAGE = (tuple(f"{way}_{name}" for name in RECALL) for way in ("image_to_text", "text_to_image"))
MEASURES = (*ODMAP, STILL_NAMED, *TO_TEXT, *TO_IMAGE)
Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Scores:
    """One model's values.

    Attributes:
        values: {measure of `measures_of`: (queries of it,)}.
        pictures: {measure: the picture of each query}.
        intervals: {measure: of its mean, over pictures}.
    """

    values: Mapping[str, NDArray[np.float64]]
    pictures: Mapping[str, NDArray[np.int64]]
    intervals: Mapping[str, Interval]

    def mean(self, measure: str) -> float:
        """Over all queries."""
        return float(self.values[measure].mean())


def score(asked: BenchmarkSet, vectors: SetVectors) -> Scores:
    """Ask the set.

    Raises:
        BadInput: fewer captions than the largest cut-off.
    """
    _, rows = top_captions(vectors.painted, vectors.captions, max(CUTOFFS))
    judged = judge(asked.gallery, asked.queries, asked.gallery.ids[rows], Path(asked.dataset))
    values = {name: judged[name] for name in ODMAP} | {STILL_NAMED: judged["removed_named"]}
    pictures = dict.fromkeys(values, asked.queries.pictures)
    own = np.array(asked.pictures.owners, np.int64)
    test = asked.captions.test
    described, texts = asked.captions.pictures[test], vectors.captions[test]
    for names, owners, ranks in (
        (TO_TEXT, own, ranks_of_embeddings(vectors.pictures, texts, own, described)),
        (TO_IMAGE, described, ranks_of_embeddings(texts, vectors.pictures, described, own)),
    ):
        values |= dict(zip(names, recalls(ranks).values(), strict=True))
        pictures |= dict.fromkeys(names, owners)
    if asked.positives is not None:
        for name, (found, rows) in positive_scores(asked.positives, vectors.pictures, texts).items():
            values[name] = found
            pictures[name] = (own if "_image_to_text_" in name else described)[rows]
    return Scores(values, pictures, {name: interval(asked, values[name], pictures[name]) for name in values})


def measures_of(asked: BenchmarkSet) -> tuple[str, ...]:
    """Names of all values of a set."""
    return MEASURES + (asked.positives.measures if asked.positives is not None else ())


def interval(asked: BenchmarkSet, values: NDArray[np.float64], pictures: NDArray[np.int64]) -> Interval:
    """Of the mean of values by query, drawn over pictures as in the graph's tables."""
    settings = asked.certainty.model_dump(include={"confidence", "resamples", "seed"})
    return PictureBootstrap(pictures, **settings).interval(values)


def by_chance(asked: BenchmarkSet) -> dict[str, float]:
    """{ODmAP@k: its expectation under a random order of the captions}."""
    return {f"odmap@{k}": float(each.mean()) for k, each in chance(asked.gallery, asked.queries, CUTOFFS).items()}


def require_gallery(asked: BenchmarkSet) -> None:
    """Refuse a set of fewer captions than the largest cut-off, before anything is encoded."""
    if len(asked.captions.ids) < max(CUTOFFS):
        raise BadInput("too few captions", file=asked.dataset, got=len(asked.captions.ids),
                       expected=f"at least {max(CUTOFFS)} for ODmAP@{max(CUTOFFS)}")  # fmt: skip
