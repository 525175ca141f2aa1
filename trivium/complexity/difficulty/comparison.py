"""Two models on the same questions: which is better, by how much, and mostly on which ones (docs/difficulty.md)."""

from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.difficulty.result import Difficulty
from trivium.complexity.effects.analysis import large_enough
from trivium.core.errors import BadInput
from trivium.measures.effects import NO, YES, ClusteredDifference, clustered_difference
from trivium.measures.significance import holm

COMPARISON_COLUMNS = (
    "factor", "says", "yes", "no",
    "on_yes", "on_yes_low", "on_yes_high", "on_yes_p_holm", "on_no", "on_no_low", "on_no_high", "on_no_p_holm",
    "more_on_yes", "low", "high", "p", "p_holm",
)  # fmt: skip
_NAMED = 3  # factors in the sentence


@dataclass(frozen=True)
class Comparison:
    """The score of model A less that of model B on every question, in points of 100.

    `difference` to `p` are over all questions, errors by cluster. `rows` have COMPARISON_COLUMNS a factor with large
    enough sets: the difference where it holds and where it does not, p corrected by Holm over all of these, and the
    one less the other, p corrected by Holm over the factors.
    """

    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    smallest: float  # difference that this set shows, at the risk and with the power of the settings
    rows: list[dict[str, str | float]]
    risk: float  # of the sentence

    def __str__(self) -> str:
        """A sentence that says which model is better, and on which questions mostly."""
        interval = f"{self.difference:+.1f} points [{self.low:+.1f}, {self.high:+.1f}], p = {self.p:.2g}"
        is_sure, sign = self.p <= self.risk, np.sign(self.difference)
        if is_sure:
            better, other = (self.a, self.b) if sign > 0 else (self.b, self.a)
            sentence = f"{better} is better than {other} ({self.a} less {self.b}: {interval})"
        else:
            sentence = (f"{self.a} and {self.b} cannot be told apart ({self.a} less {self.b}: {interval}; "
                    f"this set would show {self.smallest:.1f})")  # fmt: skip
        rows = sorted((row for row in self.rows if float(row["p_holm"]) <= self.risk), key=lambda row: row["p_holm"])
        places = []
        for row in rows[:_NAMED]:
            holds = float(row["more_on_yes"]) * (sign if is_sure else 1) > 0
            inside, outside = (row["on_yes"], row["on_no"]) if holds else (row["on_no"], row["on_yes"])
            condition = f"“{row['says']}”{'' if holds else ' does not hold'}"
            places.append(f"{condition} ({inside:+.1f}, elsewhere {outside:+.1f})")
        if not places:
            return f"{sentence}; on no factor's questions more than on the others, after Holm's correction."
        more = f"; and by {len(rows) - _NAMED} more factors" if len(rows) > _NAMED else ""
        return f"{sentence}{', and mostly where' if is_sure else '; they differ where'} {'; '.join(places)}{more}."


def compare_models(result: Difficulty, a: str, b: str) -> Comparison:
    """The paired difference of two models over the questions, as a whole and by factor, errors by cluster.

    Raises:
        BadInput: a model that did not answer, or the same one twice.
    """
    if a == b or not {a, b} <= set(result.models):
        raise BadInput("not two of the models", field="compare", got=[a, b], choices=result.models)
    settings, scores, clusters = result.settings, result.scores[result.settings.judge], result.clusters
    difference = (scores[a] - scores[b])[None]
    whole = _mean(difference, np.ones(difference.shape[1], dtype=bool), clusters)
    codes = np.stack(list(result.factors.codes.values()))
    tested = large_enough(codes, settings.smallest_set)
    names, codes = list(compress(result.factors.codes, tested)), codes[tested]
    sides = [[_mean(difference, code == side, clusters) for side in (YES, NO)] for code in codes]
    corrected = holm(np.array([[side.p.item() for side in pair] for pair in sides])) if names else np.empty((0, 2))
    between = clustered_difference(difference, codes, clusters)
    low, high = (bound[0] for bound in between.interval(settings.confidence))
    p_holm = holm(between.p)[0]
    rows: list[dict[str, str | float]] = []
    for at, name in enumerate(names):
        row: dict[str, str | float] = {"factor": name, "says": result.factors.labels[name]}
        row |= {"yes": int((codes[at] == YES).sum()), "no": int((codes[at] == NO).sum())}
        for key, side, p in zip(("on_yes", "on_no"), sides[at], corrected[at], strict=True):
            bounds = side.interval(settings.confidence)
            row |= {key: side.delta.item(), f"{key}_low": bounds[0].item(), f"{key}_high": bounds[1].item()}
            row[f"{key}_p_holm"] = float(p)
        row |= {"more_on_yes": between.delta[0, at].item(), "low": low[at].item(), "high": high[at].item(),
                "p": between.p[0, at].item(), "p_holm": p_holm[at].item()}  # fmt: skip
        rows.append(row)
    bounds = whole.interval(settings.confidence)
    return Comparison(
        a=a, b=b, difference=whole.delta.item(), low=bounds[0].item(), high=bounds[1].item(), p=whole.p.item(),
        smallest=whole.smallest(settings.risk, settings.power).item(), rows=rows, risk=settings.risk,
    )  # fmt: skip


def _mean(values: NDArray[np.float64], members: NDArray[np.bool_], clusters: NDArray[np.int64]) -> ClusteredDifference:
    """The mean of some values, (1, n), in points, with its error by cluster: as `clustered_difference` has a side.

    With n values, G clusters and residuals e about the mean: `SE² = G/(G - 1) · Σ_g (Σ_{i ∈ g} e_i / n)²`.
    """
    chosen, groups = values[0, members], np.unique(clusters[members], return_inverse=True)[1]
    sums = np.bincount(groups, weights=chosen - chosen.mean()) / len(chosen)
    number = len(sums)
    error = 100 * np.sqrt(number / (number - 1) * (sums**2).sum()) if number > 1 else np.nan
    return ClusteredDifference(np.array([[100 * chosen.mean()]]), np.array([[error]]), np.array([number]))
