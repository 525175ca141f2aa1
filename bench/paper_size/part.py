"""Parts of the rehearsal, the modules of `parts/`."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import harness

PARTS = ("fusion", "dense", "inverted", "images", "bm25", "instances", "captions")


@dataclass(frozen=True)
class Part:
    """Part of the rehearsal.

    Attributes:
        name: name of its module.
        size: amount of data at the papers' size.
        unit: unit of this amount.
        make: writes so much invented data into an empty folder.
        run: processes a folder's data as the graph does, and may write to another folder.
    """

    name: str
    size: int
    unit: str
    make: Callable[[Path, int], None]
    run: Callable[[Path, Path], None]


def part_of(name: str) -> Part:
    """Return a part by its name; raises as `harness.module_of_part`."""
    module = harness.module_of_part(name, PARTS, "bench.paper_size")
    return Part(name, module.SIZE, module.UNIT, module.make, module.run)


if __name__ == "__main__":  # one trial, in a process of its own: `python -m bench.paper_size.part PART FOLDER`
    part, folder = sys.argv[1], Path(sys.argv[2])
    part_of(part).run(folder / "in", folder / "out")
