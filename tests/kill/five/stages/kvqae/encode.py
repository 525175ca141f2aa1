"""Stage `kvqae-encode`: files encoded in shards, which are kept when the stage is killed."""

from functools import partial
from pathlib import Path

import numpy as np
from pydantic import Field

from stages.lingering import linger, pause
from trivium.core.atomic import write_atomically
from trivium.core.matrices import write_matrix
from trivium.core.parameters import Parameters
from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_json


class EncodeParameters(Parameters):
    """Section `kvqae.encode`."""

    width: int = Field(ge=1, description="Numbers a vector")
    shard_size: int = Field(ge=1, description="Files a shard")


def encode(files: list[Path], work: Path, width: int) -> Path:
    """The file of a shard's vectors, written unless it is there."""
    shard = work / f"{files[0].stem}.npy"
    if not shard.exists():
        values = np.array([read_json(file) for file in files], np.float32)
        for _ in files:
            pause()
        with write_atomically(shard) as beside:
            np.save(beside, np.cos(values @ np.linspace(0, 1, 100 * width, dtype=np.float32).reshape(100, width)))
    return shard


def main(parameters: EncodeParameters, context: Context, *, raw: Path, out: Path) -> dict[str, float]:
    """Encode the files' numbers, one row a file."""
    files = sorted(raw.rglob("*.json"), key=lambda file: file.name)
    size = parameters.shard_size
    shards = [files[first : first + size] for first in range(0, len(files), size)]
    encode_shard = partial(encode, work=context.work, width=parameters.width)
    with write_matrix(out, len(files), parameters.width, np.float32) as matrix:
        first = 0
        for number, shard in enumerate(context.engine.map(encode_shard, shards, description="encode")):
            rows = np.load(shard)
            matrix[first : first + len(rows)] = rows
            first += len(rows)
            context.tracker.log(number, rows=first)
        linger()
    return {"rows": len(files)}


if __name__ == "__main__":
    run_stage(main, "kvqae.encode", EncodeParameters)
