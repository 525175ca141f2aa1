"""What the parts of all pipelines share: the templates, the table of sizes, and the file of a part."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from trivium.core.tables import write_json

T = TypeVar("T")


def environment() -> Environment:
    """Jinja with escaping on, undefined names refused, and filters for signed numbers and probabilities."""
    made = Environment(
        loader=PackageLoader("trivium.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"signed": signed, "probability": probability}
    return made


def signed(value: float, digits: int = 0) -> str:
    """A number with a minus sign that is as wide as a digit."""
    return f"{value:.{digits}f}".replace("-", "−")


def probability(value: float) -> str:
    """`= 0.012`, or `< 0.001`."""
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def write_part(out: Path, world: str, sections: Mapping[str, str]) -> None:
    """Write a part of the page (see `contents.py`): HTML by section, escaped already, and the source of its data."""
    write_json(out, {"world": world, "sections": dict(sections)})


def half_each(wrong: Sequence[T], right: Sequence[T], count: int, rng: random.Random) -> list[T]:
    """As many of the wrong as of the right ones as far as there are, at most `count`, in an order by chance."""
    chosen = rng.sample(wrong, min(len(wrong), max(count // 2, count - len(right))))
    chosen += rng.sample(right, min(len(right), count - len(chosen)))
    rng.shuffle(chosen)
    return chosen


def sizes_html(used: dict[str, Any], paper: dict[str, Any]) -> str:
    """Every parameter that differs from the paper's scale, with both values."""
    rows = []
    for section, values in sorted(flat(used).items()):
        other = flat(paper).get(section, values)
        if other != values:
            rows.append((section, values, other))
    return environment().get_template("sizes.html").render(rows=rows)


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{a: {b: 1}}` as `{"a.b": 1}`."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values
