"""What a model answers to a set: captions for painted pictures, ranks both ways, scores of pairs.

Search and ranks are those of the graph (decorrelation.md §3, §5): `Retriever` asks, with a second stage where the model
has one. Of pictures with several vectors the best one counts: s(x, y) = max_v ⟨x_v, y⟩.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embedder import SetVectors, stream_pictures
from trivium.decorrelation.evaluation.answers import CUTOFFS
from trivium.decorrelation.retrieval.encoding import Vectors, in_groups
from trivium.decorrelation.retrieval.ranking import PictureSet, Retriever, top_captions
from trivium.measures.recall import Ranks

_PICTURES = 16  # with all their vectors, against all texts


@dataclass(frozen=True)
class SetAnswers:
    """What a model answers to a set.

    Attributes:
        captions: (queries, 10) ids of the captions chosen for the painted pictures, best first.
        to_text: rank of each test picture's best own caption among the test captions.
        to_image: rank of each test caption's picture among the test pictures.
        pairs: (pairs, 2, 2) scores of the whole and the painted picture with y and y′.
    """

    captions: NDArray[np.int64]
    to_text: Ranks
    to_image: Ranks
    pairs: NDArray[np.float32]


@dataclass(frozen=True)
class _Encoded:
    """`EncodedPictures` of a model that is no graph's."""

    vectors: Vectors
    kept: bool
    pictures: PictureSet


@dataclass(frozen=True)
class _Model:
    """`ShardedModel` around vectors that are there, and a model's `match`, if it has one."""

    vectors: dict[str, Vectors]
    pictures: dict[str, PictureSet]
    match_images: Callable[..., Any] | None
    batch: int

    def encode_pictures(self, name: str, folder: Path, names: Sequence[str]) -> _Encoded:
        """The vectors of a set's part."""
        return _Encoded(self.vectors[name], self.match_images is not None, self.pictures[name])

    def match(self, name: str, encoded: _Encoded, texts: Sequence[Sequence[str]]) -> list[NDArray[np.float32]]:
        """Scores of each picture with each of its texts."""
        assert self.match_images is not None
        scores = [np.zeros(0, np.float32)] * len(texts)
        for group in in_groups(stream_pictures(encoded.pictures, f"{name}, matched"), self.batch):
            asked = [(row, image) for row, image in group if texts[row]]
            matched = self.match_images([image for _, image in asked], [texts[row] for row, _ in asked])
            for (row, _), values in zip(asked, matched, strict=True):
                scores[row] = values
        return scores


def answer(
    asked: BenchmarkSet, vectors: SetVectors, model: Any = None, batch: int = 64, candidates: int | None = None
) -> SetAnswers:
    """The answers of a model by its vectors; the best candidates are scored again where it has `match`.

    Args:
        asked: the set.
        vectors: of the model.
        model: with `match`, or without.
        batch: pictures at a time.
        candidates: how many are scored again, at least as many as are retrieved; 0: none; None: as many as the graph
            does on this data set, or where it says nothing, as the paper on COCO (256).
    """
    if vectors.pictures.ndim == 3:
        return _answer_by_sides(asked, vectors)
    parts = {
        asked.pictures.name: (asked.pictures, vectors.pictures),
        asked.painted.name: (asked.painted, vectors.painted),
    }
    held: Any = _Model(
        {name: found for name, (_, found) in parts.items()},
        {name: pictures for name, (pictures, _) in parts.items()},
        getattr(model, "match", None) if candidates != 0 else None,
        batch,
    )
    candidates = candidates or asked.retrieve.candidates.get(asked.dataset, 256)
    return answers_of(Retriever(held, asked.captions, vectors.captions, candidates), asked, vectors.without)


def answers_of(retriever: Retriever, asked: BenchmarkSet, without: Vectors) -> SetAnswers:
    """What a retriever answers; `without` are the vectors of y′."""
    return SetAnswers(
        np.array(retriever.lists(asked.painted, max(CUTOFFS))["captions"].to_pylist()),
        retriever.image_to_text(asked.pictures),
        retriever.text_to_image(asked.pictures),
        np.stack([_pair_scores(retriever, asked, part, without) for part in (asked.pictures, asked.painted)], axis=1),
    )


