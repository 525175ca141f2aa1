"""Tables 1 to 3: ODmAP and R@k of every cell, how sure they are, and which rows differ (decorrelation.md §3, 5).

Cells that differ only in their seed are one row: the mean over seeds, its spread, and a bootstrap interval over
pictures. Beside it stands the score by chance: the expectation of ODmAP under a random order.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.tables import read_table
from trivium.decorrelation.co_occurrence import count_co_occurrence, partners
from trivium.decorrelation.evaluation.answers import CUTOFFS, LISTS, SKEW_AT, Answers, DataSet, chance
from trivium.decorrelation.evaluation.comparisons import (
    WHOLE,
    WITHIN,
    EvaluateParameters,
    Measured,
    PictureBootstrap,
    comparable,
    compare,
    compared_variants,
)
from trivium.decorrelation.matrix import Cell
from trivium.formats.pictures import Corpus
from trivium.measures.bootstrap import OPTIONS

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
        asked = answered.queries
        metrics[f"{dataset}_{kind}_queries"] = float(len(asked.ids))
        metrics[f"{dataset}_{kind}_pictures"] = float(len(np.unique(asked.pictures)))
        if kind not in LISTS:
            continue
        if kind in REMOVED:
            metrics[f"{dataset}_{kind}_partner_remains"] = float(asked.partner_remains.sum())
        if kind in ("synthetic", "empty"):
            metrics[f"{dataset}_{kind}_not_asked"] = float(len(data.queries[kind].ids) - len(asked.ids))
        for k, values in chance(data.gallery, asked, CUTOFFS).items():
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


def usual_partners(corpus: Corpus, least: float) -> dict[str, str]:
    """{class: the class most often beside it}, of those that stand there in at least that part of its pictures."""
    probability = count_co_occurrence(corpus).probability()
    code = {name: place for place, name in enumerate(corpus.classes)}
    return {name: other for name, other in partners(corpus).items() if probability[code[name], code[other]] >= least}


def comparisons(
    measured: Mapping[str, Mapping[str, Measured]], parameters: EvaluateParameters
) -> Iterator[dict[str, Any]]:
    """Rows of comparisons.json: variants of one model on one set, and two sets within one row.

    `measured` is {variant: {set: values}} of one model on one data set.
    """
    for variant, other in compared_variants(list(measured)):
        for kind, left in measured[variant].items():
            right = measured[other].get(kind)
            if right is not None and comparable(kind, left.cell, right.cell):
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
