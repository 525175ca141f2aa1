"""How to fuse the re-rankers: method, normalisation and weights by validation MRR of passages (kvqae.md §4).

ArcFace and RRT are fused by PosFuse, or linearly with each normalisation and weighting. The best by itself makes the
list by the image alone (`image_alone`, of Table 5). On top of each method's best, the text re-ranker and the images are
fused in the same ways; the pair with the best final MRR is chosen (`image` and `text_image`), because it orders what is
read. The paper's choice, PosFuse for images and min-max with a linear combination for text and image, is among them and
measured beside. What also keeps the initial list's scores (beyond the paper) is chosen after that.
PosFuse is measured on the questions that it learns from, as the weights are.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trivium.core.tables import write_csv
from trivium.kvqae.rerankers.fusion import (
    Fusion,
    LinearFusion,
    PositionFusion,
    default_minimum,
    fuse,
    keep_initial,
    with_lists,
)
from trivium.measures.fusion import NORMALIZATIONS
from trivium.measures.ranking import evaluate
from trivium.measures.runs import Qrels, Run
from trivium.measures.weight_search import search_weights


class Tried(NamedTuple):
    """A fusion and its validation MRR."""

    fusion: Fusion
    mrr: float


class Choice(NamedTuple):
    """The best of so many ways, and the paper's where it says which."""

    ours: Tried
    papers: Tried | None
    tried: int


def mean_mrr(run: Run, qrels: Qrels) -> float:
    """Mean reciprocal rank over the queries of the qrels; 0 for one without a relevant passage."""
    return float(evaluate(run, qrels, ["mrr"])["mrr"].mean())


def try_all(runs: Mapping[str, Run], qrels: Qrels, step: float) -> list[Tried]:
    """Try PosFuse, learned from these runs, then each normalisation with every weighting of the grid."""
    posfuse = PositionFusion.learn(runs, qrels)
    tried = [Tried(posfuse, mean_mrr(fuse(posfuse, runs), qrels))]
    for name in NORMALIZATIONS:
        search = search_weights(list(runs.values()), qrels, step=step, depth=None, normalization=name)
        for weights, mrr in zip(search.weights.tolist(), search.values.tolist(), strict=True):
            tried.append(Tried(LinearFusion(normalization=name, weights=dict(zip(runs, weights, strict=True))), mrr))
    return tried


def best(tried: Sequence[Tried]) -> Tried:
    """Choose the fusion with the highest MRR; of equals the first."""
    return max(tried, key=lambda way: way.mrr)


def choose(
    runs: Mapping[str, Run], qrels: Qrels, systems: Mapping[str, Sequence[str]], step: float
) -> tuple[dict[str, Choice], dict[str, list[Tried]]]:
    """Choose the fusion for each of `systems_of` on validation; returns all that was tried, too.

    `runs` are by system, about the judged queries. What was tried has the names of `systems_of`, but
    `text_image_over_{method}` for text and image over images fused by this method.
    """

    def lists_of(name: str, image: Run | None = None) -> dict[str, Run]:
        by_name = runs if image is None else {**runs, "image": image}
        return default_minimum(with_lists({system: by_name[system] for system in systems[name]}))

    images = lists_of("image")
    image_ways = try_all(images, qrels, step)
    lists = (keep_initial(fuse(way.fusion, images), runs["initial"]) for way in image_ways)
    alone = [Tried(way.fusion, mean_mrr(run, qrels)) for way, run in zip(image_ways, lists, strict=True)]
    ways = {"posfuse": image_ways[0], "linear": best(image_ways[1:])}
    fused = {method: fuse(way.fusion, images) for method, way in ways.items()}
    over = {method: try_all(lists_of("text_image", image), qrels, step) for method, image in fused.items()}
    chosen = max(over, key=lambda method: best(over[method]).mrr)  # of equals PosFuse, the paper's
    beyond = {
        name: try_all(lists_of(name, fused[chosen]), qrels, step) for name in ("text_initial", "text_image_initial")
    }
    published = [way for way in over["posfuse"] if getattr(way.fusion, "normalization", "") == PAPER_NORMALIZATION]
    choices = {
        "image_alone": Choice(best(alone), alone[0], len(alone)),
        "image": Choice(ways[chosen], None, len(image_ways)),
        "text_image": Choice(best(over[chosen]), best(published), sum(map(len, over.values()))),
        **{name: Choice(best(tried), None, len(tried)) for name, tried in beyond.items()},
    }
    over_images = {f"text_image_over_{method}": tried for method, tried in over.items()}
    return choices, {"image": image_ways, "image_alone": alone, **over_images, **beyond}


def describe(choices: Mapping[str, Choice]) -> tuple[dict[str, Any], dict[str, float]]:
    """Describe the choices as JSON, and their numbers as flat metrics."""
    report: dict[str, Any] = {}
    metrics: dict[str, float] = {}
    for name, (ours, papers, tried) in choices.items():
        report[name] = {"chosen": ours.fusion.model_dump(), "chosen_mrr": ours.mrr, "tried": tried}
        metrics |= {f"{name}_mrr": ours.mrr, f"{name}_tried": float(tried)}
        if papers is not None:
            report[name] |= {"paper": papers.fusion.model_dump(), "paper_mrr": papers.mrr}
            metrics[f"{name}_paper_mrr"] = papers.mrr
            metrics[f"{name}_paper_is_chosen"] = float(papers.fusion == ours.fusion)
    return report, metrics


def write_tried(path: Path, tried: Mapping[str, Sequence[Tried]], systems: Iterable[str]) -> None:
    """Write one CSV line for each fusion: its name, method, normalisation and weights (or empty), MRR.

    `systems` are all that are fused anywhere, a column each.
    """
    rows = []
    for name, way in ((name, way) for name, several in tried.items() for way in several):
        row = {"fusion": name, "method": way.fusion.method, "mrr": way.mrr}
        if isinstance(way.fusion, LinearFusion):
            row |= {"normalization": way.fusion.normalization, **way.fusion.weights}
        rows.append(row)
    write_csv(path, ["fusion", "method", "normalization", *systems, "mrr"], rows)


PAPER_NORMALIZATION = "min_max"
