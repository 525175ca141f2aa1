"""Fusion of the re-rankers, as chosen on validation (kvqae.md §4): images among themselves, then text and image,
and both with the initial list.

The images are fused twice: `image` goes into the fusions with text, `image_alone` is a list of its own (Table 5), in
which a question that no image re-ranker has a list for keeps the initial order.

No fusion reads relevance judgements: what PosFuse knows of positions stands in the choice.
"""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

from trivium.core.atomic import write_atomically
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json
from trivium.formats.trec import write_run
from trivium.kvqae.rerankers.fusion import complete, default_minimum, keep_initial, read_choice, read_lists, systems_of
from trivium.kvqae.rerankers.reranker import SECTION, SPLITS, Rerankers
from trivium.kvqae.rerankers.tuning import write_choice
from trivium.kvqae.retrieval.fusion import WeightGridParameters
from trivium.measures.runs import PADDING


class RerankFuseParameters(WeightGridParameters):
    """Section `kvqae.rerank_fuse`."""

    elsewhere: ClassVar = {"rerankers": SECTION}
    rerankers: Rerankers


def write_fusions(
    rerankers: Iterable[str],
    *,
    initial: Path,
    reranked: Path,
    choice: Path,
    out_image: Path,
    out_image_alone: Path,
    out_text_image: Path,
    out_text_initial: Path,
    out_text_image_initial: Path,
) -> dict[str, float]:
    """Write `{split}.trec` of each fusion; `initial` is a folder of such runs, `reranked` holds one a re-ranker."""
    systems_by_name = systems_of(rerankers)
    fusions = read_choice(choice, systems_by_name)
    folders = {"initial": initial, **{name: reranked / name for name in rerankers}}
    outs = {
        "image": out_image,
        "image_alone": out_image_alone,
        "text_image": out_text_image,
        "text_initial": out_text_initial,
        "text_image_initial": out_text_image_initial,
    }
    metrics: dict[str, float] = {}
    with ExitStack() as stack:
        beside = {name: stack.enter_context(write_atomically(out)) for name, out in outs.items()}
        for split in SPLITS:
            runs = complete({name: read_lists(folder / f"{split}.trec", name) for name, folder in folders.items()})
            served = {name: (run.documents != PADDING).any(axis=1).sum() for name, run in runs.items()}
            metrics |= {f"{split}_{name}_questions": float(count) for name, count in served.items()}
            for name, systems in systems_by_name.items():  # the images' fusion comes first, others take it
                lists = default_minimum({each: runs[each] for each in systems if each in fusions[name].systems})
                runs[name] = fusions[name].fuse(lists, f"reranked_{name}")
                if name == "image_alone":
                    without = (runs[name].documents == PADDING).all(axis=1).sum()
                    metrics[f"{split}_image_alone_kept_initial"] = float(without)
                    runs[name] = keep_initial(runs[name], runs["initial"])
                write_run(beside[name] / f"{split}.trec", runs[name])
    return metrics


def main(
    parameters: RerankFuseParameters,
    context: Context,
    *,
    initial: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    reranked: Path = Path("data/kvqae/runs/reranked"),
    qrels: Path = Path("data/kvqae/relevance/validation_passage.qrels"),
    out_choice: Path = Path("data/kvqae/tuning/reranking.json"),
    out_tried: Path = Path("metrics/kvqae/reranking_fusions.csv"),
    out_tuned: Path = Path("metrics/kvqae/tune_reranking.json"),
    out_image: Path = Path("data/kvqae/runs/reranked_image"),
    out_image_alone: Path = Path("data/kvqae/runs/reranked_image_alone"),
    out_text_image: Path = Path("data/kvqae/runs/reranked_text_image"),
    out_text_initial: Path = Path("data/kvqae/runs/reranked_text_initial"),
    out_text_image_initial: Path = Path("data/kvqae/runs/reranked_text_image_initial"),
) -> dict[str, float]:
    """Choose how to fuse on validation, then fuse; `initial` is a folder of runs, `reranked` holds one a re-ranker."""
    tuned = write_choice(
        parameters.rerankers,
        parameters.step,
        initial=initial,
        reranked=reranked,
        qrels=qrels,
        out=out_choice,
        out_tried=out_tried,
    )
    write_json(out_tuned, tuned)
    return write_fusions(
        parameters.rerankers,
        initial=initial,
        reranked=reranked,
        choice=out_choice,
        out_image=out_image,
        out_image_alone=out_image_alone,
        out_text_image=out_text_image,
        out_text_initial=out_text_initial,
        out_text_image_initial=out_text_image_initial,
    )


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_fuse", RerankFuseParameters, metrics="metrics/kvqae/rerank_fuse.json")
