"""Stage `kvqae-rrt`. Train the image re-ranker, or take the authors' checkpoint or the user's own."""

import random
import sys
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from sample.kvqae.entity_world import pictured
from sample.kvqae.write import choose_photographs, draw_pictures
from sample.render.photo import Difficulty
from trivium.core.atomic import write_atomically
from trivium.core.image_shards import write_images
from trivium.core.parameters import shared
from trivium.core.stage import Context, Source, stage
from trivium.core.tables import write_json
from trivium.core.tasks import run_task
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, describe_images
from trivium.kvqae.rerankers.model_files import LANDMARKS, leave_out, write_entities
from trivium.kvqae.rerankers.rrt_training import RrtTrainingParameters, train_rrt
from trivium.sources.brought import require_files
from trivium.sources.kvqae.rrt import EXTRACTOR, bring_extractor, bring_rrt, fetch_rrt, has_features, write_rrt_card
from trivium.vision.local_descriptors.extractors import CONFIG as EXTRACTOR_CONFIG
from trivium.vision.local_descriptors.extractors import NONE
from trivium.vision.local_descriptors.folder import FeatureFolder

DOCS = "docs/kvqae-formats.md says how to get them"
COMMENT = "Entities of the knowledge base that the re-ranker's training showed, in other photographs"


class RrtParameters(LocalFeaturesParameters):
    """Section `kvqae.rrt`; `hub` and `local` read `use` alone. Photographs are described as images are."""

    places: ClassVar = {"most": "kvqae.local_features.most"}
    seed: int = Field(default=0, ge=0, description="Of weights, pairs, held-out landmarks and the overlap")
    training: RrtTrainingParameters = Field(description="Sizes and schedule")
    use: bool = Field(description="Re-rank images by RRT, where its features are given; false: by ArcFace alone")
    picture_size: int = shared("kvqae.sample.picture_size", ge=64, le=1024, description="Side of a photograph, pixels")
    difficulty: Difficulty = shared("kvqae.sample.difficulty", description="How far the training photographs differ")
    landmarks: int = Field(ge=4, description="Subjects of the training photographs that are in no world")
    persons: float = Field(ge=0, le=1, description="Share of these that are people")
    views: int = Field(ge=2, description="Photographs of each subject")
    overlap: float = Field(
        ge=0, le=1, description="Share of the knowledge base's things that are shown too, in other photographs"
    )


def make_sample(
    parameters: RrtParameters, context: Context, out: Path, *, world_seed: int, articles: int, imageless: int
) -> dict[str, float]:
    """Draw photographs, describe them by SIFT, and train; `landmarks.txt` lists those that are also in the world."""
    things = pictured(world_seed, articles=articles, imageless=imageless, persons=False)
    shown = random.Random(f"landmarks {parameters.seed}").sample(things, round(parameters.overlap * len(things)))
    photographs = choose_photographs(
        shown, landmarks=parameters.landmarks, persons=parameters.persons, views=parameters.views
    )
    images, extractor = context.work / "photographs", context.work / EXTRACTOR
    if not images.exists():
        drawn = draw_pictures(
            list(photographs), context.engine, size=parameters.picture_size, difficulty=parameters.difficulty,
            description="draw landmarks",
        )  # fmt: skip
        write_images(images, drawn)
    write_json(extractor / EXTRACTOR_CONFIG, {"kind": "sift"})
    landmark_of = {photograph.name: landmark for photograph, landmark in photographs.items()}
    features, shards = context.work / "features", context.work / "shards"
    metrics = describe_images(images, extractor, None, parameters, engine=context.engine, work=shards, out=features)
    names = FeatureFolder.read(features).names.to_pylist()
    _, landmarks = np.unique([landmark_of[name] for name in names], return_inverse=True)
    task = partial(
        train_rrt, features=features, landmarks=landmarks, parameters=parameters.training, seed=parameters.seed
    )
    with write_atomically(out) as target:
        metrics |= run_task(context, task, target, description="re-ranker")
        bring_extractor(extractor, target)
        data = f"drawn photographs of subjects that are in no world, and of {len(shown)} that are in the sample world"
        write_rrt_card(target, base="random weights", data=data, metrics=metrics, licence="apache-2.0")
        write_entities(target / LANDMARKS, (entity.wikidata_id for entity in shown), COMMENT)
    return metrics | {"photographs": len(photographs), "landmarks": parameters.landmarks, "overlap": len(shown)}


@stage("kvqae.rrt", metrics="metrics/kvqae/rrt.json", curves=True)
def main(
    parameters: RrtParameters,
    context: Context,
    *,
    source: Source,
    world_seed: int,
    articles: int,
    imageless: int,
    out: Path = Path("models/kvqae/rrt"),
) -> dict[str, float]:
    """Write the model's folder to --out; without use or features of RRT, write that it is left out.

    --source sample trains one, some of whose landmarks are things of the sample world --world-seed --articles
    --imageless; hub downloads the authors'; local takes what is in rrt/ of the user's folder.
    """
    local = Path(parameters.local) if parameters.local else None
    if source == "local" and local and (local / "rrt").is_dir():  # a network alone is not enough: it needs features
        require_files(local / "rrt", [f"{EXTRACTOR}/{EXTRACTOR_CONFIG}"])
    is_described = source == "sample" or has_features(local)
    if parameters.use and not is_described:
        folder = f"{local}/rrt/{EXTRACTOR} or {local}/delg" if local else "world.local.kvqae_models"
        print(f"RRT is left out of Tables 5 to 7: its features are not given in {folder} ({DOCS})", file=sys.stderr)
    if not (parameters.use and is_described):
        with write_atomically(out) as target:
            leave_out(target)
            write_json(target / EXTRACTOR / EXTRACTOR_CONFIG, {"kind": NONE})
        return {"left_out": 1.0}
    if source == "sample":
        return make_sample(parameters, context, out, world_seed=world_seed, articles=articles, imageless=imageless)
    if source == "hub":
        return fetch_rrt(out, context.downloads, local)
    return bring_rrt(Path(parameters.local), out)
