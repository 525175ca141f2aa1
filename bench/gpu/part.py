"""The parts of the GPU's bench: each is a module of `parts/`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import harness

PARTS = ("texts", "imagenet", "clip", "faces", "reader", "search", "resident_search", "lama")


@dataclass(frozen=True)
class Part:
    """A part of the bench.

    Attributes:
        name: of its module.
        unit: of a rate, such as `pictures a second`.
        goal: the least rate that is wanted; None: whatever it is.
        size: how many things are worked on.
        few: how many of them warm it up: networks are loaded, kernels chosen.
        make: writes networks and so many things into an empty folder.
        run: does with the first so many of a folder's things what the graph does, and may write into another, empty
            folder. It returns what is to be divided by its seconds.
    """

    name: str
    unit: str
    goal: float | None
    size: int
    few: int
    make: Callable[[Path, int], None]
    run: Callable[[Path, Path, int], float]


def part_of(name: str) -> Part:
    """A part by its name; raises as `harness.module_of_part`."""
    module = harness.module_of_part(name, PARTS, "bench.gpu")
    return Part(name, module.UNIT, module.GOAL, module.SIZE, module.FEW, module.make, module.run)
