"""Tables 1 to 3: ODmAP and R@k of every cell, how sure they are, and which rows differ (decorrelation.md §3, 5).

Cells that differ only in their seed are one row: the mean over seeds, its spread, and a bootstrap interval over
pictures. Beside it stands the score by chance: the expectation of ODmAP under a random order. Intervals of means and
tests of differences between rows resample whole pictures.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from trivium.core.parameters import Parameters
from trivium.core.tables import read_table
from trivium.decorrelation.evaluation.answers import CUTOFFS, LISTS, SKEW_AT, Answers, DataSet, chance
from trivium.decorrelation.matrix import Cell
from trivium.measures.bootstrap import OPTIONS
from trivium.measures.significance import fisher_randomization


class EvaluateParameters(Parameters):
    """Section `decorrelation.evaluate`."""

    partner_probability: float = Field(
        ge=0, le=1, description="Least P(k | c) in training pictures for k to be called the partner of class c"
    )
    permutations: int = Field(ge=100, description="Sign vectors drawn by the randomization tests")
    confidence: float = Field(gt=0, lt=1, description="Of the bootstrap intervals")
    resamples: int = Field(ge=100, description="Bootstrap draws of pictures")
    seed: int = Field(ge=0, description="Of the tests' and the bootstrap's draws")


class PictureBootstrap:
    """Draws of pictures with replacement, made once and used for every mean over queries of these pictures.

    With S_g the sum and n_g the number of the values of picture g, drawn w_g times: `mean* = Σ w_g S_g / Σ w_g n_g`
    (Cameron, Gelbach & Miller 2008, §II). Means over the same draws can be compared.

    `pictures` are (queries,) the picture of each; the intervals are two-sided percentile intervals.
    """

    def __init__(
        self, pictures: Sequence[int] | NDArray[np.int64], *, confidence: float, resamples: int, seed: int
    ) -> None:
        names, self._member = np.unique(np.asarray(pictures), return_inverse=True)
        self._bounds = [(1 - confidence) / 2, (1 + confidence) / 2]
        self._drawn = _draws(len(names), resamples, seed).astype(np.float32)

    def interval(self, values: ArrayLike) -> tuple[float, float] | None:
        """(low, high) of the mean of (queries,) values but NaNs; None when they come from fewer than two pictures."""
        values = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(values)
        width = self._drawn.shape[1]
        sizes = np.bincount(self._member[finite], minlength=width).astype(np.float64)
        if (sizes > 0).sum() < 2:
            return None
        sums = np.bincount(self._member[finite], weights=values[finite], minlength=width)
        drawn = self._drawn @ sizes
        means = (self._drawn @ sums)[drawn > 0] / drawn[drawn > 0]  # a small subset may be missed by a draw
        low, high = np.quantile(means, self._bounds)
        return float(low), float(high)


@lru_cache(maxsize=8)  # the sets of one data set are asked again for each cell
def _draws(pictures: int, resamples: int, seed: int) -> NDArray[np.uint16]:
    """(resamples, pictures), how often each is drawn."""
    even = np.full(pictures, 1 / max(1, pictures))
    return np.random.default_rng(seed).multinomial(pictures, even, size=resamples).astype(np.uint16)


WHOLE = "all"  # the subset that is every query
PAINTED = ("synthetic", "empty", "empty_image_to_text")  # sets whose pictures depend on the queries' filling
WITHIN = (("synthetic", "rendered"), ("empty_image_to_text", "image_to_text"))  # sets of one row that are compared


@dataclass(frozen=True)
class Measured:
    """The per-query values of one group of cells, of which `cell` is any, on one set of queries.

    `pictures` are (queries,), that each was made from; `subsets` {name: (queries,) member}, `all` first; `values`
    {measure: (seeds, queries)}.
    """

    cell: Cell
    seeds: tuple[int, ...]
    queries: tuple[str, ...]
    pictures: NDArray[np.int64]
    subsets: Mapping[str, NDArray[np.bool_]]
    values: Mapping[str, NDArray[np.float64]]

    def by_query(self, measure: str) -> NDArray[np.float64]:
        """(queries,) means over the seeds."""
        return self.values[measure].mean(axis=0)


def compared_variants(variants: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Variants of one model and data set that are compared: each with `finetune`, and `ours` with each."""
    for variant in variants:
        if variant != "finetune" and "finetune" in variants:
            yield variant, "finetune"
        if variant not in ("ours", "finetune") and "ours" in variants:
            yield "ours", variant


