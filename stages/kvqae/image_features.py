"""Stage `kvqae-image_features`. Encode all images of knowledge base and questions, one cell for each encoder."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.image_shards import Images
from trivium.core.stage import Context, stage
from trivium.core.tables import in_groups, read_json, write_json
from trivium.kvqae.retrieval import image_features
from trivium.nets.device import pick_device
from trivium.vision.decoding import FLAWS
from trivium.vision.encoder_registry import encoder_parameters

LOADS = {"trivium.vision.encoders": "${key}"}  # a cell loads its own encoder


def encode_folder(
    parameters: image_features.ImageFeaturesParameters, context: Context, *, encoder: str, images: Path, out: Path
) -> dict[str, float]:
    """Encode a folder of image shards to `vectors.npy` and `pictures.parquet`, one row an image, in their order."""
    settings = encoder_parameters(encoder, parameters.settings)
    encode = partial(
        image_features.encode_shards, work=context.work, encoder=encoder, settings=settings, parameters=parameters
    )
    engine, shards = context.engine, Images(images).shards()
    on_gpu = engine.has_gpu(lambda: pick_device().type == "cuda")
    together = list(in_groups(shards, image_features.SHARDS if on_gpu else 1))
    parts = engine.map(encode, together, description=encoder, on_gpu=on_gpu, out=context.work)
    folders = [folder for part in parts for folder in part]
    flawed = [read_json(folder / image_features.FLAWED) for folder in folders]
    flaws = {flaw: sum(shard[flaw] for shard in flawed) for flaw in FLAWS}
    with write_atomically(out) as target:
        return image_features.counts(image_features.concatenate(folders, target), flaws, settings)


@stage("kvqae.image_features", metrics="metrics/kvqae/question_features_{encoder}.json")
def main(
    parameters: image_features.ImageFeaturesParameters,
    context: Context,
    *,
    encoder: str,
    kb_images: Path = Path("data/kvqae/raw/images/kb"),
    question_images: Path = Path("data/kvqae/{kvqae.dataset}/images/questions"),
    out_kb: Path = Path("data/kvqae/features/kb/{encoder}"),
    out_questions: Path = Path("data/kvqae/features/questions/{encoder}"),
    out_kb_counts: Path = Path("metrics/kvqae/kb_features_{encoder}.json"),
) -> dict[str, float]:
    """Encode the images of the knowledge base and those of the questions; returns the counts of the latter."""
    sides = [replace(context, work=context.work / side) for side in ("kb", "questions")]
    write_json(out_kb_counts, encode_folder(parameters, sides[0], encoder=encoder, images=kb_images, out=out_kb))
    return encode_folder(parameters, sides[1], encoder=encoder, images=question_images, out=out_questions)
