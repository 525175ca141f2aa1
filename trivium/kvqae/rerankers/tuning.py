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
from typing import Any

from trivium.core.csv_tables import write_csv
from trivium.core.tables import write_json
from trivium.formats.trec import read_qrels
from trivium.kvqae.rerankers.fusion import (
    Fusion,
    LinearFusion,
    PositionFusion,
    complete,
    default_minimum,
    keep_initial,
    read_lists,
    systems_of,
    with_lists,
)
from trivium.measures.fusion import NORMALIZATIONS
from trivium.measures.ranking import evaluate
from trivium.measures.runs import PADDING, Qrels, Run
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


PAPER_NORMALIZATION = "min_max"


def write_choice(
    rerankers: Iterable[str],
    step: float,
    *,
    initial: Path,
    reranked: Path,
    qrels: Path,
    out: Path,
    out_tried: Path,
) -> dict[str, float]:
    """Write the choice (JSON) and all that was tried (CSV); of runs only `validation.trec` is read.

    `initial` is a folder of runs, `reranked` holds one a re-ranker.
    """
    judged = read_qrels(qrels)
    folders = {"initial": initial, **{name: reranked / name for name in rerankers}}
    systems = systems_of(rerankers)
    runs = {name: read_lists(folder / "validation.trec", name) for name, folder in folders.items()}
    runs = complete(runs, judged.queries)
    images = default_minimum(with_lists({name: runs[name] for name in systems["image"]}))
    image_ways = try_all(images, judged, step)
    lists = (keep_initial(way.fusion.fuse(images), runs["initial"]) for way in image_ways)
    alone = [Tried(way.fusion, mean_reciprocal_rank(run, judged)) for way, run in zip(image_ways, lists, strict=True)]
    ways = {"posfuse": image_ways[0], "linear": best(image_ways[1:])}
    over = {}
    for method, way in ways.items():
        both = {**runs, "image": way.fusion.fuse(images)}
        lists_of_both = default_minimum(with_lists({name: both[name] for name in systems["text_image"]}))
        over[method] = try_all(lists_of_both, judged, step)
    chosen = max(over, key=lambda method: best(over[method]).mrr)  # of equals PosFuse, the paper's
    published = [
        each
        for each in over["posfuse"]
        if isinstance(each.fusion, LinearFusion) and each.fusion.normalization == PAPER_NORMALIZATION
    ]
    runs["image"] = ways[chosen].fusion.fuse(images)
    beyond = {
        name: try_all(default_minimum(with_lists({system: runs[system] for system in systems[name]})), judged, step)
        for name in ("text_initial", "text_image_initial")
    }
    found: dict[str, tuple[Tried, Tried | None, int]] = {
        "image_alone": (best(alone), alone[0], len(alone)),
        "image": (ways[chosen], None, len(image_ways)),
        "text_image": (best(over[chosen]), best(published), sum(map(len, over.values()))),
        **{name: (best(tried), None, len(tried)) for name, tried in beyond.items()},
    }
    report: dict[str, Any] = {}
    metrics = {"re_rankers_without_lists": float(sum((runs[name].documents == PADDING).all() for name in folders))}
    for name, (ours, papers, count) in found.items():
        report[name] = {"chosen": ours.fusion.model_dump(), "chosen_mrr": ours.mrr, "tried": count}
        metrics |= {f"{name}_mrr": ours.mrr, f"{name}_tried": float(count)}
        if papers is not None:
            report[name] |= {"paper": papers.fusion.model_dump(), "paper_mrr": papers.mrr}
            metrics[f"{name}_paper_mrr"] = papers.mrr
            metrics[f"{name}_paper_is_chosen"] = float(papers.fusion == ours.fusion)
    write_json(out, report)
    over_images = {f"text_image_over_{method}": tried for method, tried in over.items()}
    columns = dict.fromkeys(system for each in systems.values() for system in each)
    write_tried(out_tried, {"image": image_ways, "image_alone": alone, **over_images, **beyond}, columns)
    return metrics