def compare(left: Measured, right: Measured, parameters: EvaluateParameters) -> list[dict[str, Any]]:
    """Left minus right, for every measure and subset that both have, over their common queries.

    Values are means over the seeds. The randomization test (`fisher_randomization`) swaps all queries of a picture
    together, and the interval draws pictures: queries of one picture are not independent.

    Returns:
        Rows `measure`, `subset`, `queries`, `pictures`, `value`, `other_value`, `difference`, `low`, `high` (None from
        fewer than two pictures), `p`, and `difference_sd` over seeds (None unless both have the same two or more).
    """
    _, mine, theirs = np.intersect1d(left.queries, right.queries, return_indices=True)
    order = np.argsort(mine)
    mine, theirs = mine[order], theirs[order]
    measures = [name for name in left.values if name in right.values]
    pictures = left.pictures[mine]
    rows = []
    for subset, member in left.subsets.items():
        chosen = member[mine]
        if not chosen.any():
            continue
        bootstrap = PictureBootstrap(pictures[chosen], **parameters.model_dump(include=OPTIONS))
        ours, other = (
            np.stack([of.by_query(name)[rows_of][chosen] for name in measures])
            for of, rows_of in ((left, mine), (right, theirs))
        )
        p = _randomization(ours - other, pictures[chosen], parameters.permutations, parameters.seed)
        counts = {"queries": int(chosen.sum()), "pictures": len(np.unique(pictures[chosen]))}
        for name, a, b, p_value in zip(measures, ours, other, p, strict=True):
            low, high = bootstrap.interval(a - b) or (None, None)
            spread = _spread(left, right, name, mine[chosen], theirs[chosen])
            values = {"value": float(a.mean()), "other_value": float(b.mean()), "difference": float((a - b).mean())}
            tested = {"low": low, "high": high, "p": float(p_value), "difference_sd": spread}
            rows.append({"measure": name, "subset": subset, **counts, **values, **tested})
    return rows


def _randomization(
    differences: NDArray[np.float64], pictures: NDArray[np.int64], permutations: int, seed: int
) -> NDArray[np.float64]:
    """(measures,) p-values from (measures, queries) differences, whose signs change by picture."""
    _, member = np.unique(pictures, return_inverse=True)
    sums = [np.bincount(member, weights=row) for row in differences]
    # Beside a system of zeros, a row of differences is itself the difference that the test looks at.
    return fisher_randomization([*sums, np.zeros_like(sums[0])], permutations=permutations, seed=seed)[:-1, -1]


def _spread(
    left: Measured, right: Measured, measure: str, mine: NDArray[np.int64], theirs: NDArray[np.int64]
) -> float | None:
    """Standard deviation over seeds of the mean difference."""
    if left.seeds != right.seeds or len(left.seeds) < 2:
        return None
    means = (left.values[measure][:, mine] - right.values[measure][:, theirs]).mean(axis=1)
    return float(means.std(ddof=1))


SPLIT_BY = ("odmap@1", "removed_named")  # also split by whether the partner remains, and by class
REMOVED = ("synthetic", "rendered")  # sets from whose pictures a class is gone
CLASS_COLUMNS = ("group", "set", "class", "queries", "pictures", *SPLIT_BY)


def gather(cells: Mapping[str, Cell], answers: Mapping[str, Mapping[str, Answers]]) -> dict[str, Measured]:
    """{set: the values of one group on it}; answers are by cell and set, and all seeds were asked the same."""
    names, first = list(cells), next(iter(cells.values()))
    measured = {}
    for kind, first_answers in answers[names[0]].items():
        every, queries = [answers[name][kind] for name in names], first_answers.queries
        subsets = {WHOLE: np.ones(len(queries.ids), dtype=np.bool_)}
        if kind in REMOVED:
            subsets |= {"partner_remains": queries.partner_remains, "elsewhere": ~queries.partner_remains}
        values = {measure: np.stack([answer.values[measure] for answer in every]) for measure in first_answers.values}
        seeds = tuple(cell.seed for cell in cells.values())
        measured[kind] = Measured(first, seeds, queries.ids, queries.pictures, subsets, values)
    return measured


def cell_metrics(cell: str, answers: Mapping[str, Answers]) -> dict[str, float]:
    """Means of one cell, `{cell}_{set}_{measure}`, and how skewed retrieval is."""
    metrics: dict[str, float] = {}
    for kind, answered in answers.items():
        metrics |= {f"{cell}_{kind}_{name}": float(values.mean()) for name, values in answered.values.items()}
        if answered.skew is not None:
            metrics[f"{cell}_{kind}_k_skew@{SKEW_AT}"] = answered.skew
    return metrics


