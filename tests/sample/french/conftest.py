import pytest

from sample.french.french_world import FrenchWorld, build_french


@pytest.fixture(scope="session")
def world() -> FrenchWorld:
    return build_french(0, train=600, validation=60, evaluation=1200, frame_texts=300)


@pytest.fixture(scope="session")
def lines(world: FrenchWorld) -> list[str]:
    """Every sentence and question of the world."""
    texts = [text.text for split in world.texts.values() for text in split]
    adaptation = [line for split in world.fquad.values() for one in split for line in (one.context, one.question)]
    return texts + adaptation + [example.question for example in world.examples]
