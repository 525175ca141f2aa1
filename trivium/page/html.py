"""What all sections of the page share: templates, the one table, numbers in words, and the file of a part."""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from trivium.core.parameters import flatten
from trivium.core.tables import write_json

T = TypeVar("T")


@cache
def environment() -> Environment:
    """Jinja with escaping on, undefined names refused, filters for numbers in words, and the page's tables."""
    made = Environment(
        loader=PackageLoader("trivium.page", "templates"),
        autoescape=True,
        extensions=["jinja2.ext.do"],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: list[Callable[..., Any]] = [signed, probability, p_value, percent, decimal, thousands, points]
    functions: list[Callable[..., Any]] = [interval, between, figure, published, small, source, table]
    made.filters |= {function.__name__: function for function in filters}
    made.globals |= {function.__name__: function for function in functions}
    made.globals |= {"cell": Cell, "column": Column, "row": Row}
    return made


def render(template: str, **values: Any) -> Markup:
    """Render a template; values that are no `Markup` are escaped."""
    return Markup(environment().get_template(template).render(**values))


def source(name: str) -> Markup:
    """A style sheet or a script as it stands among the templates."""
    return Markup(environment().loader.get_source(environment(), name)[0])  # type: ignore[union-attr]


def decimal(value: float | None, digits: int = 1) -> str:
    """A number with so many digits behind the point; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def signed(value: float | None, digits: int = 0) -> str:
    """`decimal` with a minus sign that is as wide as a digit."""
    return decimal(value, digits).replace("-", "−")


def percent(value: float | None, digits: int = 1) -> str:
    """A share in per cent, without the sign; a dash where there is none."""
    return decimal(None if value is None else 100 * value, digits)


def thousands(value: float) -> str:
    """A count with spaces between thousands."""
    return f"{value:,.0f}".replace(",", " ")


def probability(value: float) -> str:
    """`= 0.012`, or `< 0.001`."""
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def p_value(value: float | None) -> str:
    """A p in a table: four digits, or `< 0.0001`; a dash where there is none."""
    return "–" if value is None else "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def points(value: float) -> str:
    """A difference of shares in points, with its sign."""
    return f"{100 * value:+.1f}".replace("-", "−")


def between(low: float | None, high: float | None, digits: int = 1) -> str:
    """`[−1.0, 2.0]`; a dash where there is no interval."""
    return "–" if low is None else f"[{signed(low, digits)}, {signed(high, digits)}]"


def interval(bounds: Sequence[float] | None, scale: float = 100, digits: int = 1) -> Markup:
    """An interval in small print below the value, its bounds multiplied by `scale`; nothing where there is none."""
    if bounds is None:
        return Markup()
    low, high = bounds
    return Markup('<span class="interval">{}</span>').format(between(scale * low, scale * high, digits))


def small(text: Any) -> Markup:
    """Text in small print behind a row's heading; nothing for no text."""
    return Markup("<small>{}</small>").format(text) if text else Markup()


class Column(NamedTuple):
    """A column: `left` (text), `published` (numbers of a paper), `wrap` (a long heading), or usual numbers."""

    title: Any  # a line break is kept
    style: str = ""


class Cell(NamedTuple):
    """A cell with a class of its own, or over several columns."""

    text: Any
    style: str = ""
    span: int = 1


class Row(NamedTuple):
    """A row with a class: `beyond` the paper, `baseline`, or `group` for the heading of the rows below it."""

    cells: Sequence[Any]
    style: str = ""


def published(*titles: str) -> list[Column]:
    """Columns of a paper's numbers."""
    return [Column(f"{title}\npaper", "published") for title in titles]


def table(
    columns: Sequence[Any], rows: Iterable[Row | Sequence[Any]], caption: Any = "", *, style: str = "",
    heading: int | None = 0,
) -> Markup:  # fmt: skip
    """A table of the page with a class `style`, in a box of its own that scrolls.

    `columns` are titles, or columns that are no usual numbers; texts of cells are escaped, None is a dash. The cells
    of the column `heading`, if there is one, head their rows.
    """
    heads = [column if isinstance(column, Column) else Column(column) for column in columns]
    if heading is not None and not heads[heading].style:
        heads[heading] = heads[heading]._replace(style="left")
    lines = [
        (style, [cell if isinstance(cell, Cell) else Cell("–" if cell is None else cell) for cell in cells])
        for cells, style in (row if isinstance(row, Row) else Row(row) for row in rows)
    ]
    return render("table.html", columns=heads, rows=lines, caption=caption, style=style, heading=heading)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, of cells that are Markdown already."""
    lines = ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def figure(svg: Markup, caption: Any) -> Markup:
    """A drawn figure with its caption."""
    return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(svg, caption)


def write_part(out: Path, world: str, sections: Mapping[str, str]) -> None:
    """Write a part of the page (see `contents.py`): HTML by section, escaped already, and the source of its data."""
    write_json(out, {"world": world, "sections": dict(sections)})


def half_each(wrong: Sequence[T], right: Sequence[T], count: int, rng: random.Random) -> list[T]:
    """Draw at most `count` examples, as far as possible half of them wrong and half right, in random order."""
    chosen = rng.sample(wrong, min(len(wrong), max(count // 2, count - len(right))))
    chosen += rng.sample(right, min(len(right), count - len(chosen)))
    rng.shuffle(chosen)
    return chosen


def sizes_html(used: dict[str, Any], paper: dict[str, Any]) -> Markup:
    """Every parameter that differs from the paper's scale, with both values."""
    theirs, rows = dict(flatten(paper)), []
    for name, value in sorted(flatten(used)):
        if theirs.get(name, value) != value:
            texts = [of if isinstance(of, str) else json.dumps(of) for of in (value, theirs[name])]
            rows.append([Markup("<code>{}</code>").format(name), *texts])
    shown = table(["Parameter", "used", Column("paper", "published")], rows, style="used")
    note = "<p>What this run used where it differs from the scale of the paper (<code>scales/paper.yaml</code>).</p>"
    return Markup(note) + shown