def group_metrics(group: str, measured: Mapping[str, Measured], parameters: EvaluateParameters) -> dict[str, float]:
    """A row of the tables: `{group}_{set}_{measure}`, with `_sd` over seeds and `_low`, `_high` over pictures."""
    metrics: dict[str, float] = {}
    for kind, on_set in measured.items():
        bootstrap = PictureBootstrap(on_set.pictures, **parameters.model_dump(include=OPTIONS))
        metrics[f"{group}_{kind}_seeds"] = float(len(on_set.seeds))
        for measure in on_set.values:
            for subset, member in on_set.subsets.items():
                if not member.any() or (subset != WHOLE and measure not in SPLIT_BY):
                    continue
                key = f"{group}_{kind}_{measure}" + ("" if subset == WHOLE else f"_{subset}")
                means = on_set.values[measure][:, member].mean(axis=1)
                metrics[key] = float(means.mean())
                if len(means) > 1:
                    metrics[f"{key}_sd"] = float(means.std(ddof=1))
                if interval := bootstrap.interval(np.where(member, on_set.by_query(measure), np.nan)):
                    metrics[f"{key}_low"], metrics[f"{key}_high"] = interval
    return metrics


def set_metrics(dataset: str, data: DataSet, answers: Mapping[str, Answers]) -> dict[str, float]:
    """Metrics of each set: its queries, and the score of a random order of the gallery.

    `answers` are any cell's: which queries they hold is the same for all.
    """
    metrics = {f"{dataset}_captions": float(len(data.gallery.ids))}
    for kind, answered in answers.items():
        queries = answered.queries
        metrics[f"{dataset}_{kind}_queries"] = float(len(queries.ids))
        metrics[f"{dataset}_{kind}_pictures"] = float(len(np.unique(queries.pictures)))
        if kind not in LISTS:
            continue
        if kind in REMOVED:
            metrics[f"{dataset}_{kind}_partner_remains"] = float(queries.partner_remains.sum())
        if kind in ("synthetic", "empty"):
            metrics[f"{dataset}_{kind}_not_asked"] = float(len(data.queries[kind].ids) - len(queries.ids))
        for k, values in chance(data.gallery, queries, CUTOFFS).items():
            metrics[f"{dataset}_{kind}_chance_odmap@{k}"] = float(values.mean())
    return metrics


def by_class(group: str, measured: Mapping[str, Measured], answers: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """A row's values for every removed class (CLASS_COLUMNS)."""
    for kind in REMOVED:
        if kind not in measured:
            continue
        labels = np.array(answers[kind].queries.class_names)
        for name in sorted(set(labels.tolist())):
            member = labels == name
            means = {measure: float(measured[kind].by_query(measure)[member].mean()) for measure in SPLIT_BY}
            counts = {"queries": int(member.sum()), "pictures": len(np.unique(measured[kind].pictures[member]))}
            yield {"group": group, "set": kind, "class": name, **counts, **means}


GAINS = (("synthetic", "odmap@1"), ("image_to_text", "r@1"))


def comparisons(
    measured: Mapping[str, Mapping[str, Measured]], parameters: EvaluateParameters
) -> Iterator[dict[str, Any]]:
    """Rows of comparisons.json: variants of one model on the same pictures of one set, and two sets within one row.

    `measured` is {variant: {set: values}} of one model on one data set.
    """
    for variant, other in compared_variants(list(measured)):
        for kind, left in measured[variant].items():
            right = measured[other].get(kind)
            if right is not None and (kind not in PAINTED or left.cell.queries == right.cell.queries):
                for row in compare(left, right, parameters):
                    yield _named(left, right, kind, kind) | row
    for sets in measured.values():
        for kind, other in WITHIN:
            if kind in sets and other in sets:
                for row in compare(sets[kind], sets[other], parameters):
                    yield _named(sets[kind], sets[other], kind, other) | row


def _named(left: Measured, right: Measured, kind: str, other: str) -> dict[str, Any]:
    cell = {"dataset": left.cell.dataset, "model": left.cell.model, "variant": left.cell.variant, "set": kind}
    against = {"other_variant": right.cell.variant, "other_set": other}
    return cell | against | {"seeds": len(left.seeds), "other_seeds": len(right.seeds)}


def gains(compared: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The headline of the comparisons: `{dataset}_{model}_gain_{measure}` of ours on finetune, and its `_p`."""
    metrics: dict[str, float] = {}
    for row in compared:
        ours = (row["variant"], row["other_variant"], row["subset"]) == ("ours", "finetune", WHOLE)
        if ours and (row["set"], row["measure"]) in GAINS:
            key = f"{row['dataset']}_{row['model']}_gain_{row['measure']}"
            metrics |= {key: row["difference"], f"{key}_p": row["p"]}
    return metrics


def synthetic_ratio(cell: Cell, folder: Path, training: int) -> float:
    """|D'| / |D| in pairs (figure 4): the part of D' that a cell uses, over the training captions of its data set."""
    if not cell.synthetic:
        return 0.0
    path = folder / cell.dataset / f"{cell.filling}_{cell.captions}.parquet"
    made = Counter(read_table(path, ["removal"])["removal"].to_pylist())
    return cell.share * sum(min(count, cell.captions_an_image) for count in made.values()) / training
