"""Ask a trained model: ranked captions for pictures, and ranks both ways (decorrelation.md §3, §4).

A model with a second stage scores twice (Li et al. 2022): embeddings choose candidates, matching rescores them. The
score of a candidate is the inner product of the embeddings plus the matching head's. An item that is no candidate
ranks behind all candidates, in the order of the inner products.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from pydantic import Field

from trivium.core.atomic import write_atomically
from trivium.core.engine import Engine
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import Parameters
from trivium.core.tables import write_table
from trivium.decorrelation.removals import read_removals
from trivium.decorrelation.retrieval.sharded_model import (
    Captions,
    EncodedPictures,
    PictureSet,
    ShardedModel,
    Vectors,
    captions_of,
    load_once,
)
from trivium.formats.corpus_table import load_corpus
from trivium.formats.picture_corpora import IMAGES, RENDERED
from trivium.formats.pictures import Picture, Removal
from trivium.measures.odmap import Ranks, ranks_of_embeddings
from trivium.vision.neighbours import Ids, Scores, exact_search, merge


def top_captions(queries: NDArray, gallery: NDArray, k: int) -> tuple[Scores, Ids]:
    """The k captions of largest inner product with each query, (queries, k), exactly; equal scores by lower row.

    Of a query with several vectors, (queries, sides, d), the best one counts.

    Raises:
        BadInput: k larger than the gallery or below 1; or see `exact_search`.
    """
    if not 1 <= k <= len(gallery):
        raise BadInput("more captions asked for than there are", field="k", got=k, expected=f"1 to {len(gallery)}")
    if queries.ndim == 2:
        return exact_search(queries, gallery, k)
    # What is among the best of all by its best side is among the best of that side.
    scores, rows = exact_search(queries.reshape(-1, queries.shape[2]), gallery, k)
    scores, rows = scores.reshape(len(queries), -1), rows.reshape(len(queries), -1)
    order = np.lexsort((-scores, rows), axis=1)
    scores, rows = np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
    scores[:, 1:][rows[:, 1:] == rows[:, :-1]] = -np.inf  # a caption's other sides
    return merge([(scores, rows)], k)


Match = Callable[[Sequence[Sequence[str]]], Sequence[NDArray[np.float32]]]  # scores of each picture with its texts


def match_captions(match: Match, texts: Sequence[str], first: tuple[Scores, Ids]) -> tuple[Scores, Ids]:
    """Score each picture's candidate captions, by `top_captions`, again.

    Returns:
        scores (pictures, k) float32, highest first, and rows of the gallery; equal scores by lower row.
    """
    scores, rows = first
    rescored = scores + np.stack(match([[texts[row] for row in candidates] for candidates in rows]))
    return merge([(rescored, rows)], rows.shape[1])


def match_pictures(match: Match, pictures: int, texts: Sequence[str], first: tuple[Scores, Ids]) -> tuple[Scores, Ids]:
    """Score each caption's candidate pictures again; each picture goes to `match` once, with all of its texts.

    Returns:
        scores (texts, k) float32 and rows of so many pictures, in the order of `first`.
    """
    scores, rows = first
    queries_of_picture: list[list[tuple[int, int]]] = [[] for _ in range(pictures)]
    for query, candidates in enumerate(rows.tolist()):
        for place, picture in enumerate(candidates):
            queries_of_picture[picture].append((query, place))
    matched = match([[texts[query] for query, _ in pairs] for pairs in queries_of_picture])
    rescored = scores.copy()
    for places, values in zip(queries_of_picture, matched, strict=True):
        for (query, place), value in zip(places, values.tolist(), strict=True):
            rescored[query, place] += np.float32(value)
    return rescored, rows


def ranks_in_two_stages(
    first: Ranks, matched: tuple[Scores, Ids], query_owners: NDArray[np.int64], gallery_owners: NDArray[np.int64]
) -> Ranks:
    """Rank of each query's best own item; ties count against it.

    Args:
        first: ranks by the inner product alone: they stand where no own item is a candidate.
        matched: scores and rows of the candidates, (queries, k).
        query_owners, gallery_owners: labels.
    """
    scores, rows = matched
    own = gallery_owners[rows] == query_owners[:, None]
    best = np.where(own, scores, -np.inf).max(axis=1, keepdims=True)
    ranks = 1 + ((scores >= best) & ~own).sum(axis=1)
    return np.where(own.any(axis=1), ranks, first)


LISTS = pa.schema([("query", pa.string()), ("captions", pa.list_(pa.int64())), ("scores", pa.list_(pa.float32()))])


@dataclass(frozen=True)
class Retriever:
    """A model with its gallery, (captions, d) of all splits; so many candidates are scored again by a second stage.

    `encode` gives the vectors of a set of pictures, and the second stage, for each question about the set.
    """

    encode: Callable[[PictureSet], EncodedPictures]
    captions: Captions
    gallery: Vectors
    candidates: int

    def lists(self, part: PictureSet, depth: int) -> pa.Table:
        """The best `depth` captions of each picture out of all, as rows of `LISTS`; ties by lower caption id.

        Raises:
            BadInput: more captions asked for than there are, or than are scored again.
        """
        if not part.names:
            return LISTS.empty_table()
        pictures = self.encode(part)
        if pictures.match is None:
            scores, rows = top_captions(pictures.vectors, self.gallery, depth)
        else:
            if self.candidates < depth:
                raise BadInput("fewer candidates than captions retrieved", field="candidates", got=self.candidates,
                               expected=f"at least {depth}")  # fmt: skip
            first = top_captions(pictures.vectors, self.gallery, max(depth, min(self.candidates, len(self.gallery))))
            match = partial(pictures.match, f"lists-{part.name}")
            scores, rows = match_captions(match, self.captions.texts, first)
        columns = [part.queries, list(self.captions.ids[rows[:, :depth]]), list(scores[:, :depth])]
        return pa.table(dict(zip(LISTS.names, columns, strict=True)), schema=LISTS)

    def image_to_text(self, part: PictureSet) -> Ranks:
        """Rank of each picture's best own caption among the test captions."""
        if not part.names:
            return np.zeros(0, np.int64)
        texts, vectors, owners = self._test_captions()
        pictures, own = self.encode(part), np.array(part.owners, np.int64)
        ranks = ranks_of_embeddings(pictures.vectors, vectors, own, owners)
        if pictures.match is None:
            return ranks
        first = top_captions(pictures.vectors, vectors, min(self.candidates, len(vectors)))
        match = partial(pictures.match, f"image_to_text-{part.name}")
        return ranks_in_two_stages(ranks, match_captions(match, texts, first), own, owners)

    def text_to_image(self, part: PictureSet) -> Ranks:
        """Rank of each test caption's picture among the pictures."""
        texts, vectors, owners = self._test_captions()
        pictures, own = self.encode(part), np.array(part.owners, np.int64)
        ranks = ranks_of_embeddings(vectors, pictures.vectors, owners, own)
        if pictures.match is None:
            return ranks
        first = top_captions(vectors, pictures.vectors, min(self.candidates, len(own)))
        match = partial(pictures.match, f"text_to_image-{part.name}")
        return ranks_in_two_stages(ranks, match_pictures(match, len(own), texts, first), owners, own)

    def _test_captions(self) -> tuple[list[str], Vectors, NDArray[np.int64]]:
        places = np.flatnonzero(self.captions.test)
        texts = [self.captions.texts[place] for place in places]
        return texts, self.gallery[places], self.captions.pictures[places]


