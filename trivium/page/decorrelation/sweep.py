"""Decorrelation's Figure 4: how much of D' is needed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from trivium.page.common import environment
from trivium.page.decorrelation.results import Results, recipe
from trivium.page.figures import sweep

MEASURES = {"ODmAP@1": ("synthetic", "odmap@1"), "R@1, image → text": ("image_to_text", "r@1")}
_FEWEST = 3  # points of a curve


def seed_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Student's interval of the mean over seeds, mean ± t · s / √n; None from one seed."""
    if len(values) < 2:
        return None
    from scipy.special import stdtrit  # its import takes a fifth of a second

    mean, half = np.mean(values), stdtrit(len(values) - 1, (1 + confidence) / 2) * np.std(values, ddof=1)
    return float(mean - half / np.sqrt(len(values))), float(mean + half / np.sqrt(len(values)))


def ratios(results: Results) -> dict[str, float]:
    """{row: |D'| / |D| in pairs} of the rows that differ in it alone, smallest first: CLIP on COCO, D' as in `ours`."""
    ours = results.groups.get("coco_clip_ours")
    found = {
        name: results.by_seed(name, "synthetic", "ratio")[0]
        for name, cell in results.groups.items()
        if (cell.dataset, cell.model) == ("coco", "clip") and recipe(cell) in ("none", ours and recipe(ours))
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def batch_share(ratio: float, part: float, synthetic_share: float | None) -> float:
    """The share of a batch that is from D', as `trivium.decorrelation.training.job` draws it.

    Args:
        ratio: |D'| / |D| in pairs, D' being the part that is used.
        part: the part of D' that is used.
        synthetic_share: of a batch with all of D'; None: as many as there are pairs.
    """
    if ratio == 0:
        return 0.0
    return ratio / (1 + ratio) if synthetic_share is None else synthetic_share * part


def figure_4_html(
    results: Results,
    published: Mapping[str, Any],
    *,
    confidence: float,
    synthetic_share: float | None,
    one_removal: bool,
) -> str:
    """R@1 and ODmAP@1 over |D'| / |D|, with intervals over seeds, or how to run it.

    Args:
        results: of stage evaluate.
        published: tests/published/decorrelation.yaml.
        confidence: of the intervals.
        synthetic_share: see `batch_share`.
        one_removal: whether D' has one removal of a training picture, or all of them.
    """
    found = ratios(results)
    lines = {
        entry: [
            (ratio, values, seed_interval(values, confidence))
            for group, ratio in found.items()
            for values in ([100 * value for value in results.by_seed(group, *measure)],)
        ]
        for entry, measure in MEASURES.items()
    }
    ran = len(set(found.values())) >= _FEWEST
    svg = sweep(
        lines, title="ODmAP@1 and R@1 over the share of synthetic pairs", xlabel="|D′| / |D|, pairs", ylabel="%"
    )
    rows = [
        {
            "ratio": ratio,
            "seeds": results.seeds(group),
            "batch": batch_share(ratio, results.groups[group].share, synthetic_share),
            "cells": [(np.mean(values), interval) for _, values, interval in (line[place] for line in lines.values())],
        }
        for place, (group, ratio) in enumerate(found.items())
    ]
    return (
        environment()
        .get_template("decorrelation_sweep.html")
        .render(
            svg=Markup(svg) if ran else None,
            rows=rows,
            measures=list(MEASURES),
            paper=published["figure_4"],
            confidence=confidence,
            synthetic_share=synthetic_share,
            captions=max((results.groups[group].captions_an_image for group in found), default=1),
            one_removal=one_removal,
        )
    )
