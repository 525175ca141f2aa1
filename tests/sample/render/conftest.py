import pytest

from sample.render.photo import Difficulty


@pytest.fixture
def difficulty() -> Difficulty:
    return Difficulty(
        identity_spread=1,
        pose=0.5,
        crop=0.6,
        light=0.5,
        noise=0.4,
        occlusion=0.1,
        disguise=0.2,
        faceless=0.08,
        company=0.1,
    )