RANKS = pa.schema([("query", pa.int64()), ("rank", pa.int32())])


class RetrieveParameters(Parameters):
    """Section `decorrelation.retrieve`."""

    depth: int = Field(ge=1, description="Captions retrieved for a picture")
    picture_batch: int = Field(ge=1, description="Pictures encoded together; halves itself when GPU memory runs out")
    caption_batch: int = Field(
        default=512, ge=1, description="Captions encoded together; halves itself when GPU memory runs out"
    )
    threads: int | None = Field(ge=1, description="CPU threads of a process, null: all; small networks like one best")
    candidates: dict[str, Annotated[int, Field(ge=1)]] = Field(
        description="Captions, or pictures, that BLIP scores again for a query, by data set (k_test)"
    )

    def candidates_of(self, dataset: str) -> int:
        """The number of candidates that are scored again; `BadInput` where none stands for the data set."""
        if dataset not in self.candidates:
            raise BadInput("no number of candidates for the data set", field="candidates", got=dataset,
                           choices=self.candidates)  # fmt: skip
        return self.candidates[dataset]


def ask(
    parameters: RetrieveParameters,
    *,
    candidates: int,
    model: Path,
    raw: Path,
    removals: Path,
    painted: Path,
    engine: Engine,
    work: Path,
    out: Path,
) -> dict[str, float]:
    """Write a cell's tables; what a killed run has encoded and matched in `work` is not done again.

    A model with a second stage scores so many `candidates` again for a query. `raw`, `removals` and `painted` are
    of the cell's data set, `painted` with the filling of its queries. Returns the number of queries of each kind,
    and R@1 both ways.

    Raises:
        BadInput: a model, a removal or a picture that is not there, or fewer captions or candidates than are asked for.
    """
    if parameters.threads is not None:
        torch.set_num_threads(parameters.threads)
    corpus = load_corpus(raw, objects=False)
    tested = [picture for picture in corpus.pictures if picture.split == "test"]
    sets, metrics = picture_sets(tested, raw, removals, painted)
    captions = captions_of(corpus)
    work.mkdir(parents=True, exist_ok=True)
    sharded = ShardedModel(model, parameters.picture_batch, parameters.caption_batch, engine, work)
    with write_atomically(out) as folder:
        try:
            gallery = sharded.encode_texts(captions.texts)
            retriever = Retriever(cache(sharded.encode_pictures), captions, gallery, candidates)
            for name, pictures in sets.items():
                write_table(folder / f"{name}.parquet", retriever.lists(pictures, parameters.depth))
                metrics[f"{name}_queries"] = float(len(pictures.names))
            original, empty = sets["original"], sets["empty"]
            described = captions.ids[captions.test].tolist()
            for name, queries, ranks in (
                ("image_to_text", original.owners, retriever.image_to_text(original)),
                ("empty_image_to_text", empty.owners, retriever.image_to_text(empty)),
                ("text_to_image", described, retriever.text_to_image(original)),
            ):
                table = {"query": list(queries), "rank": ranks.astype(np.int32)}
                write_table(folder / f"{name}.parquet", pa.table(table, schema=RANKS))
                if name != "empty_image_to_text":
                    metrics[f"{name}_r@1"] = float((ranks == 1).mean())
        finally:
            load_once.cache_clear()
    metrics["captions"] = float(len(captions.ids))
    return metrics


