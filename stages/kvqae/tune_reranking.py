"""Stage `kvqae-tune_reranking`. How to fuse the re-rankers: method, normalisation and weights on validation."""

from pathlib import Path
from typing import Any, ClassVar

from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.trec import read_qrels
from trivium.kvqae.rerankers.fusion import (
    LinearFusion,
    Tried,
    best,
    complete,
    default_minimum,
    keep_initial,
    mean_reciprocal_rank,
    read_lists,
    systems_of,
    try_all,
    with_lists,
    write_tried,
)
from trivium.kvqae.rerankers.reranker import SECTION, Rerankers
from trivium.kvqae.retrieval.fusion import WeightGridParameters
from trivium.measures.runs import PADDING

SPLIT = "validation"


PAPER_NORMALIZATION = "min_max"


class TuneRerankingParameters(WeightGridParameters):
    """Section `kvqae.tune_reranking`."""

    elsewhere: ClassVar = {"rerankers": SECTION}
    rerankers: Rerankers


def main(
    parameters: TuneRerankingParameters,
    context: Context,
    *,
    initial: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    reranked: Path = Path("data/kvqae/runs/reranked"),
    qrels: Path = Path("data/kvqae/relevance/validation_passage.qrels"),
    out: Path = Path("data/kvqae/tuning/reranking.json"),
    out_tried: Path = Path("metrics/kvqae/reranking_fusions.csv"),
) -> dict[str, float]:
    """Write the choice (JSON) and all that was tried (CSV); of runs only `validation.trec` is read.

    `initial` is a folder of runs, `reranked` holds one a re-ranker.
    """
    judged = read_qrels(qrels)
    folders = {"initial": initial, **{name: reranked / name for name in parameters.rerankers}}
    systems = systems_of(parameters.rerankers)
    runs = {name: read_lists(folder / f"{SPLIT}.trec", name) for name, folder in folders.items()}
    runs = complete(runs, judged.queries)
    images = default_minimum(with_lists({name: runs[name] for name in systems["image"]}))
    image_ways = try_all(images, judged, parameters.step)
    lists = (keep_initial(way.fusion.fuse(images), runs["initial"]) for way in image_ways)
    alone = [Tried(way.fusion, mean_reciprocal_rank(run, judged)) for way, run in zip(image_ways, lists, strict=True)]
    ways = {"posfuse": image_ways[0], "linear": best(image_ways[1:])}
    over = {}
    for method, way in ways.items():
        both = {**runs, "image": way.fusion.fuse(images)}
        lists_of_both = default_minimum(with_lists({name: both[name] for name in systems["text_image"]}))
        over[method] = try_all(lists_of_both, judged, parameters.step)
    chosen = max(over, key=lambda method: best(over[method]).mrr)  # of equals PosFuse, the paper's
    published = [
        each
        for each in over["posfuse"]
        if isinstance(each.fusion, LinearFusion) and each.fusion.normalization == PAPER_NORMALIZATION
    ]
    runs["image"] = ways[chosen].fusion.fuse(images)
    beyond = {
        name: try_all(
            default_minimum(with_lists({system: runs[system] for system in systems[name]})), judged, parameters.step
        )
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


if __name__ == "__main__":
    run_stage(main, "kvqae.tune_reranking", TuneRerankingParameters, metrics="metrics/kvqae/tune_reranking.json")
