"""Curves of trainings as a small table, which DVC keeps and `dvc plots` draws.

What a stage logs is kept in its work folder, a line a call, and becomes a table when the stage succeeds. A training
that was killed goes on from its last checkpoint and logs some steps again: a step counts once, and a line that was cut
off does not count, so that the table is the same as without a kill.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ("curve", "step", "value")
MOST = 100  # points of a curve in the table; a small figure shows no more
Point = tuple[int, float]


@dataclass(frozen=True)
class Curves:
    """The points of curves in a file, which need not exist: a JSON array a line, the step and the values by name."""

    file: Path

    def keep(self, step: int, values: Mapping[str, float]) -> None:
        """Keep one point of one or more curves; values that are not finite are left out."""
        finite = {name: float(value) for name, value in values.items() if math.isfinite(value)}
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(f"\n{json.dumps([int(step), finite])}")  # the line before may have been cut off

    def points(self) -> dict[str, list[Point]]:
        """The points of each curve, in the order of their steps; of a step that was logged twice the later value."""
        values_by_step: dict[str, dict[int, float]] = {}
        for line in self.file.read_text("utf-8").split("\n") if self.file.exists() else []:
            try:
                step, values = json.loads(line)
            except ValueError:  # cut off, or the empty one at the top
                continue
            for name, value in values.items():
                values_by_step.setdefault(name, {})[step] = value
        return {name: sorted(points.items()) for name, points in sorted(values_by_step.items())}

    def write(self, path: Path) -> None:
        """Write the table (CSV), one row for each point, at most `MOST` for each curve; no rows for no points."""
        from trivium.core.tables import write_csv  # pyarrow takes a while, which most stages need not spend here

        rows = [(name, *point) for name, points in self.points().items() for point in thin(points)]
        write_csv(path, COLUMNS, rows)


def thin(points: Sequence[Point], most: int = MOST) -> list[Point]:
    """Replace each ⌈n / most⌉ successive points (step, value) by their mean value at the last step."""
    size = math.ceil(len(points) / most) or 1
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    return [(group[-1][0], math.fsum(value for _, value in group) / len(group)) for group in groups]
