"""How to fuse the re-rankers: method, normalisation and weights by validation MRR of passages (kvqae.md §4).

ArcFace and RRT are fused by PosFuse, or linearly with each normalisation and weighting. The best by itself makes the
list by the image alone (`image_alone`, of Table 5). On top of each method's best, the text re-ranker and the images are
fused in the same ways; the pair with the best final MRR is chosen (`image` and `text_image`), because it orders what is
read. The paper's choice, PosFuse for images and min-max with a linear combination for text and image, is among them and
measured beside. What also keeps the initial list's scores (beyond the paper) is chosen after that.
PosFuse is measured on the questions that it learns from, as the weights are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.core.csv_tables import write_csv
from trivium.kvqae.rerankers.fusion import Fusion, LinearFusion, PositionFusion
from trivium.measures.fusion import NORMALIZATIONS
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import search_weights


@dataclass(frozen=True)
class Tried:
    """A fusion and its validation MRR."""

    fusion: Fusion
    mrr: float


def mean_reciprocal_rank(run: Run, qrels: Qrels) -> float:
    """MRR of a run about the queries of the qrels."""
    return float(evaluate(run, qrels, ["mrr"])["mrr"].mean())


def try_posfuse(runs: Mapping[str, Run], qrels: Qrels) -> Tried:
    """PosFuse learned from these runs."""
    fusion = PositionFusion.learn(runs, qrels)
    return Tried(fusion, mean_reciprocal_rank(fusion.fuse(runs), qrels))


def try_linear(runs: Mapping[str, Run], qrels: Qrels, normalization: str, step: float) -> list[Tried]:
    """Every weighting of the grid with one normalisation."""
    search = search_weights(list(runs.values()), qrels, step=step, depth=None, normalization=normalization)
    return [
        Tried(LinearFusion(normalization=normalization, weights=dict(zip(runs, weights, strict=True))), mrr)
        for weights, mrr in zip(search.weights.tolist(), search.values.tolist(), strict=True)
    ]


def try_all(runs: Mapping[str, Run], qrels: Qrels, step: float) -> list[Tried]:
    """PosFuse, then each normalisation with every weighting."""
    linear = [each for name in NORMALIZATIONS for each in try_linear(runs, qrels, name, step)]
    return [try_posfuse(runs, qrels), *linear]


def best(tried: Sequence[Tried]) -> Tried:
    """The highest MRR; of equals the first."""
    return max(tried, key=lambda each: each.mrr)


def write_tried(path: Path, tried: Mapping[str, Sequence[Tried]], systems: Iterable[str]) -> None:
    """Write one CSV line a fusion: which, method, normalisation and weights (empty where there are none), MRR.

    Args:
        path: where.
        tried: by the names of `systems_of`, but `text_image_over_{method}` for text and image over images fused by
            this method.
        systems: all that are fused anywhere, a column each.
    """
    rows = []
    for name, each in ((name, each) for name, several in tried.items() for each in several):
        row = {"fusion": name, "method": each.fusion.method, "mrr": each.mrr}
        if isinstance(each.fusion, LinearFusion):
            row |= {"normalization": each.fusion.normalization, **each.fusion.weights}
        rows.append(row)
    write_csv(path, ["fusion", "method", "normalization", *systems, "mrr"], rows)
