"""How long stages take, from this project's last runs or a kept table, and how much of a run is left."""

from collections.abc import Collection, Mapping
from math import ceil
from pathlib import Path
from statistics import median

import yaml

from trivium.core.tables import read_json, write_json

KEPT = Path(__file__).with_name("seconds.yaml")  # of the sample's stages, two at a time on two cores
LAST_RUN = Path(".work") / "seconds.json"


class Progress:
    """Knows the seconds of stages, says how far a run is, and keeps what it took.

    Args:
        stages: those that may run.
        workers: that run stages side by side.
    """

    def __init__(self, stages: Collection[str], workers: int) -> None:
        kept: dict[str, float] = yaml.safe_load(KEPT.read_text(encoding="utf-8"))
        self._took = read_json(LAST_RUN) if LAST_RUN.exists() else {}
        known = kept | self._took
        usual = median(kept.values())
        self.seconds: Mapping[str, float] = {stage: known.get(stage, usual) for stage in stages}
        self._left, self._workers = set(stages), workers

    def finish(self, stage: str, seconds: float) -> str:
        """Keep what a stage took; how much is left, in words."""
        self._took[stage] = round(seconds, 1)
        write_json(LAST_RUN, self._took)
        self._left.discard(stage)
        rest = [self.seconds[other] for other in self._left]
        left = max(sum(rest) / self._workers, max(rest, default=0.0))
        done, minutes = len(self.seconds) - len(rest), ceil(left / 60)
        unit = "minute" if minutes == 1 else "minutes"
        return f"{stage}: {seconds:.0f} s. {done} of {len(self.seconds)}, about {minutes} {unit} left"
