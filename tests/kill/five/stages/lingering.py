"""Short pauses, so that a kill falls into a stage's work, and a long one, of a stage that outlives a kill if it may."""

import os
import time

from trivium.core.code.guard import stage_run_by_dvc

LINGER = "TRIVIUM_KILL_LINGER"
"""Names the stage that takes longer than anybody waits for what a kill leaves."""


def pause() -> None:
    """A moment of work."""
    time.sleep(0.003)


def linger() -> None:
    """In the stage that is told to, half a minute."""
    if stage_run_by_dvc() == os.environ.get(LINGER, ""):
        time.sleep(30)
