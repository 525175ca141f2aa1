"""Figures as SVG whose ink is the page's text colour, so that they read in dark and light.

Of each, `title` is for screen readers, and `xlabel` and `ylabel` are those of the axes.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:  # half a second to import, and only who draws needs it
    from matplotlib.axes import Axes

Estimate = tuple[float, float, float]  # value, low, high
Point = tuple[float, Sequence[float], tuple[float, float] | None]  # x, single values, interval of their mean
_INK = "#010203"  # a colour nothing else uses, of the style; replaced by currentColor
_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "fontsize": "small"}
_SHADES = ("#3a86b7", "#e07a3f", "#4f9d69", "#9b6fb5", "#c2527f", "#8a8f2a", "#7a7f87", "#2aa198", "#b5651d", "#5b6bd6")
_MARKERS = "osD^vP*Xph"
_STYLE = Path(__file__).with_name("figures.mplstyle")


@contextmanager
def _axes(width: float, height: float, title: str, xlabel: str, ylabel: str) -> Iterator[tuple["Axes", list[Markup]]]:
    """Axes of so many inches to draw on, and a list that holds the SVG once the block has ended."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("svg")
    svgs: list[Markup] = []
    with mpl.rc_context(fname=_STYLE):
        figure = Figure(figsize=(width, height))
        axes = figure.add_subplot()
        yield axes, svgs
        axes.set(xlabel=xlabel, ylabel=ylabel)
        if len(axes.get_legend_handles_labels()[1]) > 1:
            for entry in axes.legend(**_ABOVE).get_texts():
                entry.set_parse_math(False)  # a user's file name is an entry
        text = io.StringIO()
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": title})
    svg = re.sub(r'<g id="[^"]*"', "<g", text.getvalue().replace(_INK, "currentColor"))  # a page has many figures
    named = Markup('<svg role="img" aria-label="{}"').format(title)
    svgs.append(Markup(svg[svg.index("<svg") :].replace("<svg", named, 1)))  # no XML prologue inside HTML


def draw_boxes(groups: Mapping[str, Mapping[str, Sequence[float]]], *, title: str, ylabel: str) -> Markup:
    """Box plots of {tick: {legend entry: values}}: quartiles, whiskers to 1.5 interquartile ranges, no outliers."""
    with _axes(6.4, 3.4, title, "", ylabel) as (axes, svg):
        entries = list(next(iter(groups.values())))
        width = 0.8 / len(entries)
        for place, entry in enumerate(entries):
            axes.boxplot(
                [list(group[entry]) or [float("nan")] for group in groups.values()],
                positions=[tick + (place - (len(entries) - 1) / 2) * width for tick in range(len(groups))],
                widths=width * 0.85,
                showfliers=False,
                patch_artist=True,
                label=entry,
                boxprops={"facecolor": _SHADES[place], "edgecolor": _INK},
                medianprops={"color": _INK, "linewidth": 1.6},
                whiskerprops={"color": _INK},
                capprops={"color": _INK},
            )
        axes.set_xticks(range(len(groups)), list(groups))
        axes.set_ylim(-0.02, 1.02)
    return svg[0]


def draw_curves(
    lines: Mapping[str, Sequence[Point]], *, title: str, xlabel: str = "", ylabel: str, ticks: Sequence[str] = ()
) -> Markup:
    """Lines through means, each with its own marker, their intervals, and the single values where there are several.

    `lines` are {legend entry: its points}; one without values leaves a gap. `ticks` are names of x = 0, 1, … where
    these are steps; y is then a share.
    """
    from matplotlib.ticker import MaxNLocator

    with _axes(6.4, 3.4, title, xlabel, ylabel) as (axes, svg):
        for place, (entry, points) in enumerate(lines.items()):
            shade, marker = _SHADES[place % len(_SHADES)], _MARKERS[place % len(_MARKERS)]
            for x, values, interval in points:
                if len(values) > 1:
                    axes.plot([x] * len(values), values, ".", markersize=4, color=shade, alpha=0.5)
                if interval is not None:
                    axes.plot((x, x), interval, color=shade, linewidth=1.4)
            means = [sum(values) / len(values) if values else float("nan") for _, values, _ in points]
            axes.plot([x for x, _, _ in points], means, marker=marker, markersize=5, color=shade, label=entry)
        if all(x == round(x) for points in lines.values() for x, _, _ in points):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if ticks:
            axes.set_xticks(range(len(ticks)), ticks, parse_math=False)
            axes.set_ylim(-0.02, 1.02)
    return svg[0]


def estimates_of(rows: Sequence[Mapping[str, Any]], value: str, low: str, high: str) -> list[Estimate | None]:
    """The value, low and high of each row under these names; None where one of them is not defined."""
    triples = [(row[value], row[low], row[high]) for row in rows]
    return [None if None in triple else triple for triple in triples]


def draw_estimates(
    rows: Sequence[str], series: Mapping[str, Sequence[Estimate | None]], *, title: str, xlabel: str, line: float = 0,
    limits: tuple[float, float] | None = None,
) -> Markup:  # fmt: skip
    """Estimates with intervals about a line, the first row on top; each entry has its own marker.

    `series` are {legend entry: the estimate of each row, None where there is none}; at `line` on the x axis, which has
    these `limits`, stands what they are compared with.
    """
    alone = len(series) == 1
    height = 0.7 + 0.19 * len(rows) if alone else 0.9 + 0.32 * len(rows)
    with _axes(4.2, height, title, xlabel, "") as (axes, svg):
        axes.axvline(line, color=_INK, linewidth=0.8, linestyle=":" if line else "-")
        for place, (entry, row_values) in enumerate(series.items()):
            shift = 0.26 * (place - (len(series) - 1) / 2)
            points = [(row + shift, *estimate) for row, estimate in enumerate(row_values) if estimate is not None]
            for at, _, low, high in points:
                axes.plot((low, high), (at, at), color=_SHADES[place], linewidth=1.4)
            values = ([value for _, value, _, _ in points], [at for at, *_ in points])
            axes.plot(*values, _MARKERS[place], markersize=5 - alone, color=_SHADES[place], label=entry)
        axes.set_yticks(range(len(rows)), rows, fontsize="x-small" if alone else "medium", parse_math=False)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(limits)
    return svg[0]
