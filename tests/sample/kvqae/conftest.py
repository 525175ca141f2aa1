"""Two small worlds in memory, made once."""

import pytest

from sample.kvqae.entity_world import World, build_world

SIZES = {"train": 60, "validation": 40, "test": 50}


def small_world(seed: int) -> World:
    return build_world(seed, articles=240, imageless=60, sentences=12, viquae=SIZES, triviaqa=300)


@pytest.fixture(scope="package")
def world() -> World:
    return small_world(0)
