"""The answers of a model to a set: captions for painted pictures, ranks both ways, scores of pairs.

Search and ranks are those of the graph (decorrelation.md §3, §5): `Retriever` asks, with a second stage where the model
has one. Of pictures with several vectors the best one counts: s(x, y) = max_v ⟨x_v, y⟩.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from trivium.core.engine import LocalEngine
from trivium.core.tables import in_groups
from trivium.decorrelation.benchmark.benchmark_set import BenchmarkSet
from trivium.decorrelation.benchmark.embeddings import SetVectors, stream_pictures
from trivium.decorrelation.evaluation.answers import CUTOFFS
from trivium.decorrelation.retrieval.encoding import Vectors
from trivium.decorrelation.retrieval.ranking import Retriever, top_captions
from trivium.decorrelation.retrieval.sharded_model import EncodedPictures, PictureSet, ShardedModel, load_once
from trivium.measures.recall import Ranks

_PICTURES = 16  # with all their vectors, against all texts


@dataclass(frozen=True)
class SetAnswers:
    """The answers of a model to a set.

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


class TrainedModel:
    """A model that a graph has trained, of any kind, asked as the stage `decorrelation-retrieve` asks it.

    So its figures are the graph's: BLIP's best candidates are scored again by its matching head (decorrelation.md §4).

    Raises:
        BadInput: the folder is not what `RetrievalModel.save` writes, or the weights do not fit.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._model = folder, load_once(folder)

    def encode_images(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """(n, d); `trivium kb` takes a trained model as an image encoder."""
        pixels = torch.from_numpy(np.stack([self._model.prepare.scaled(image) for image in images]))
        device = next(self._model.module.parameters()).device
        return self._model.encode_images(self._model.prepare.standardised(pixels.to(device)))

    def answer(self, benchmark: BenchmarkSet) -> SetAnswers:
        """Answer a set with the settings of the graph's stage."""
        settings = benchmark.retrieve
        threads = torch.get_num_threads()
        torch.set_num_threads(settings.threads or threads)
        try:
            with TemporaryDirectory() as work:
                batches = (settings.picture_batch, settings.caption_batch)
                model = ShardedModel(self._folder, *batches, LocalEngine(1), Path(work))
                count = len(benchmark.captions.texts)
                vectors = model.encode_texts([*benchmark.captions.texts, *benchmark.pairs.texts])
                candidates = settings.candidates_of(benchmark.dataset)
                retriever = Retriever(cache(model.encode_pictures), benchmark.captions, vectors[:count], candidates)
                return _answers_of(retriever, benchmark, vectors[count:])
        finally:
            torch.set_num_threads(threads)


def _match(
    match_images: Callable[..., Any], pictures: PictureSet, batch: int, name: str, texts: Sequence[Sequence[str]]
) -> list[NDArray[np.float32]]:
    """See `EncodedPictures`; `match_images` is a model's own `match`, which takes `batch` pictures at a time."""
    scores = [np.zeros(0, np.float32)] * len(texts)
    wanted = (item for item in stream_pictures(pictures, f"{name}, matched") if texts[item[0]])
    for group in in_groups(wanted, batch):
        matched = match_images([image for _, image in group], [texts[row] for row, _ in group])
        for (row, _), values in zip(group, matched, strict=True):
            scores[row] = values
    return scores


def answer(
    benchmark: BenchmarkSet, vectors: SetVectors, model: Any = None, batch: int = 64, candidates: int | None = None
) -> SetAnswers:
    """Answer a set by a model's vectors, `batch` pictures at a time.

    Where the model has `match`, the best `candidates` are scored again, at least as many as are retrieved; 0: none;
    None: as many as the graph does on this data set, or where it says nothing, as the paper on COCO (256).
    """
    if vectors.pictures.ndim == 3:
        return _answer_by_sides(benchmark, vectors)
    match = getattr(model, "match", None) if candidates != 0 else None
    encoded = {
        part: EncodedPictures(made, None if match is None else partial(_match, match, part, batch))
        for part, made in ((benchmark.pictures, vectors.pictures), (benchmark.painted, vectors.painted))
    }
    candidates = candidates or benchmark.retrieve.candidates.get(benchmark.dataset, 256)
    retriever = Retriever(encoded.__getitem__, benchmark.captions, vectors.captions, candidates)
    return _answers_of(retriever, benchmark, vectors.without)


