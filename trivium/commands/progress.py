"""How far a run of the graph is, and about how long the rest takes at the sample's scale, from a kept table."""

from collections.abc import Collection, Mapping
from math import ceil
from pathlib import Path
from statistics import median

import yaml

KEPT = Path(__file__).with_name("seconds.yaml")  # of the sample's stages, two at a time on two cores


class Progress:
    """Knows the seconds of stages, and says how far a run is.

    Args:
        stages: those that may run.
        workers: that run stages side by side.
    """

    def __init__(self, stages: Collection[str], workers: int) -> None:
        kept: dict[str, float] = yaml.safe_load(KEPT.read_text(encoding="utf-8"))
        usual = median(kept.values())
        self.seconds: Mapping[str, float] = {stage: kept.get(stage, usual) for stage in stages}
        self._left, self._workers = set(stages), workers

    def finish(self, stage: str, seconds: float) -> str:
        """How much is left behind a stage, in words."""
        self._left.discard(stage)
        rest = [self.seconds[other] for other in self._left]
        left = max(sum(rest) / self._workers, max(rest, default=0.0))
        done, minutes = len(self.seconds) - len(rest), ceil(left / 60)
        said = f"about {minutes} minute{'s' * (minutes != 1)} left at the sample's scale"
        return f"{stage}: {seconds:.0f} s. {done} of {len(self.seconds)}, {said}"
