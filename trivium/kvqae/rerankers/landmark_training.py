"""A Re-Ranking Transformer from photographs of landmarks: described, paired, trained on (kvqae.md §4)."""

from pathlib import Path

import numpy as np
from pydantic import Field

from trivium.errors import BadInput
from trivium.harness.parameters import Parameters
from trivium.harness.stage import Context
from trivium.kvqae.rerankers.local_features import LocalFeaturesParameters, describe_images
from trivium.kvqae.rerankers.rrt_parameters import RrtTrainingParameters
from trivium.vision.local_descriptors.folder import FeatureFolder


class LandmarkTrainingParameters(Parameters):
    """What training on photographs needs, of section `kvqae.rrt`."""

    seed: int = Field(ge=0, description="Of weights, pairs, held-out landmarks and the overlap")
    features: LocalFeaturesParameters = Field(description="How photographs are described: as in kvqae.local_features")
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
    from trivium.kvqae.rerankers.rrt import save_rrt
    from trivium.kvqae.rerankers.rrt_training import train_rrt

    folder = context.work / "features"
    metrics = describe_images(
        images, extractor, None, parameters.features, engine=context.engine, work=context.work / "shards", out=folder
    )
    features = FeatureFolder.read(folder)
    names = features.names.to_pylist()
    if missing := [name for name in names if name not in landmark_of]:
        raise BadInput(
            "photographs without a landmark", file=images, got=missing[0], expected="a line in photographs.csv"
        )
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
    return metrics | trained
