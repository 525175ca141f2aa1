"""Small sample worlds of scenes, made once."""

import pytest

from sample.scenes.formats import Shot
from sample.scenes.scene_world import ScenesParameters, SplitSizes, make_shots


def small_parameters(**changes: object) -> ScenesParameters:
    sizes = SplitSizes(train=60, validation=10, test=20)
    values = {
        "seed": 0,
        "picture_size": 48,
        "coco": sizes,
        "flickr30k": sizes,
        "control": sizes,
        "co_occurrence": 1.0,
        "control_co_occurrence": 0.5,
        "mention": 0.95,
        "usual_colour": 0.9,
    }
    return ScenesParameters(**(values | changes))


@pytest.fixture(scope="package")
def many() -> list[Shot]:
    """Enough scenes of COCO's part that shares can be checked."""
    return make_shots("coco", small_parameters(coco=SplitSizes(train=500, validation=1, test=1)))


@pytest.fixture(scope="package")
def flickr() -> list[Shot]:
    return make_shots("flickr30k", small_parameters())