def _pair_scores(retriever: Retriever, asked: BenchmarkSet, part: PictureSet, without: Vectors) -> NDArray[np.float32]:
    """(pairs, 2): each pair's picture of a part with y and with y′."""
    encoded, rows = retriever.encoded(part), _rows(asked, part)
    texts = (retriever.gallery[asked.pairs.captions], without)
    scores = np.stack([by_side(encoded.vectors[rows], vectors) for vectors in texts], axis=1)
    if encoded.kept:
        lists: list[list[str]] = [[] for _ in part.names]
        for row, caption, text in zip(rows.tolist(), asked.pairs.captions, asked.pairs.texts, strict=True):
            lists[row] += [asked.captions.texts[caption], text]
        matched = retriever.model.match(f"pairs-{part.name}", encoded, lists)
        order = np.argsort(rows, kind="stable")
        scores[order] += np.concatenate(matched).reshape(-1, 2)
    return scores


def _rows(asked: BenchmarkSet, part: PictureSet) -> NDArray[np.int64]:
    """Of each pair the row of its picture in a part of the set."""
    if part is asked.painted:
        return asked.pairs.queries
    place = {owner: row for row, owner in enumerate(part.owners)}
    return np.array([place[picture] for picture in asked.queries.pictures[asked.pairs.queries].tolist()], np.int64)


def by_side(pictures: Vectors, texts: Vectors) -> NDArray[np.float32]:
    """Score of each of n pictures with its own text, (n,); vectors (n, d) or (n, sides, d), and (n, d)."""
    products = np.einsum("n...d,nd->n...", pictures, texts, dtype=np.float64).astype(np.float32)
    return products.max(axis=1) if products.ndim == 2 else products


def _answer_by_sides(asked: BenchmarkSet, vectors: SetVectors) -> SetAnswers:
    """As `answers_of`, where a picture has several vectors."""
    count, depth = len(vectors.painted), max(CUTOFFS)
    # Who is among the best of all by its best side is among the best of that side.
    scores, rows = top_captions(vectors.painted.reshape(-1, vectors.painted.shape[2]), vectors.captions, depth)
    captions = np.empty((count, depth), np.int64)
    for query, (values, found) in enumerate(zip(scores.reshape(count, -1), rows.reshape(count, -1), strict=True)):
        order = np.lexsort((found, -values))
        _, first = np.unique(found[order], return_index=True)
        captions[query] = asked.captions.ids[found[order][np.sort(first)[:depth]]]
    test = asked.captions.test
    texts, owners, own = vectors.captions[test], asked.captions.pictures[test], np.array(asked.pictures.owners)
    place = {owner: row for row, owner in enumerate(own.tolist())}
    best = by_side(vectors.pictures[[place[owner] for owner in owners.tolist()]], texts)
    to_text, to_image = np.ones(len(own), np.int64), np.ones(len(owners), np.int64)
    for start in range(0, len(own), _PICTURES):
        products = np.float32(vectors.pictures[start : start + _PICTURES].astype(np.float64) @ texts.T).max(axis=1)
        theirs = own[start : start + _PICTURES, None] == owners
        bar = np.where(theirs, products, -np.inf).max(axis=1, keepdims=True)
        to_text[start : start + _PICTURES] += ((products >= bar) & ~theirs).sum(axis=1)
        to_image += ((products >= best) & ~theirs).sum(axis=0)
    y, left = vectors.captions[asked.pairs.captions], vectors.without
    parts = ((asked.pictures, vectors.pictures), (asked.painted, vectors.painted))
    pairs = [[by_side(found[_rows(asked, part)], text) for text in (y, left)] for part, found in parts]
    return SetAnswers(captions, to_text, to_image, np.array(pairs).transpose(2, 0, 1))
