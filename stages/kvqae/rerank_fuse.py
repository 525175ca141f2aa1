"""Fusion of the re-rankers, as chosen on validation (kvqae.md §4): images among themselves, then text and image.

Nothing here is learned and no relevance judgement is read: what PosFuse knows of positions stands in the choice.
"""

from pathlib import Path

from stages.kvqae.reranking_fusion import complete, default_minimum, read_choice, read_lists
from stages.measures.runs import PADDING
from stages.stage import Context, Parameters, run_stage
from stages.tables import write_atomically, write_run

SPLITS = ("validation", "test")


class RerankFuseParameters(Parameters):
    """Section `kvqae.rerank_fuse`: nothing to choose, `kvqae.tune_reranking` has chosen."""


def main(
    parameters: RerankFuseParameters,
    context: Context,
    *,
    text: Path,
    arcface: Path,
    rrt: Path,
    choice: Path,
    out_image: Path,
    out_text_image: Path,
) -> dict[str, float]:
    """Write `{split}.trec` of both fusions; `text`, `arcface` and `rrt` are folders of such runs."""
    fusions = read_choice(choice)
    metrics: dict[str, float] = {}
    with write_atomically(out_image) as images, write_atomically(out_text_image) as both:
        for split in SPLITS:
            folders = {"arcface": arcface, "rrt": rrt, "text": text}
            runs = complete({name: read_lists(folder / f"{split}.trec", name) for name, folder in folders.items()})
            faces, whole, written = runs["arcface"], runs["rrt"], runs["text"]
            image = fusions["image"].fuse(default_minimum({"arcface": faces, "rrt": whole}), "reranked_image")
            text_image = fusions["text_image"].fuse(
                default_minimum({"text": written, "image": image}), "reranked_text_image"
            )
            write_run(images / f"{split}.trec", image)
            write_run(both / f"{split}.trec", text_image)
            served = {name: (run.documents != PADDING).any(axis=1).sum() for name, run in runs.items()}
            metrics |= {f"{split}_{name}_questions": float(count) for name, count in served.items()}
    return metrics


if __name__ == "__main__":
    run_stage(main, "kvqae.rerank_fuse", RerankFuseParameters)
