"""Comparisons of `make thorough` in each of several sample worlds, and over all of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from trivium.page.kvqae.findings import READING, RERANKING, Retrieved


def _key(each: Retrieved) -> str:
    return f"evaluate_reranking.{each.block}_{each.rows[0]}_over_{each.rows[1]}_{each.measure[0]}"


def _words(each: Retrieved) -> tuple[str, str, str]:
    return each.where + each.names[0], each.names[1], each.measure[1]


# By pipeline, the comparisons that the page speaks of: name of the metric → what is compared with what, and by what.
COMPARISONS: dict[str, dict[str, tuple[str, str, str]]] = {
    "kvqae": {
        "evaluate.passage_fused_over_best_text_mrr": ("Text and image", "the best text", "MRR"),
        "evaluate.passage_dpr_few_shot_over_zero_shot_mrr": ("Few-shot DPR", "zero-shot DPR", "MRR"),
        **{_key(each): _words(each) for wanted in RERANKING.values() for each in wanted},
        **{f"read.{row}_over_{other}_em": (name, than, "EM") for row, other, name, than, _ in READING},
    }
}


def compared(pipeline: str, seeds: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """What was measured in every world: rows `{row, other, measure, worlds, mean, deviation, over_all}`.

    `worlds` holds (difference, p) of each, `mean` and `deviation` are of the differences, `over_all` is the p of all.

    Args:
        pipeline: its name.
        seeds: by world seed, flat metrics; a comparison `x` has `x_difference` and `x_p`.
    """
    rows = []
    for name, (row, other, measure) in COMPARISONS.get(pipeline, {}).items():
        keys = (f"{name}_difference", f"{name}_p")
        if not all(key in metrics for metrics in seeds.values() for key in keys):
            continue
        differences, p = ([float(metrics[key]) for metrics in seeds.values()] for key in keys)
        rows.append(
            {
                "row": row,
                "other": other,
                "measure": measure,
                "worlds": list(zip(differences, p, strict=True)),
                "mean": float(np.mean(differences)),
                "deviation": float(np.std(differences, ddof=1)),
                "over_all": over_all(differences, p),
            }
        )
    return rows


def over_all(differences: Sequence[float], p: Sequence[float]) -> float:
    """Two-sided p of all worlds together, each with the same weight (Stouffer et al. 1949).

    z_i = sign(d_i) Φ⁻¹(1 − p_i / 2), Z = Σ z_i / √k and p = 2 Φ(−|Z|): worlds that disagree take from each other.
    """
    from scipy.stats import combine_pvalues  # slow to import, and only `make thorough` gets here

    of_one_side = [
        each / 2 if difference > 0 else 1 - each / 2 for difference, each in zip(differences, p, strict=True)
    ]
    return float(2 * ndtr(-abs(combine_pvalues(of_one_side, method="stouffer").statistic)))
