"""Parts of the GPU's bench, the modules of `parts/`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import harness

PARTS = ("texts", "imagenet", "clip", "faces", "reader", "search", "resident_search", "lama")


@dataclass(frozen=True)
class Part:
    """Part of the bench.

    Attributes:
        name: name of its module.
        unit: unit of its rate, such as `pictures a second`.
        goal: least rate wanted; None where there is no goal.
        size: number of items.
        few: number of items of the warm-up, in which networks are loaded and kernels chosen.
        make: writes networks and so many items into an empty folder.
        run: processes the first so many items of a folder as the graph does, and may write to another, empty folder;
            returns the amount to be divided by its seconds.
    """

    name: str
    unit: str
    goal: float | None
    size: int
    few: int
    make: Callable[[Path, int], None]
    run: Callable[[Path, Path, int], float]


def part_of(name: str) -> Part:
    """Return a part by its name; raises as `harness.module_of_part`."""
    module = harness.module_of_part(name, PARTS, "bench.gpu")
    return Part(name, module.UNIT, module.GOAL, module.SIZE, module.FEW, module.make, module.run)
