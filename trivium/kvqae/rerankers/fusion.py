"""Fuse re-rankers, and choose among fusion methods by validation MRR of passages (kvqae.md §4).

Methods are PosFuse, and each normalisation with every weighting; `default_minimum` is applied before either. With each
method's best fusion of images, text and images are fused by all methods. The pair with the best final MRR is chosen,
because that list is read; the paper's choice is among them and also reported. PosFuse is measured on the questions that
it learns from, like the weights. `text_initial` and `text_image_initial` are chosen after the others.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from trivium.core.tables import read_json, write_csv
from trivium.formats.trec import read_run
from trivium.kvqae.rerankers.reranker import RERANKERS, select_by_input
from trivium.kvqae.retrieval.fusion import complete
from trivium.measures.fusion import (
    NORMALIZATIONS,
    Candidates,
    Scale,
    gather,
    normalize,
    position_parts,
    position_probabilities,
    standardize,
    unit_sum,
)
from trivium.measures.ranking import mean_reciprocal_rank
from trivium.measures.runs import PADDING, Qrels, Run
from trivium.measures.weight_search import search_weights

PAPER_NORMALIZATION = "min_max"
TIE = 1e-6  # weight of ranks against probabilities: below any difference of shares of hundreds of questions
Share = Annotated[float, Field(ge=0, le=1)]


def systems_of(rerankers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """List the systems of each fusion, of the re-rankers in use; the images' fusion is first, as others use it."""
    names = tuple(name for name in rerankers if RERANKERS[name].fused)
    texts, images = select_by_input(names, "text"), select_by_input(names, "face", "whole")
    return {
        "image": images,
        "image_alone": images,
        "text_image": (*texts, "image"),
        "text_initial": (*texts, "initial"),
        "text_image_initial": (*texts, "image", "initial"),
    }


class Fusion(BaseModel):
    """PosFuse by each system's P(relevant | position), or the weighted sum of normalised scores.

    PosFuse orders passages of equal probability by their ranks. A single list keeps its order: a position then has the
    largest probability of all positions from there on.
    """

    method: Literal["posfuse", "linear"]
    probabilities: dict[str, list[Share]] = {}
    normalization: str = ""
    weights: dict[str, Share] = {}

    @property
    def systems(self) -> set[str]:
        """Whose lists are fused."""
        return set(self.probabilities or self.weights)

    def parts(
        self, candidates: Candidates, systems: Sequence[str], by: Sequence[Scale] | None = None
    ) -> NDArray[np.float64]:
        """Compute each system's contribution to each candidate, (systems, queries, n).

        `systems` are in the order of the candidates. z-scores take the scales `by`, one a system, instead of those of
        the candidates themselves.
        """
        if self.method == "posfuse":
            learned = [np.array(self.probabilities[system]) for system in systems]
            falling = [np.maximum.accumulate(shares[::-1])[::-1] for shares in learned]
            alone = candidates.ranks.any(axis=2).sum(axis=0) == 1
            parts = np.where(alone[:, None], position_parts(candidates, falling), position_parts(candidates, learned))
            return parts + TIE * normalize(candidates, "rank")
        if by is not None and self.normalization == "z_score":
            normalized = standardize(candidates, by)
        else:
            normalized = normalize(candidates, self.normalization)
        return unit_sum([self.weights[system] for system in systems])[:, None, None] * normalized


def fuse(fusion: Fusion, runs: Mapping[str, Run], name: str = "") -> Run:
    """Fuse the systems' runs about the same queries: a candidate's score is the sum of the systems' contributions."""
    candidates = gather(list(runs.values()))
    scores = fusion.parts(candidates, list(runs)).sum(axis=0)
    return Run.from_scores(candidates.queries, candidates.documents, scores, name=name)


def read_choice(path: Path, names: Iterable[str]) -> dict[str, Fusion]:
    """Read the chosen fusions of these names, as stage `kvqae-rerank_fuse` wrote them."""
    choice = read_json(path)
    return {name: Fusion(**choice[name]["chosen"]) for name in names}


def read_lists(paths: Mapping[str, Path], queries: Iterable[str] | None = None) -> dict[str, Run]:
    """Read systems' runs over the same queries; an empty file is a run without any, as where no question has a face.

    The queries are the given ones, or else all that any run has.
    """
    nobody = Run.from_dict({})
    runs = {name: read_run(path, name) if path.stat().st_size else nobody for name, path in paths.items()}
    return complete(runs, queries)


def keep_initial(run: Run, initial: Run) -> Run:
    """Give each query without a list its initial one; both runs have the same queries in the same order."""
    none = (run.documents == PADDING).all(axis=1, keepdims=True)
    width = max(run.documents.shape[1], initial.documents.shape[1])

    def chosen(kept: NDArray, others: NDArray, padding: float) -> NDArray:
        wide = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=padding) for part in (kept, others)]
        return np.where(none, *wide)

    documents = chosen(initial.documents, run.documents, PADDING)
    return Run(run.queries, documents, chosen(initial.scores, run.scores, np.nan), run.name)


