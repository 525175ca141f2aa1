"""Stage `kvqae-rrt`. The image re-ranker: trained here, the authors' checkpoint, or your own."""

import random
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from sample.landmarks import choose_photographs, draw_photographs, known_things
from sample.render.difficulty import Difficulty
from trivium.errors import BadInput
from trivium.files.atomic import write_atomically
from trivium.files.image_shards import write_images
from trivium.files.tables import write_json
from trivium.harness.stage import Context, run_stage
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, describe_images
from trivium.kvqae.rerankers.overlap_lists import LANDMARKS, write_entities
from trivium.kvqae.rerankers.rrt_parameters import RrtTrainingParameters, leave_out
from trivium.nets.cards import CARD
from trivium.sources.brought import PROVENANCE, bring, digests, require_files
from trivium.sources.kvqae.rrt import EXTRACTOR, bring_landmarks, fetch_rrt, read_labels, write_rrt_card
from trivium.vision.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG
from trivium.vision.local_descriptors.extractors import NONE
from trivium.vision.local_descriptors.folder import FeatureFolder

SOURCES = ("sample", "hub", "local")


WHAT = "Entities of the knowledge base that the re-ranker's training showed, in other photographs"


MODEL = ("config.json", "model.safetensors")


PHOTOGRAPHS, LABELS = "photographs", "photographs.csv"


class RrtParameters(LocalFeaturesParameters):
    """Section `kvqae.rrt`; `hub` reads `use` alone, `local` what training needs.

    Photographs are described as images are.
    """

    elsewhere: ClassVar = {
        "local": "world.local.kvqae_models",
        "picture_size": "kvqae.sample.picture_size",
        "difficulty": "kvqae.sample.difficulty",
        "most": "kvqae.local_features.most",
        "max_side": "kvqae.pictures.max_side",
        "max_pixels": "kvqae.pictures.max_pixels",
    }
    use: bool = Field(description="Re-rank images by RRT; false: by ArcFace alone, without features of DELG's")
    seed: int = Field(default=0, ge=0, description="Of weights, pairs, held-out landmarks and the overlap")
    picture_size: int = Field(ge=64, le=1024, description="Side of the photographs drawn for training, as in the world")
    difficulty: Difficulty = Field(description="How far the training photographs differ")
    landmarks: int = Field(ge=4, description="Subjects of the training photographs that are in no world")
    persons: float = Field(ge=0, le=1, description="Share of these that are people")
    views: int = Field(ge=2, description="Photographs of each subject")
    overlap: float = Field(
        ge=0, le=1, description="Share of the knowledge base's things that are shown too, in other photographs"
    )
    training: RrtTrainingParameters = Field(description="Sizes and schedule")


def make_sample(
    parameters: RrtParameters, context: Context, out: Path, *, world_seed: int, articles: int, imageless: int
) -> dict[str, float]:
    """Draw photographs, describe them without weights, and train; `landmarks.txt` lists what the world has, too."""
    known = known_things(world_seed, articles, imageless)
    shown = random.Random(f"landmarks {parameters.seed}").sample(known, round(parameters.overlap * len(known)))
    photographs = choose_photographs(
        shown, landmarks=parameters.landmarks, persons=parameters.persons, views=parameters.views
    )
    images, extractor = context.work / PHOTOGRAPHS, context.work / EXTRACTOR
    if not images.exists():
        drawn = draw_photographs(
            photographs, context.engine, size=parameters.picture_size, difficulty=parameters.difficulty
        )
        write_images(images, drawn)
    write_json(extractor / EXTRACTOR_CONFIG, {"kind": "sift"})
    landmark_of = {photograph.name: str(photograph.landmark) for photograph in photographs}
    with write_atomically(out) as beside:
        metrics = train_on(images, landmark_of, extractor, parameters, context, beside)
        data = f"drawn photographs of subjects that are in no world, and of {len(shown)} that are in the sample world"
        write_rrt_card(beside, base="random weights", data=data, metrics=metrics, licence="apache-2.0")
        write_entities(beside / LANDMARKS, (entity.wikidata_id for entity in shown), WHAT)
    return metrics | {"photographs": len(photographs), "landmarks": parameters.landmarks, "overlap": len(shown)}


