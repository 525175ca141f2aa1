"""Stage `kvqae-world`: a folder of many files, some in folders of it."""

from pathlib import Path

import numpy as np
from pydantic import Field

from stages.lingering import linger, pause
from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import write_json


class WorldParameters(Parameters):
    """Section `kvqae.world`."""

    files: int = Field(ge=1, description="Files in the folder")
    seed: int = Field(ge=0, description="Of what they hold")


def main(parameters: WorldParameters, context: Context, *, out: Path) -> dict[str, float]:
    """Write the folder in one step."""
    rng = np.random.default_rng(parameters.seed)
    with write_atomically(out) as beside:
        for number in range(parameters.files):
            write_json(beside / str(number % 3) / f"{number:03}.json", rng.integers(0, 256, 100).tolist())
            pause()
        linger()
    return {"files": parameters.files}


if __name__ == "__main__":
    run_stage(main, "kvqae.world", WorldParameters)