def picture_sets(
    tested: Sequence[Picture], raw: Path, removals: Path, painted: Path
) -> tuple[dict[str, PictureSet], dict[str, float]]:
    """The sets `original`, `synthetic`, `empty` and, where the sample world drew it, `rendered`, and a count.

    The count is of pictures that were rendered again but are no removal. `BadInput`: no test picture, or a folder
    without images.
    """
    if not tested:
        raise BadInput("no test picture", file=raw)
    drawn = [
        removal for removal in read_removals(removals / "removals.parquet") if removal.split == "test" and removal.drawn
    ]
    boxes = read_removals(removals / "empty.parquet")
    queries = tuple(str(picture.id) for picture in tested)
    names, owners = tuple(picture.name for picture in tested), tuple(picture.id for picture in tested)
    sets = {
        "original": PictureSet("original", raw / IMAGES, names, queries, owners),
        "synthetic": _painted("synthetic", painted / "test", drawn),
        "empty": _painted("empty", painted / "empty", boxes),
    }
    metrics = {}
    if (raw / RENDERED).is_dir():
        rendered = set(Images(raw / RENDERED).names)
        # One class is missing from these, so removals of several have no counterpart.
        counterparts = [removal for removal in drawn if removal.id in rendered and len(removal.removed) == 1]
        sets["rendered"] = _painted("rendered", raw / RENDERED, counterparts)
        metrics["rendered_without_removal"] = float(len(rendered) - len(counterparts))
    return sets, metrics


def _painted(name: str, folder: Path, removals: Sequence[Removal]) -> PictureSet:
    names = tuple(removal.id for removal in removals)
    return PictureSet(name, folder, names, names, tuple(removal.picture for removal in removals))
