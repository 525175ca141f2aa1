"""Stage `kvqae-image_features`. Faces, and ArcFace, ImageNet and CLIP vectors of every image."""

from functools import partial
from pathlib import Path

from trivium.files.atomic import write_atomically
from trivium.files.image_shards import Images
from trivium.files.tables import read_json
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.retrieval.image_features import (
    BROKEN_EXIF,
    ImageFeaturesParameters,
    concatenate,
    counts,
    encode_shard,
)


def main(
    parameters: ImageFeaturesParameters,
    context: Context,
    *,
    images: Path,
    arcface: Path,
    imagenet: Path,
    clip: Path,
    out: Path,
) -> dict[str, float]:
    """Encode a folder of image shards; `arcface` is an ONNX file, `imagenet` and `clip` are folders."""
    encode = partial(
        encode_shard, work=context.work, arcface=arcface, imagenet=imagenet, clip=clip, parameters=parameters
    )
    shards = Images(images).shards()
    folders = list(context.engine.map(encode, shards, description="image features", on_gpu=True))
    broken_exif = sum(read_json(folder / BROKEN_EXIF) for folder in folders)
    with write_atomically(out) as beside:
        return counts(concatenate(folders, beside), broken_exif, parameters.min_side)


if __name__ == "__main__":
    run_stage(main, "kvqae.image_features", ImageFeaturesParameters)
