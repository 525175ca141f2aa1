"""The numbers of the tables: means of cells and of rows, by subset and by class, and what luck scores."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from trivium.core.errors import BadInput
from trivium.decorrelation.evaluation.asked_cells import LISTS, SKEW_AT, Answers, DataSet
from trivium.decorrelation.evaluation.chance import chance
from trivium.decorrelation.evaluation.comparisons import WHOLE, Measured
from trivium.decorrelation.evaluation.intervals import PictureBootstrap
from trivium.decorrelation.evaluation.lists import CUTOFFS
from trivium.decorrelation.matrix import Cell

SPLIT_BY = ("odmap@1", "removed_named")  # also told by whether the partner remains, and by class
REMOVED = ("synthetic", "rendered")  # sets from whose pictures a class is gone
CLASS_COLUMNS = ("group", "set", "class", "queries", "pictures", *SPLIT_BY)


def gather(cells: Mapping[str, Cell], answers: Mapping[str, Mapping[str, Answers]]) -> dict[str, Measured]:
    """{set: the values of one group on it}; answers are by cell and set.

    Raises:
        BadInput: the seeds were asked different queries.
    """
    names, first = list(cells), next(iter(cells.values()))
    found = {}
    for kind, told in answers[names[0]].items():
        every = [answers[name][kind] for name in names]
        for name, each in zip(names, every, strict=True):
            if each.queries != told.queries:
                raise BadInput(f"seeds with different queries of set {kind}", got=name, expected=f"those of {names[0]}")
        subsets = {WHOLE: np.ones(len(told.queries), dtype=np.bool_)}
        if kind in REMOVED:
            subsets |= {"partner_remains": told.partner_remains, "elsewhere": ~told.partner_remains}
        values = {measure: np.stack([each.values[measure] for each in every]) for measure in told.values}
        seeds = tuple(cell.seed for cell in cells.values())
        found[kind] = Measured(first, seeds, told.queries, told.pictures, subsets, values)
    return found


def cell_metrics(cell: str, answers: Mapping[str, Answers]) -> dict[str, float]:
    """Means of one cell, `{cell}_{set}_{measure}`, and how skewed retrieval is."""
    metrics: dict[str, float] = {}
    for kind, each in answers.items():
        metrics |= {f"{cell}_{kind}_{name}": float(values.mean()) for name, values in each.values.items()}
        if each.skew is not None:
            metrics[f"{cell}_{kind}_k_skew@{SKEW_AT}"] = each.skew
    return metrics


def group_metrics(
    group: str, measured: Mapping[str, Measured], *, confidence: float, resamples: int, seed: int
) -> dict[str, float]:
    """A row of the tables: `{group}_{set}_{measure}`, with `_sd` over seeds and `_low`, `_high` over pictures."""
    metrics: dict[str, float] = {}
    for kind, each in measured.items():
        bootstrap = PictureBootstrap(each.pictures, confidence=confidence, resamples=resamples, seed=seed)
        metrics[f"{group}_{kind}_seeds"] = float(len(each.seeds))
        for measure in each.values:
            for subset, member in each.subsets.items():
                if not member.any() or (subset != WHOLE and measure not in SPLIT_BY):
                    continue
                key = f"{group}_{kind}_{measure}" + ("" if subset == WHOLE else f"_{subset}")
                means = each.values[measure][:, member].mean(axis=1)
                metrics[key] = float(means.mean())
                if len(means) > 1:
                    metrics[f"{key}_sd"] = float(means.std(ddof=1))
                if interval := bootstrap.interval(np.where(member, each.by_query(measure), np.nan)):
                    metrics[f"{key}_low"], metrics[f"{key}_high"] = interval
    return metrics


def set_metrics(dataset: str, data: DataSet, asked: Mapping[str, Answers]) -> dict[str, float]:
    """How many queries each set has, and what a random order of the gallery would score on them.

    Args:
        dataset: its name.
        data: its questions.
        asked: any cell's answers; which queries they hold is the same for all.
    """
    metrics = {f"{dataset}_captions": float(len(data.gallery.ids))}
    for kind, each in asked.items():
        metrics[f"{dataset}_{kind}_queries"] = float(len(each.queries))
        metrics[f"{dataset}_{kind}_pictures"] = float(len(np.unique(each.pictures)))
        if kind not in LISTS:
            continue
        queries = data.queries[kind]
        if kind in REMOVED:
            metrics[f"{dataset}_{kind}_partner_remains"] = float(each.partner_remains.sum())
        if kind in ("synthetic", "empty"):
            metrics[f"{dataset}_{kind}_not_asked"] = float(len(queries.ids) - len(each.queries))
        for k, values in chance(data.gallery, queries.select(each.queries), CUTOFFS).items():
            metrics[f"{dataset}_{kind}_chance_odmap@{k}"] = float(values.mean())
    return metrics


def by_class(group: str, measured: Mapping[str, Measured], asked: Mapping[str, Answers]) -> Iterator[dict[str, Any]]:
    """A row's values for every removed class (CLASS_COLUMNS)."""
    for kind in REMOVED:
        if kind not in measured:
            continue
        labels = np.array(asked[kind].class_names)
        for name in sorted(set(labels.tolist())):
            member = labels == name
            means = {measure: float(measured[kind].by_query(measure)[member].mean()) for measure in SPLIT_BY}
            counts = {"queries": int(member.sum()), "pictures": len(np.unique(measured[kind].pictures[member]))}
            yield {"group": group, "set": kind, "class": name, **counts, **means}
