"""The few numbers that keep `dvc exp show` readable, `metrics/headline.json`, and what `dvc plots` draws beside."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from trivium.core.errors import BadInput
from trivium.core.tables import read_json


@dataclass(frozen=True)
class Number:
    """A headline number: what it says, the metrics file of a stage, and the key in it."""

    label: str
    file: str
    key: str


_FILE = Path(__file__).with_name("headline.yaml")
NUMBERS = {name: Number(**fields) for name, fields in yaml.safe_load(_FILE.read_text(encoding="utf-8")).items()}
DIGITS = 6  # more than README shows: what was rounded to nearly as few would be rounded wrong the second time
ODMAP = re.compile(r"(?P<training>\w+)_(?P<seed>\d+)_synthetic_odmap@(?P<k>\d+)")
ODMAP_COLUMNS = ("training", "seed", "k", "odmap")


def odmap_by_seed(metrics: Mapping[str, float]) -> Iterator[dict[str, str | float]]:
    """A row for each training of stage `decorrelation-evaluate`'s metrics and each k; columns as `ODMAP_COLUMNS`."""
    for key, value in metrics.items():
        if match := ODMAP.fullmatch(key):
            yield {**match.groupdict(), "odmap": value}


def headline(folder: Path) -> dict[str, float]:
    """The numbers of the pipelines that have run.

    Raises:
        BadInput: a metrics file lacks its key.
    """
    read, numbers = cache(read_json), {}
    for name, number in NUMBERS.items():
        path = folder / number.file
        if path.exists():
            values = read(path)
            if number.key not in values:
                raise BadInput("missing metric", file=path, field=number.key, choices=sorted(values)[:20])
            numbers[name] = float(f"{values[number.key]:.{DIGITS}g}")
    return numbers
