"""Stage `kvqae-local_features`. Compute DELG-style features of the images that RRT compares."""

from dataclasses import replace
from pathlib import Path

from trivium.core.parameters import shared
from trivium.core.stage import Context, stage
from trivium.core.tables import write_json
from trivium.kvqae.rerankers import local_features
from trivium.vision.local_descriptors.extractors import NONE, read_kind
from trivium.vision.local_descriptors.folder import FeatureFolder, write_features


class ComparedFeaturesParameters(local_features.LocalFeaturesParameters):
    """Section `kvqae.local_features`."""

    depth: int = shared("kvqae.rerankers.rrt.depth", ge=1, description="Best passages of the run that RRT re-ranks")


def describe_side(
    parameters: local_features.LocalFeaturesParameters,
    context: Context,
    *,
    name: str,
    images: Path,
    compared: Path,
    extractor: Path,
    out: Path,
) -> dict[str, float]:
    """Describe the images in the list `compared` by the extractor of the re-ranker's training.

    Features that DELG's own tool extracted are in delg/`name` of the user's folder. If the re-ranker is left out, the
    folder of features is empty, and all images are counted as `images_left_out`.
    """
    listed = local_features.read_list(compared)
    if read_kind(extractor) == NONE:
        write_features(out, FeatureFolder.of([], [], most=parameters.most, dimension=0), [])
        return {"images_left_out": float(len(listed))}
    counts = local_features.describe_images(
        images,
        extractor,
        Path(parameters.local) / "delg" / name if parameters.local else None,
        parameters,
        engine=context.engine,
        work=context.work,
        out=out,
        only=frozenset(listed),
    )
    return counts | {"images_missing": len(listed) - counts["images"]}


@stage("kvqae.local_features", metrics="metrics/kvqae/compared_images.json")
def main(
    parameters: ComparedFeaturesParameters,
    context: Context,
    *,
    runs: Path = Path("data/kvqae/runs/{kvqae.initial.folder}/{kvqae.initial.run}"),
    questions: Path = Path("data/kvqae/{kvqae.dataset}/viquae"),
    kb: Path = Path("data/kvqae/kb"),
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    question_images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    extractor: Path = Path("models/kvqae/rrt/extractor"),
    out_compared: Path = Path("data/kvqae/compared_images"),
    out: Path = Path("data/kvqae/local_features"),
    out_kb_counts: Path = Path("metrics/kvqae/local_features_kb.json"),
    out_question_counts: Path = Path("metrics/kvqae/local_features_questions.json"),
) -> dict[str, float]:
    """List the images that RRT compares, then describe those of the knowledge base and those of the questions."""
    counts = local_features.write_compared_images(
        runs=runs, questions=questions, kb=kb, depth=parameters.depth, out=out_compared
    )
    sides = (("kb", kb_images, out_kb_counts), ("questions", question_images, out_question_counts))
    for name, images, out_counts in sides:
        described = describe_side(
            parameters,
            replace(context, work=context.work / name),
            name=name,
            images=images,
            compared=out_compared / f"{name}.txt",
            extractor=extractor,
            out=out / name,
        )
        write_json(out_counts, described)
    return counts
