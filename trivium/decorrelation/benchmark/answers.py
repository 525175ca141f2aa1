"""The answers of a model to a set, and its scores: ODmAP, the still-named rate, pairs, R@k both ways, by query.

Search, ranks, judgement and bootstrap are those of the graph (decorrelation.md §3, §5): `Retriever` asks, with a second
stage where the model has one. Of pictures with several vectors the best one counts: s(x, y) = max_v ⟨x_v, y⟩.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from trivium.core.engine import LocalEngine
from trivium.core.tables import in_groups
from trivium.decorrelation.benchmark.benchmark_set import LEAST_SHARE, BenchmarkSet
from trivium.decorrelation.benchmark.embeddings import SetVectors, stream_pictures
from trivium.decorrelation.evaluation.answers import CUTOFFS, ODMAP, RECALL, chance, judge, recalls
from trivium.decorrelation.evaluation.tables import PictureBootstrap
from trivium.decorrelation.retrieval.ranking import Retriever
from trivium.decorrelation.retrieval.sharded_model import EncodedPictures, PictureSet, ShardedModel, Vectors, load_once
from trivium.measures.odmap import Ranks


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

    def __init__(self, folder: str | Path) -> None:
        self._folder, self._model = Path(folder), load_once(Path(folder))

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
    has_sides = vectors.pictures.ndim == 3
    match = None if candidates == 0 or has_sides else getattr(model, "match", None)
    encoded = {
        part: EncodedPictures(made, None if match is None else partial(_match, match, part, batch))
        for part, made in ((benchmark.pictures, vectors.pictures), (benchmark.painted, vectors.painted))
    }
    candidates = candidates or benchmark.retrieve.candidates.get(benchmark.dataset, 256)
    retriever = Retriever(encoded.__getitem__, benchmark.captions, vectors.captions, candidates)
    return _answers_of(retriever, benchmark, vectors.without)


def _answers_of(retriever: Retriever, benchmark: BenchmarkSet, without: Vectors) -> SetAnswers:
    """Answer a set by a retriever; `without` are the vectors of y′."""
    queries = benchmark.pairs.queries
    whole = benchmark.rows_of(benchmark.queries.pictures[queries])
    both = retriever.gallery[benchmark.pairs.captions], without
    pairs = []
    for part, rows in ((benchmark.pictures, whole), (benchmark.painted, queries)):
        encoded = retriever.encode(part)
        scores = np.stack([score_own(encoded.vectors[rows], own) for own in both], axis=1)
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


def score_own(pictures: Vectors, texts: Vectors) -> NDArray[np.float32]:
    """Score each of n pictures with its own text, (n,); vectors (n, d) or (n, sides, d), and (n, d)."""
    products = np.einsum("n...d,nd->n...", pictures, texts, dtype=np.float64).astype(np.float32)
    return products.max(axis=1) if products.ndim == 2 else products


STILL_NAMED, TESTED = "still_named", "odmap@1_tested"
PAIRS = ("pair_whole", "pair_painted", "pair_both")
BY_CHANCE = {"pair_whole": 0.5, "pair_painted": 0.5, "pair_both": 0.25}
TO_TEXT, TO_IMAGE = (tuple(f"{way}_{name}" for name in RECALL) for way in ("image_to_text", "text_to_image"))
MEASURES = (*ODMAP, TESTED, STILL_NAMED, *PAIRS, *TO_TEXT, *TO_IMAGE)
Interval = tuple[float, float] | None


def mean_of(values: NDArray[Any]) -> float | None:
    """The mean; None where there are no values."""
    return float(values.mean()) if len(values) else None


@dataclass(frozen=True)
class Scores:
    """One model's values.

    Attributes:
        values: {measure of MEASURES: (queries of it,)}.
        intervals: {measure: of its mean, over pictures}.
        chosen: (queries,) ids of the captions that it chose first.
    """

    values: Mapping[str, NDArray[np.float64]]
    intervals: Mapping[str, Interval]
    chosen: NDArray[np.int64]

    def mean(self, measure: str) -> float | None:
        """The mean over all queries; None where there are none."""
        return mean_of(self.values[measure])

    def by_query(self, benchmark: BenchmarkSet, measure: str) -> NDArray[np.float64]:
        """The values in the order of the set's queries; NaN where a query has no pair."""
        values = np.full(len(benchmark.queries.ids), np.nan)
        values[benchmark.pairs.queries if measure in PAIRS else slice(None)] = self.values[measure]
        return values


