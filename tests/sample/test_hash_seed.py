"""The sample worlds depend on their seed alone, not on the order that a process gives to its sets of strings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = {
    "french": "from sample.french.french_world import build_french;"
    " world = build_french(0, train=40, validation=10, evaluation=60, frame_texts=30);"
    " made = [each.question for each in world.examples] + [text.text for text in world.texts['test']]",
    "kvqae": "from tests.sample.kvqae.conftest import small_world; made = vars(small_world(0))",
    "scenes": "from tests.sample.scenes.conftest import small_parameters, make_shots;"
    " made = make_shots('coco', small_parameters())",
}


def digest(code: str, seed: str) -> str:
    """What a new process with this hash seed makes of the code's `made`."""
    code += "; import hashlib; print(hashlib.sha256(repr(made).encode()).hexdigest())"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("world", BUILD)
def test_a_world_is_the_same_in_every_process(world):
    assert digest(BUILD[world], "1") == digest(BUILD[world], "2")
