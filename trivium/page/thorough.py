"""What `make thorough` found for cells of the page's tables that the default fills by one training, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.core.tables import read_json


@dataclass(frozen=True)
class Mean:
    """Over trainings, in [0, 1], and its standard deviation where there were several."""

    mean: float
    sd: float | None


@dataclass(frozen=True)
class Thorough:
    """The metrics of one stage at the thorough scale.

    Attributes:
        metrics: flat, by name.
        commit, date: where and when they were made.
    """

    metrics: Mapping[str, float]
    commit: str
    date: str

    def mean(self, key: str) -> Mean | None:
        """The metric of that name; None where it was not measured."""
        return Mean(self.metrics[key], self.metrics.get(f"{key}_sd")) if key in self.metrics else None


def read_thorough(file: Path, stage: str, world: Mapping[str, Any], *, sample: bool) -> Thorough | None:
    """What `metrics/thorough/{pipeline}.json` has of a stage; None where it is of another world than the page.

    Args:
        file: as `make thorough` writes it.
        stage: without its pipeline, such as `evaluate`.
        world: the pipeline's section `world` in `params.yaml`.
        sample: whether the page shows a sample world; that of `make thorough` is one.
    """
    if not sample or not file.exists():
        return None
    kept = read_json(file)
    if kept.get("parameters", {}).get(f"{kept['pipeline']}.world") != world:
        return None
    found = {
        key.removeprefix(f"{stage}."): value for key, value in kept["metrics"].items() if key.startswith(f"{stage}.")
    }
    return Thorough(found, kept["commit"], kept["date"])