def _answers_of(retriever: Retriever, benchmark: BenchmarkSet, without: Vectors) -> SetAnswers:
    """Answer a set by a retriever; `without` are the vectors of y′."""
    pairs = []
    for part, rows in _pictures_of_pairs(benchmark):
        encoded = retriever.encode(part)
        scores = _pair_products(encoded.vectors[rows], benchmark, retriever.gallery, without)
        if encoded.match is not None:
            texts: list[list[str]] = [[] for _ in part.names]
            for row, caption, text in zip(rows, benchmark.pairs.captions, benchmark.pairs.texts, strict=True):
                texts[row] += [benchmark.captions.texts[caption], text]
            matched = encoded.match(f"pairs-{part.name}", texts)
            scores[np.argsort(rows, kind="stable")] += np.concatenate(matched).reshape(-1, 2)
        pairs.append(scores)
    return SetAnswers(
        np.array(retriever.lists(benchmark.painted, max(CUTOFFS))["captions"].to_pylist()),
        retriever.image_to_text(benchmark.pictures),
        retriever.text_to_image(benchmark.pictures),
        np.stack(pairs, axis=1),
    )


def _pictures_of_pairs(benchmark: BenchmarkSet) -> list[tuple[PictureSet, NDArray[np.int64]]]:
    """The whole and the painted pictures, each with the row of every pair's picture."""
    queries = benchmark.pairs.queries
    whole = benchmark.rows_of(benchmark.queries.pictures[queries])
    return [(benchmark.pictures, whole), (benchmark.painted, queries)]


def _pair_products(
    pictures: Vectors, benchmark: BenchmarkSet, captions: Vectors, without: Vectors
) -> NDArray[np.float32]:
    """(pairs, 2): score of each pair's picture with y and with y′."""
    return np.stack([by_side(pictures, texts) for texts in (captions[benchmark.pairs.captions], without)], axis=1)


def by_side(pictures: Vectors, texts: Vectors) -> NDArray[np.float32]:
    """Score of each of n pictures with its own text, (n,); vectors (n, d) or (n, sides, d), and (n, d)."""
    products = np.einsum("n...d,nd->n...", pictures, texts, dtype=np.float64).astype(np.float32)
    return products.max(axis=1) if products.ndim == 2 else products


def _answer_by_sides(benchmark: BenchmarkSet, vectors: SetVectors) -> SetAnswers:
    """Do the same as `_answers_of` where a picture has several vectors."""
    count, depth = len(vectors.painted), max(CUTOFFS)
    # Who is among the best of all by its best side is among the best of that side.
    scores, rows = top_captions(vectors.painted.reshape(-1, vectors.painted.shape[2]), vectors.captions, depth)
    captions = np.empty((count, depth), np.int64)
    for query, (values, candidates) in enumerate(zip(scores.reshape(count, -1), rows.reshape(count, -1), strict=True)):
        ranked = candidates[np.lexsort((candidates, -values))]
        _, first = np.unique(ranked, return_index=True)
        captions[query] = benchmark.captions.ids[ranked[np.sort(first)[:depth]]]
    test = benchmark.captions.test
    texts, owners, own = vectors.captions[test], benchmark.captions.pictures[test], np.array(benchmark.pictures.owners)
    best = by_side(vectors.pictures[benchmark.rows_of(owners)], texts)
    to_text, to_image = np.ones(len(own), np.int64), np.ones(len(owners), np.int64)
    for start in range(0, len(own), _PICTURES):
        part = slice(start, start + _PICTURES)
        products = np.float32(vectors.pictures[part].astype(np.float64) @ texts.T).max(axis=1)
        theirs = own[part, None] == owners
        bar = np.where(theirs, products, -np.inf).max(axis=1, keepdims=True)
        to_text[part] += ((products >= bar) & ~theirs).sum(axis=1)
        to_image += ((products >= best) & ~theirs).sum(axis=0)
    (_, whole), (_, painted) = _pictures_of_pairs(benchmark)
    pairs = [
        _pair_products(pictures, benchmark, vectors.captions, vectors.without)
        for pictures in (vectors.pictures[whole], vectors.painted[painted])
    ]
    return SetAnswers(captions, to_text, to_image, np.stack(pairs, axis=1))
