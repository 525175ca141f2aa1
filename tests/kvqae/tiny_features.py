"""Feature folders small enough to think about."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trivium.vision.local_descriptors.folder import Description, FeatureFolder, write_features

GLOBAL = 6


def description(rng: np.random.Generator, locals_: int, centre: np.ndarray | None = None) -> Description:
    """Random descriptors, around `centre` (6 + 128 numbers) where it is given."""
    noise = rng.normal(size=(1 + locals_, GLOBAL + 128))
    vectors = noise if centre is None else centre + 0.3 * noise
    overall, local = vectors[0, :GLOBAL], vectors[1:, GLOBAL:]
    return Description(
        overall / np.linalg.norm(overall),
        local / np.linalg.norm(local, axis=1, keepdims=True),
        rng.integers(0, 7, locals_).astype(np.int8),
    )


def folder_of(counts: Sequence[int | None], *, most: int = 4, seed: int = 0) -> FeatureFolder:
    """Images `0.jpg`, `1.jpg` … with so many local descriptors; None: unreadable."""
    rng = np.random.default_rng(seed)
    found = [None if count is None else description(rng, count) for count in counts]
    return FeatureFolder.of([f"{row}.jpg" for row in range(len(counts))], found, most=most, dimension=GLOBAL)


def landmark_photographs(landmarks: int, views: int, *, seed: int = 0) -> tuple[FeatureFolder, np.ndarray]:
    """Photographs that look alike when they show one landmark, and which one each shows."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(landmarks, GLOBAL + 128))
    shown = np.repeat(np.arange(landmarks), views)
    found = [description(rng, 3, centres[landmark]) for landmark in shown]
    return FeatureFolder.of([str(row) for row in range(len(shown))], found, most=3, dimension=GLOBAL), shown


def write(folder: Path, features: FeatureFolder) -> Path:
    """Write a folder; returns it."""
    write_features(folder, features, [None if count >= 0 else "corrupt" for count in features.counts])
    return folder
