"""The few numbers of `metrics/headline.json`, which keep `dvc exp show` readable, and ODmAP of each training."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from trivium.core.parameters import read_beside
from trivium.core.tables import read_json

# {metrics file of a stage: {name of a headline number: its key in the file}}
NUMBERS: dict[str, dict[str, str]] = read_beside(__file__, "headline.yaml")
ODMAP = re.compile(r"(?P<training>\w+)_(?P<seed>\d+)_synthetic_odmap@(?P<k>\d+)")
ODMAP_COLUMNS = ("training", "seed", "k", "odmap")


def odmap_by_seed(metrics: Mapping[str, float]) -> Iterator[dict[str, str | float]]:
    """A row for each training of stage `decorrelation-evaluate`'s metrics and each k; columns as `ODMAP_COLUMNS`."""
    for key, value in metrics.items():
        if match := ODMAP.fullmatch(key):
            yield {**match.groupdict(), "odmap": value}


def headline(folder: Path) -> dict[str, float]:
    """The numbers that were measured, from the folder of the metrics files; a scale may leave models out."""
    numbers: dict[str, float] = {}
    for file, keys in NUMBERS.items():
        if (folder / file).exists():
            metrics = read_json(folder / file)
            numbers |= {name: float(f"{metrics[key]:.6g}") for name, key in keys.items() if key in metrics}
    return numbers
