"""Figures as SVG whose ink is the page's text colour, so that they read in dark and light."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

mpl.use("svg")
_INK = "#010203"  # a colour nothing else uses, replaced by currentColor
_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "fontsize": "small"}
_SHADES = ("#3a86b7", "#e07a3f", "#4f9d69", "#9b6fb5")
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


def _svg(figure: Figure, title: str) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Title": title})
    svg = text.getvalue().replace(_INK, "currentColor")
    return svg[svg.index("<svg") :]  # no XML prologue inside HTML


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def boxes(groups: Mapping[str, Mapping[str, Sequence[float]]], *, title: str, ylabel: str) -> str:
    """Box plots side by side: quartiles, whiskers to 1.5 interquartile ranges, no outliers.

    Args:
        groups: {tick: {legend entry: values}}; every tick has the same entries.
        title: for screen readers.
        ylabel: of the axis.
    """
    with mpl.rc_context(_STYLE):
        figure, axes = _axes(6.4, 3.4)
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
    with mpl.rc_context(_STYLE):
        figure, axes = _axes(6.4, 3.2)
        for shade, (entry, (x, y)) in zip(_SHADES, lines.items(), strict=False):
            axes.plot(x, y, marker="o", markersize=4, color=shade, label=entry)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if len(lines) > 1:
            axes.legend(**_ABOVE)
        return _svg(figure, title)