def default_minimum(runs: Mapping[str, Run]) -> dict[str, Run]:
    """Extend lists of the same queries: passages that a system did not return follow at its lowest score, by id.

    A system without a list for a query gets none. So ranks are among all passages to order, as in the paper's
    `1 - (r - 1) / K`, and PosFuse learns also from positions that a system did not fill.
    """
    candidates = gather(list(runs.values()))
    present = candidates.documents != PADDING
    filled = {}
    for (name, run), scores, ranks in zip(runs.items(), candidates.scores, candidates.ranks, strict=True):
        length = ranks.max(axis=1, initial=0, keepdims=True)
        missing = (ranks == 0) & present & (length > 0)
        places = np.where(missing, length + missing.cumsum(axis=1), ranks)
        order = np.argsort(np.where(places == 0, np.iinfo(places.dtype).max, places), axis=1, kind="stable")
        lowest = np.fmin.reduce(scores, axis=1, initial=np.nan, keepdims=True)
        documents = np.where(places == 0, PADDING, candidates.documents)
        values = np.where(places == 0, np.nan, np.where(missing, lowest, scores))
        documents, values = (np.take_along_axis(part, order, axis=1) for part in (documents, values))
        filled[name] = Run(candidates.queries, documents, values, run.name)
    return filled


class Tried(NamedTuple):
    """A fusion and its validation MRR."""

    fusion: Fusion
    mrr: float


class Choice(NamedTuple):
    """The best fusion, the paper's if it states one, and the number of fusions tried."""

    ours: Tried
    papers: Tried | None
    tried: int


def try_all(runs: Mapping[str, Run], qrels: Qrels, step: float) -> list[Tried]:
    """Try PosFuse, learned from these runs, then each normalisation with every weighting of the grid."""
    learned = {name: position_probabilities(run, qrels).tolist() for name, run in runs.items()}
    posfuse = Fusion(method="posfuse", probabilities=learned)
    tried = [Tried(posfuse, mean_reciprocal_rank(fuse(posfuse, runs), qrels))]
    for name in NORMALIZATIONS:
        grid, values = search_weights(list(runs.values()), qrels, step=step, depth=None, normalization=name)
        for weights, mrr in zip(grid.tolist(), values.tolist(), strict=True):
            alphas = dict(zip(runs, weights, strict=True))
            tried.append(Tried(Fusion(method="linear", normalization=name, weights=alphas), mrr))
    return tried


def best(tried: Sequence[Tried]) -> Tried:
    """Choose the fusion with the highest MRR; of equals the first."""
    return max(tried, key=lambda way: way.mrr)


def choose(
    runs: Mapping[str, Run], qrels: Qrels, systems: Mapping[str, Sequence[str]], step: float
) -> tuple[dict[str, Choice], dict[str, list[Tried]]]:
    """Choose the fusion for each of `systems_of` on validation; returns all tried fusions, too.

    `runs` are by system, over the judged queries. Tried fusions have the names of `systems_of`, but
    `text_image_over_{method}` for text with images fused by this method.
    """

    def lists_of(name: str, image: Run | None = None) -> dict[str, Run]:
        by_name = runs if image is None else {**runs, "image": image}
        own = {system: by_name[system] for system in systems[name]}
        return default_minimum({name: run for name, run in own.items() if (run.documents != PADDING).any()} or own)

    images = lists_of("image")
    image_ways = try_all(images, qrels, step)
    lists = (keep_initial(fuse(way.fusion, images), runs["initial"]) for way in image_ways)
    alone = [Tried(way.fusion, mean_reciprocal_rank(run, qrels)) for way, run in zip(image_ways, lists, strict=True)]
    ways = {"posfuse": image_ways[0], "linear": best(image_ways[1:])}
    fused = {method: fuse(way.fusion, images) for method, way in ways.items()}
    over = {method: try_all(lists_of("text_image", image), qrels, step) for method, image in fused.items()}
    chosen = max(over, key=lambda method: best(over[method]).mrr)  # PosFuse, the paper's, among equals
    beyond = {
        name: try_all(lists_of(name, fused[chosen]), qrels, step) for name in ("text_initial", "text_image_initial")
    }
    published = [way for way in over["posfuse"] if way.fusion.normalization == PAPER_NORMALIZATION]
    choices = {
        "image_alone": Choice(best(alone), alone[0], len(alone)),
        "image": Choice(ways[chosen], None, len(image_ways)),
        "text_image": Choice(best(over[chosen]), best(published), sum(map(len, over.values()))),
        **{name: Choice(best(tried), None, len(tried)) for name, tried in beyond.items()},
    }
    over_images = {f"text_image_over_{method}": tried for method, tried in over.items()}
    return choices, {"image": image_ways, "image_alone": alone, **over_images, **beyond}


def describe(choices: Mapping[str, Choice]) -> tuple[dict[str, Any], dict[str, float]]:
    """Describe the choices as JSON, and as flat metrics."""
    report: dict[str, Any] = {}
    metrics: dict[str, float] = {}
    for name, (ours, papers, tried) in choices.items():
        report[name] = {"chosen": ours.fusion.model_dump(exclude_defaults=True), "chosen_mrr": ours.mrr, "tried": tried}
        metrics |= {f"{name}_mrr": ours.mrr, f"{name}_tried": float(tried)}
        if papers is not None:
            report[name] |= {"paper": papers.fusion.model_dump(exclude_defaults=True), "paper_mrr": papers.mrr}
            metrics[f"{name}_paper_mrr"] = papers.mrr
            metrics[f"{name}_paper_is_chosen"] = float(papers.fusion == ours.fusion)
    return report, metrics


def write_tried(path: Path, tried: Mapping[str, Sequence[Tried]], systems: Iterable[str]) -> None:
    """Write one CSV line for each fusion: its name, method, normalisation and weights (or empty), MRR.

    `systems` are those of all fusions; each has a column.
    """
    rows = []
    for name, way in ((name, way) for name, several in tried.items() for way in several):
        described = {"method": way.fusion.method, "normalization": way.fusion.normalization, **way.fusion.weights}
        rows.append({"fusion": name, **described, "mrr": way.mrr})
    write_csv(path, ["fusion", "method", "normalization", *systems, "mrr"], rows)