def train_on(
    images: Path, landmark_of: dict[str, str], extractor: Path, parameters: RrtParameters, context: Context, out: Path
) -> dict[str, float]:
    """Describe photographs and train on their landmarks.

    Args:
        images: shards.
        landmark_of: the landmark on each photograph, by name.
        extractor: folder of the extractor, which goes into the model's.
        parameters, context: of the stage.
        out: the model's folder, new.

    Raises:
        BadInput: a photograph has no landmark; see `train_rrt`.
    """
    from trivium.kvqae.rerankers.rrt import save_rrt
    from trivium.kvqae.rerankers.rrt_training import train_rrt

    folder = context.work / "features"
    metrics = describe_images(
        images, extractor, None, parameters, engine=context.engine, work=context.work / "shards", out=folder
    )
    features = FeatureFolder.read(folder)
    names = features.names.to_pylist()
    if missing := [name for name in names if name not in landmark_of]:
        raise BadInput("photographs without a landmark", file=images, got=missing[0], expected=f"a line in {LABELS}")
    _, landmarks = np.unique([landmark_of[name] for name in names], return_inverse=True)
    model, trained = train_rrt(
        features,
        landmarks,
        parameters.training,
        seed=parameters.seed,
        work=context.work,
        log=context.tracker.log,
    )
    save_rrt(model, out)
    bring(extractor, out / EXTRACTOR, (file.name for file in extractor.iterdir() if file.is_file()))
    return metrics | trained


def bring_rrt(parameters: RrtParameters, context: Context, source: Path, out: Path) -> dict[str, float]:
    """Take the user's model, or train one on the user's photographs.

    `rrt/` in their folder holds `extractor/` and either the model (`config.json`, `model.safetensors`) or
    `photographs/` (image shards) with `photographs.csv` (columns name, landmark); `landmarks.txt` may be left out.

    Raises:
        BadInput: neither is there, weights of another size than the configuration says; see `train_on`.
    """
    source = source / "rrt"
    require_files(source, [f"{EXTRACTOR}/{EXTRACTOR_CONFIG}"])
    with write_atomically(out) as beside:
        if (source / PHOTOGRAPHS).is_dir():
            labels = read_labels(source / LABELS)
            metrics = train_on(source / PHOTOGRAPHS, labels, source / EXTRACTOR, parameters, context, beside)
            base, data = "random weights", f"{source / PHOTOGRAPHS}, the user's"
        else:
            from trivium.kvqae.rerankers.rrt import load_rrt

            require_files(source, MODEL)
            model = load_rrt(source)
            metrics = {"parameters": float(sum(weights.numel() for weights in model.parameters()))}
            extractor = [f"{EXTRACTOR}/{file.name}" for file in (source / EXTRACTOR).iterdir() if file.is_file()]
            card = [CARD] if (source / CARD).is_file() else []
            bring(source, beside, [*MODEL, *extractor, *card])
            base, data = "the user's own", "not known"
        metrics |= bring_landmarks(source, beside)
        write_json(beside / PROVENANCE, digests(beside))
        if not (beside / CARD).exists():
            write_rrt_card(beside, base=base, data=data, metrics=metrics, licence=None)
    return metrics


def main(
    parameters: RrtParameters,
    context: Context,
    *,
    source: str,
    world_seed: int,
    articles: int,
    imageless: int,
    out: Path,
) -> dict[str, float]:
    """Write the model's folder to --out; where RRT is not used, that it is left out.

    --source sample trains one, some of whose landmarks are things of the sample world --world-seed --articles
    --imageless; hub downloads the authors'; local takes what is in rrt/ of the user's folder, or trains on it.
    """
    if source not in SOURCES:
        raise BadInput("no such source", field="world.kvqae", got=source, choices=SOURCES)
    if not parameters.use:
        with write_atomically(out) as beside:
            leave_out(beside)
            write_json(beside / EXTRACTOR / EXTRACTOR_CONFIG, {"kind": NONE})
        return {"left_out": 1.0}
    if source == "sample":
        return make_sample(parameters, context, out, world_seed=world_seed, articles=articles, imageless=imageless)
    if source == "hub":
        return fetch_rrt(out, context.downloads, Path(parameters.local) if parameters.local else None)
    if not parameters.local:
        raise BadInput("no folder given", field="world.local.kvqae_models", expected="a folder with rrt/")
    return bring_rrt(parameters, context, Path(parameters.local), out)


if __name__ == "__main__":
    run_stage(main, "kvqae.rrt", RrtParameters)
