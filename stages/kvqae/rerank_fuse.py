"""Stage `kvqae-rerank_fuse`. Choose fusions of the re-rankers on validation, and fuse (kvqae.md §4).

Images are fused twice: `image` is used in the fusions with text, `image_alone` is a list of its own (Table 5), in which
a question without lists of image re-rankers keeps the initial order.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.parameters import shared
from trivium.core.stage import stage
from trivium.core.tables import write_json
from trivium.formats.trec import read_qrels, write_run
from trivium.kvqae.rerankers import fusion
from trivium.kvqae.rerankers.reranker import SECTION, SPLITS, Rerankers
from trivium.kvqae.retrieval.fusion import WeightGridParameters
from trivium.measures.runs import PADDING


class RerankFuseParameters(WeightGridParameters):
    """Section `kvqae.rerank_fuse`."""

    rerankers: Rerankers = shared(SECTION)


def write_fusions(
    fusions: Mapping[str, fusion.Fusion], systems: Mapping[str, Sequence[str]], folders: Mapping[str, Path], out: Path
) -> dict[str, float]:
    """Write `reranked_{name}/{split}.trec` of each fusion below `out`; `folders` have the runs that are fused."""
    metrics: dict[str, float] = {}
    with ExitStack() as stack:
        target = {name: stack.enter_context(write_atomically(out / f"reranked_{name}")) for name in fusions}
        for split in SPLITS:
            runs = fusion.read_lists({name: folder / f"{split}.trec" for name, folder in folders.items()})
            served = {name: (run.documents != PADDING).any(axis=1).sum() for name, run in runs.items()}
            metrics |= {f"{split}_{name}_questions": float(count) for name, count in served.items()}
            for name, own in systems.items():  # the images' fusion comes first, others use it
                chosen = fusions[name]
                lists = fusion.default_minimum({system: runs[system] for system in own if system in chosen.systems})
                runs[name] = fusion.fuse(chosen, lists, f"reranked_{name}")
                if name == "image_alone":
                    without = (runs[name].documents == PADDING).all(axis=1).sum()
                    metrics[f"{split}_image_alone_kept_initial"] = float(without)
                    runs[name] = fusion.keep_initial(runs[name], runs["initial"])
                write_run(target[name] / f"{split}.trec", runs[name])
    return metrics


@stage("kvqae.rerank_fuse", metrics="metrics/kvqae/rerank_fuse.json")
def main(
    parameters: RerankFuseParameters,
    *,
    initial: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    reranked: Path = Path("data/kvqae/runs/reranked"),
    qrels: Path = Path("data/kvqae/relevance/validation_passage.qrels"),
    out_choice: Path = Path("data/kvqae/tuning/reranking.json"),
    out_tried: Path = Path("metrics/kvqae/reranking_fusions.csv"),
    out_tuned: Path = Path("metrics/kvqae/tune_reranking.json"),
    out: Path = Path("data/kvqae/runs"),
) -> dict[str, float]:
    """Choose the fusions on validation, then fuse; `reranked` holds a folder of runs for each re-ranker."""
    judged, systems = read_qrels(qrels), fusion.systems_of(parameters.rerankers)
    folders = {"initial": initial, **{name: reranked / name for name in parameters.rerankers}}
    paths = {name: folder / "validation.trec" for name, folder in folders.items()}
    runs = fusion.read_lists(paths, judged.queries)
    choices, tried = fusion.choose(runs, judged, systems, parameters.step)
    report, metrics = fusion.describe(choices)
    metrics["re_rankers_without_lists"] = float(sum((run.documents == PADDING).all() for run in runs.values()))
    write_json(out_choice, report)
    fusion.write_tried(out_tried, tried, dict.fromkeys(system for names in systems.values() for system in names))
    write_json(out_tuned, metrics)
    fusions = {name: choice.ours.fusion for name, choice in choices.items()}
    return write_fusions(fusions, systems, folders, out)