def score(benchmark: BenchmarkSet, answers: SetAnswers) -> Scores:
    """Judge a model's answers."""
    own = np.array(benchmark.pictures.owners, np.int64)
    described = benchmark.captions.pictures[benchmark.captions.test]
    judged = judge(benchmark.gallery, benchmark.queries, answers.captions)
    values = {name: judged[name] for name in ODMAP} | {STILL_NAMED: judged["removed_named"]}
    pictures = dict.fromkeys(values, benchmark.queries.pictures)
    tested = benchmark.tests_something()
    values[TESTED], pictures[TESTED] = values[ODMAP[0]][tested], benchmark.queries.pictures[tested]
    (whole, whole_less), (painted, painted_less) = answers.pairs.transpose(1, 2, 0)
    sides = np.stack([whole > whole_less, painted_less > painted])
    for name, right in zip(PAIRS, (*sides, sides.all(axis=0)), strict=True):
        values[name], pictures[name] = right.astype(float), benchmark.queries.pictures[benchmark.pairs.queries]
    for names, owners, ranks in ((TO_TEXT, own, answers.to_text), (TO_IMAGE, described, answers.to_image)):
        values |= dict(zip(names, recalls(ranks).values(), strict=True))
        pictures |= dict.fromkeys(names, owners)
    intervals = {name: interval(benchmark, values[name], pictures[name]) for name in values}
    return Scores(values, intervals, answers.captions[:, 0])


def interval(benchmark: BenchmarkSet, values: NDArray[np.float64], pictures: NDArray[np.int64]) -> Interval:
    """The interval of the mean of values by query, drawn over pictures as in the graph's tables."""
    return PictureBootstrap(pictures, **benchmark.certainty).interval(values) if len(values) else None


def by_chance(benchmark: BenchmarkSet) -> dict[str, float]:
    """{ODmAP@k: its expectation under a random order of the captions}, and what guessing scores on pairs."""
    expected = chance(benchmark.gallery, benchmark.queries, CUTOFFS)
    return {f"odmap@{k}": float(values.mean()) for k, values in expected.items()} | BY_CHANCE


GROUPED = (ODMAP[0], STILL_NAMED, *PAIRS)
_SHARES = (0.0, LEAST_SHARE, 0.05, 0.2)


def strata(benchmark: BenchmarkSet) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """{kind: {name: (queries,) who belongs there}}, without those that are empty."""
    remains, shares = benchmark.queries.partner_remains, benchmark.shares
    has_partner = np.array([partner is not None for partner in benchmark.partners])
    named = (benchmark.named_by_people() & benchmark.queries.removed).any(axis=1)
    tested, classes = benchmark.tests_something(), np.array(benchmark.queries.class_names)
    groups: dict[str, dict[str, Any]] = {
        "what it tests": {"something": tested, "hardly anything": ~tested},
        "usual partner": {"still there": remains, "not there": has_partner & ~remains, "has none": ~has_partner},
        "what is gone": {"people named it": named, "nobody named it": ~named},
        "share painted over": {
            f"{100 * low:g} to {100 * high:g} %": (shares >= low) & (shares < high)
            for low, high in zip(_SHARES, (*_SHARES[1:], np.inf), strict=True)
        },
        "class": {name: classes == name for name in sorted(set(benchmark.queries.class_names))},
    }  # fmt: skip
    return {kind: {name: member for name, member in of.items() if member.any()} for kind, of in groups.items()}


def by_stratum(benchmark: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Make a row a model and stratum: the number of queries, and the means of `GROUPED`, None without a pair."""
    values = {name: {measure: own.by_query(benchmark, measure) for measure in GROUPED} for name, own in scores.items()}
    for kind, groups in strata(benchmark).items():
        for group, member in groups.items():
            for name, columns in values.items():
                means = {measure: mean_of(column[member & ~np.isnan(column)]) for measure, column in columns.items()}
                yield {"stratum": kind, "group": group, "queries": int(member.sum()), "model": name, **means}


def query_rows(benchmark: BenchmarkSet, scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Make a row a query: what was painted out of which picture, and each model's values and first caption."""
    tested = benchmark.tests_something()
    texts = dict(zip(benchmark.captions.ids.tolist(), benchmark.captions.texts, strict=True))
    values = {name: {measure: own.by_query(benchmark, measure) for measure in (*ODMAP, STILL_NAMED, *PAIRS)}
              for name, own in scores.items()}  # fmt: skip
    for row, query in enumerate(benchmark.queries.ids):
        models = {
            name: {measure: None if np.isnan(column[row]) else float(column[row]) for measure, column in of.items()}
            | {"first": texts[int(scores[name].chosen[row])]}
            for name, of in values.items()
        }
        yield {
            "id": query,
            "picture": int(benchmark.queries.pictures[row]),
            "class": benchmark.queries.class_names[row],
            "removed": list(compress(benchmark.classes, benchmark.queries.removed[row])),
            "remaining": list(compress(benchmark.classes, benchmark.queries.present[row])),
            "partner": benchmark.partners[row],
            "partner_remains": bool(benchmark.queries.partner_remains[row]),
            "share": float(benchmark.shares[row]),
            "tests_something": bool(tested[row]),
            "models": models,
        }
