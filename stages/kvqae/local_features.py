"""Stage `kvqae-local_features`. DELG-style global and local features of the images that RRT compares."""

from pathlib import Path

from trivium.core.stage import Context, run_stage
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, describe_images, read_list
from trivium.vision.local_descriptors.extractors import NONE, read_kind
from trivium.vision.local_descriptors.folder import FeatureFolder, write_features


def main(
    parameters: LocalFeaturesParameters,
    context: Context,
    *,
    name: str,
    images: Path,
    compared: Path = Path("data/kvqae/compared_images/{name}.txt"),
    extractor: Path = Path("models/kvqae/rrt/extractor"),
    out: Path = Path("data/kvqae/local_features/{name}"),
) -> dict[str, float]:
    """Describe those of a folder of image shards that the list --compared names, as the re-ranker was trained.

    Where the extractor is of that kind, what DELG's own tool extracted is in delg/--name of the user's folder. Where
    the re-ranker is left out, the folder of features is empty, and all images are counted as `images_left_out`.
    """
    listed = read_list(compared)
    if read_kind(extractor) == NONE:
        write_features(out, FeatureFolder.of([], [], most=parameters.most, dimension=0), [])
        return {"images_left_out": float(len(listed))}
    counts = describe_images(
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


if __name__ == "__main__":
    run_stage(main, "kvqae.local_features", LocalFeaturesParameters, metrics="metrics/kvqae/local_features_{name}.json")
