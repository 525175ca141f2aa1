"""What a model scores on a set: ODmAP, the still-named rate, R@k both ways, each with its values by query.

Where a folder of right answers was brought, ECCV Caption's and CxC's measures too (`positives.py`).

Search, judgement, recall and bootstrap are those of the graph (decorrelation.md §3, §5).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors
from trivium.decorrelation.benchmark.positives import positive_scores
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP, RECALL, judge, recalls
from trivium.decorrelation.evaluation.comparisons import PictureBootstrap
from trivium.decorrelation.evaluation.queries import chance
from trivium.decorrelation.retrieval.ranking import top_captions
from trivium.measures.recall import Ranks, ranks_of_embeddings

STILL_NAMED = "still_named"
TO_TEXT, TO_IMAGE = (tuple(f"{way}_{name}" for name in RECALL) for way in ("image_to_text", "text_to_image"))
MEASURES = (*ODMAP, STILL_NAMED, *TO_TEXT, *TO_IMAGE)
Interval = tuple[float, float] | None


@dataclass(frozen=True)
class SetAnswers:
    """What a model answers to a set.

    Attributes:
        captions: (queries, 10) ids of the captions chosen for the painted pictures, best first.
        to_text: rank of each test picture's best own caption among the test captions.
        to_image: rank of each test caption's picture among the test pictures.
    """

    captions: NDArray[np.int64]
    to_text: Ranks
    to_image: Ranks


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


def score(asked: BenchmarkSet, vectors: SetVectors, answers: SetAnswers | None = None) -> Scores:
    """The values of a model that answers by the inner products of its vectors, or as `answers` says."""
    own = np.array(asked.pictures.owners, np.int64)
    described, texts = asked.captions.pictures[asked.captions.test], vectors.captions[asked.captions.test]
    if answers is None:
        _, rows = top_captions(vectors.painted, vectors.captions, max(CUTOFFS))
        answers = SetAnswers(
            asked.gallery.ids[rows],
            ranks_of_embeddings(vectors.pictures, texts, own, described),
            ranks_of_embeddings(texts, vectors.pictures, described, own),
        )
    judged = judge(asked.gallery, asked.queries, answers.captions)
    values = {name: judged[name] for name in ODMAP} | {STILL_NAMED: judged["removed_named"]}
    pictures = dict.fromkeys(values, asked.queries.pictures)
    for names, owners, ranks in ((TO_TEXT, own, answers.to_text), (TO_IMAGE, described, answers.to_image)):
        values |= dict(zip(names, recalls(ranks).values(), strict=True))
        pictures |= dict.fromkeys(names, owners)
    if asked.positives is not None:
        for name, (measured, rows) in positive_scores(asked.positives, vectors.pictures, texts).items():
            values[name] = measured
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
    expected = chance(asked.gallery, asked.queries, CUTOFFS)
    return {f"odmap@{k}": float(values.mean()) for k, values in expected.items()}
