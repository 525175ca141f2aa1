"""Figures as SVG whose ink is the page's text colour, so that they read in dark and light.

Of each, `title` is for screen readers, and `xlabel` and `ylabel` are those of the axes.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:  # half a second to import, and only who draws needs it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#010203"  # a colour nothing else uses, replaced by currentColor
_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "fontsize": "small"}
_SHADES = ("#3a86b7", "#e07a3f", "#4f9d69", "#9b6fb5")
_MORE_SHADES = (*_SHADES, "#c2527f", "#8a8f2a", "#7a7f87", "#2aa198", "#b5651d", "#5b6bd6")
_MARKERS = "osD^vP*Xph"
_ROW = 0.19  # inches that a row of small text takes
_STYLE: dict[Any, Any] = {
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": _INK,
    "svg.hashsalt": "trivium",  # the same figure is the same file
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def _svg(figure: "Figure", title: str) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": title})
    svg = re.sub(r'<g id="[^"]*"', "<g", text.getvalue().replace(_INK, "currentColor"))  # a page has many figures
    named = Markup('<svg role="img" aria-label="{}"').format(title)
    return svg[svg.index("<svg") :].replace("<svg", named, 1)  # no XML prologue inside HTML


@contextmanager
def _axes(width: float, height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """An empty figure of so many inches, and the page's style while it is drawn."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.use("svg")
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        yield figure, figure.add_subplot()


def boxes(groups: Mapping[str, Mapping[str, Sequence[float]]], *, title: str, ylabel: str) -> str:
    """Box plots side by side: quartiles, whiskers to 1.5 interquartile ranges, no outliers.

    Args:
        groups: {tick: {legend entry: values}}; every tick has the same entries.
    """
    with _axes(6.4, 3.4) as (figure, axes):
        entries = list(next(iter(groups.values())))
        width = 0.8 / len(entries)
        for place, entry in enumerate(entries):
            positions = [tick + (place - (len(entries) - 1) / 2) * width for tick in range(len(groups))]
            axes.boxplot(
                [list(group[entry]) or [float("nan")] for group in groups.values()],
                positions=positions,
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
        axes.set_ylabel(ylabel)
        axes.set_ylim(-0.02, 1.02)
        axes.legend(**_ABOVE)
        return _svg(figure, title)


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]], *, title: str, xlabel: str, ylabel: str
) -> str:
    """Lines over counts with a marker at each point, `{legend entry: (x, y)}`."""
    from matplotlib.ticker import MaxNLocator

    with _axes(6.4, 3.2) as (figure, axes):
        for shade, (entry, (x, y)) in zip(_SHADES, lines.items(), strict=False):
            axes.plot(x, y, marker="o", markersize=4, color=shade, label=entry)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if len(lines) > 1:
            axes.legend(**_ABOVE)
        return _svg(figure, title)


def profile(points: Sequence[tuple[str, float, tuple[float, float] | None]], *, title: str, xlabel: str) -> str:
    """A dot and its interval on each row, the first point at the bottom, and their mean as a line.

    Args:
        points: (name, value in [0, 1], interval or None).
    """
    with _axes(4.2, 0.7 + _ROW * len(points)) as (figure, axes):
        values = [value for _, value, _ in points]
        for row, (_, _, interval) in enumerate(points):
            if interval is not None:
                axes.plot(interval, (row, row), color=_SHADES[0], linewidth=1.2, alpha=0.7)
        axes.plot(values, range(len(points)), "o", markersize=4, color=_SHADES[0])
        axes.axvline(sum(values) / len(values), color=_INK, linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(points)), [name for name, _, _ in points], fontsize="x-small", parse_math=False)
        axes.set_ylim(-0.7, len(points) - 0.3)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel(xlabel)
        return _svg(figure, title)


def forest(
    rows: Sequence[str], series: Mapping[str, Sequence[tuple[float, float, float] | None]], *, title: str, xlabel: str
) -> str:
    """Estimates with intervals about a line at 0, the first row on top; each entry has its own marker.

    Args:
        rows: names.
        series: {legend entry: (value, low, high) of each row, None where there is none}.
    """
    with _axes(4.2, 0.9 + 0.32 * len(rows)) as (figure, axes):
        axes.axvline(0, color=_INK, linewidth=0.8)
        for place, (entry, estimates) in enumerate(series.items()):
            shift = 0.26 * (place - (len(series) - 1) / 2)
            found = [(row + shift, *each) for row, each in enumerate(estimates) if each is not None]
            for height, _, low, high in found:
                axes.plot((low, high), (height, height), color=_SHADES[place], linewidth=1.4)
            points = ([value for _, value, _, _ in found], [height for height, *_ in found])
            axes.plot(*points, _MARKERS[place], markersize=5, color=_SHADES[place], label=entry)
        axes.set_yticks(range(len(rows)), rows, parse_math=False)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(xlabel)
        axes.legend(**_ABOVE)
        return _svg(figure, title)


def trends(ticks: Sequence[str], lines: Mapping[str, Sequence[float | None]], *, title: str, ylabel: str) -> str:
    """Lines over named steps, each with its own marker; None leaves a gap.

    Args:
        ticks: names of the steps.
        lines: {legend entry: value in [0, 1] at each step}.
    """
    with _axes(6.4, 3.6) as (figure, axes):
        for place, (entry, values) in enumerate(lines.items()):
            shade, marker = _MORE_SHADES[place % len(_MORE_SHADES)], _MARKERS[place % len(_MARKERS)]
            known = [float("nan") if value is None else value for value in values]
            axes.plot(range(len(ticks)), known, marker=marker, markersize=5, color=shade, label=entry)
        axes.set_xticks(range(len(ticks)), ticks, parse_math=False)
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel(ylabel)
        for text in axes.legend(**_ABOVE).get_texts():
            text.set_parse_math(False)  # a user's file name is an entry
        return _svg(figure, title)


def sweep(
    lines: Mapping[str, Sequence[tuple[float, Sequence[float], tuple[float, float] | None]]],
    *,
    title: str,
    xlabel: str,
    ylabel: str,
) -> str:
    """Means with their intervals over a quantity, and the single values that they are the means of.

    Args:
        lines: {legend entry: (x, single values, interval or None) of each point}.
    """
    with _axes(6.4, 3.4) as (figure, axes):
        for place, (entry, found) in enumerate(lines.items()):
            shade, marker = _SHADES[place], _MARKERS[place]
            for x, values, interval in found:
                axes.plot([x] * len(values), values, ".", markersize=4, color=shade, alpha=0.5)
                if interval is not None:
                    axes.plot((x, x), interval, color=shade, linewidth=1.4)
            means = [sum(values) / len(values) for _, values, _ in found]
            axes.plot([x for x, _, _ in found], means, marker=marker, markersize=5, color=shade, label=entry)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.legend(**_ABOVE)
        return _svg(figure, title)
