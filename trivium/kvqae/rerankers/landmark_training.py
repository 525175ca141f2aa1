"""A Re-Ranking Transformer from photographs of landmarks: described, paired, trained on (kvqae.md §4)."""

from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from trivium.core.errors import BadInput
from trivium.core.stage import Context
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, describe_images
from trivium.kvqae.rerankers.rrt_parameters import RrtTrainingParameters
from trivium.vision.local_descriptors.folder import FeatureFolder


class LandmarkTrainingParameters(LocalFeaturesParameters):
    """What training on photographs needs, of section `kvqae.rrt`; they are described as images are."""

    elsewhere: ClassVar = {**LocalFeaturesParameters.elsewhere, "most": "kvqae.local_features.most"}
    seed: int = Field(default=0, ge=0, description="Of weights, pairs, held-out landmarks and the overlap")
    training: RrtTrainingParameters = Field(description="Sizes and schedule")


def train_on(
    images: Path,
    landmark_of: dict[str, str],
    extractor: Path,
    parameters: LandmarkTrainingParameters,
    context: Context,
    out: Path,
) -> dict[str, float]:
    """Describe photographs and train on their landmarks.

    Args:
        images: shards.
        landmark_of: the landmark on each photograph, by name.
        extractor: folder of what describes photographs.
        parameters, context: of the stage.
        out: the model's folder, new.

    Raises:
        BadInput: a photograph has no landmark; see `train_rrt`.
    """
    from trivium.core.tasks import run_task
    from trivium.kvqae.rerankers.rrt_training import rrt_job

    folder = context.work / "features"
    metrics = describe_images(
        images, extractor, None, parameters, engine=context.engine, work=context.work / "shards", out=folder
    )
    names = FeatureFolder.read(folder).names.to_pylist()
    if missing := [name for name in names if name not in landmark_of]:
        raise BadInput(
            "photographs without a landmark", file=images, got=missing[0], expected="a line in photographs.csv"
        )
    _, landmarks = np.unique([landmark_of[name] for name in names], return_inverse=True)
    task = partial(rrt_job, features=folder, landmarks=landmarks, parameters=parameters.training, seed=parameters.seed)
    return metrics | run_task(context, task, out, description="re-ranker")
