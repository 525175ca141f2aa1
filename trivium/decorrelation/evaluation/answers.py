"""One data set's questions, and what one trained model answers to them: the files of stage retrieve, judged (§3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.decorrelation.evaluation.queries import (
    Gallery,
    Queries,
    original_queries,
    read_gallery,
    read_removals,
    rendered_queries,
)
from trivium.formats.pictures import Corpus
from trivium.measures.odmap import names_any, odmap, removed_named
from trivium.measures.recall import occurrence_skew, recall

CUTOFFS = (1, 5, 10)
ODMAP = tuple(f"odmap@{k}" for k in CUTOFFS)
RECALL = tuple(f"r@{k}" for k in CUTOFFS)
NAMED = ("removed_named", "absent_named")  # by the first sentence


def judge(gallery: Gallery, queries: Queries, captions: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """Judge the captions that each query retrieved.

    A sentence is correct when it names none of the removed classes and at least one that is present. Of original
    pictures nothing is removed: there ODmAP is the precision of the classes named. `captions` are (queries, depth)
    ids, in the order of the queries.

    Returns:
        {measure: (queries,)}: `odmap@k`; `absent_named`, whether the first sentence names any class that is not in the
        picture; and where classes were removed `removed_named`, whether it names one of those.
    """
    ranked = gallery.rows(captions[:, : max(CUTOFFS)])
    by_cutoff = odmap(ranked, gallery.names, queries.removed, queries.present, CUTOFFS)
    values = {f"odmap@{k}": precisions for k, precisions in by_cutoff.items()}
    values["absent_named"] = names_any(ranked[:, :1], gallery.names, ~queries.present)[:, 0].astype(np.float64)
    if queries.removed.any():
        values["removed_named"] = removed_named(ranked, gallery.names, queries.removed).astype(np.float64)
    return values


def recalls(ranks: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """{`r@k`: (queries,) whether the first own one is among the best k}."""
    return {f"r@{k}": recall(ranks, k) for k in CUTOFFS}


LISTS = ("synthetic", "rendered", "empty", "original")
RANKS = ("image_to_text", "text_to_image", "empty_image_to_text")
OPTIONAL = ("rendered",)  # of a sample world only
SKEW_AT = 10
SCHEMA = pa.schema(
    [
        ("cell", pa.string()),
        ("set", pa.string()),
        ("query", pa.string()),
        ("picture", pa.int64()),
        ("class", pa.string()),
        ("partner_remains", pa.bool_()),
        *((name, pa.float64()) for name in ODMAP),
        *((name, pa.bool_()) for name in NAMED),
        ("rank", pa.int64()),
    ]
)


@dataclass(frozen=True)
class DataSet:
    """The captions of all splits, {set of LISTS: its queries}, and how many captions are of training pictures."""

    gallery: Gallery
    queries: Mapping[str, Queries]
    training_captions: int


@dataclass(frozen=True)
class Answers:
    """The answers of one cell to one set of queries.

    Attributes:
        queries: ids.
        pictures: (queries,) the picture of each.
        values: {measure: (queries,)}.
        class_names, partner_remains: of each; empty and False in a set that is about ranks.
        ranks: (queries,) of the first own one, in a set that is about ranks.
        skew: skewness of how often a sentence is among the first ten, in a set that is about lists.
    """

    queries: tuple[str, ...]
    pictures: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]
    class_names: tuple[str, ...]
    partner_remains: NDArray[np.bool_]
    ranks: NDArray[np.int64] | None = None
    skew: float | None = None


def read_data_set(corpus: Corpus, phrases: Path, removals: Path, partners: Mapping[str, str]) -> DataSet:
    """The gallery and the queries of one data set; `partners` is {class: the class that usually stands beside it}."""
    return DataSet(
        read_gallery(phrases, corpus.classes),
        {
            "synthetic": read_removals(removals / "removals.parquet", corpus.classes, partners),
            "rendered": rendered_queries(corpus.pictures, corpus.classes, partners),
            "empty": read_removals(removals / "empty.parquet", corpus.classes, partners),
            "original": original_queries(corpus.pictures, corpus.classes),
        },
        sum(len(picture.captions) for picture in corpus.pictures if picture.split == "train"),
    )


def read_answers(folder: Path, data: DataSet) -> dict[str, Answers]:
    """Judge all that stage retrieve wrote for a cell."""
    files = {kind: folder / f"{kind}.parquet" for kind in (*LISTS, *RANKS)}
    return {
        kind: _lists(file, data, kind) if kind in LISTS else _ranks(file, data.gallery, kind)
        for kind, file in files.items()
        if kind not in OPTIONAL or file.exists()
    }


def _lists(file: Path, data: DataSet, kind: str) -> Answers:
    table = read_table(file, ["query", "captions"])
    captions = np.array(table["captions"].to_pylist(), np.int64)
    queries = data.queries[kind].select(table["query"].to_pylist())
    if kind == "original":  # beside the painted pictures' values: those of the same pictures, with at least two classes
        behind = np.flatnonzero(np.isin(queries.pictures, data.queries["synthetic"].pictures))
        queries, captions = queries.select([queries.ids[row] for row in behind]), captions[behind]
    return Answers(
        queries.ids,
        queries.pictures,
        judge(data.gallery, queries, captions),
        queries.class_names,
        queries.partner_remains,
        skew=occurrence_skew(data.gallery.rows(captions[:, :SKEW_AT].ravel()), len(data.gallery.ids)),
    )


def _ranks(file: Path, gallery: Gallery, kind: str) -> Answers:
    table = read_table(file, ["query", "rank"])
    queries, ranks = (table[name].to_numpy().astype(np.int64) for name in ("query", "rank"))
    pictures = gallery.pictures[gallery.rows(queries)] if kind == "text_to_image" else queries
    absent = np.zeros(len(queries), dtype=np.bool_)
    return Answers(
        tuple(map(str, queries.tolist())), pictures, recalls(ranks), ("",) * len(queries), absent, ranks=ranks
    )


def per_query(cell: str, kind: str, answers: Answers) -> pa.Table:
    """Rows of evaluation.parquet (SCHEMA); what a set does not measure is null."""
    count = len(answers.queries)
    columns: dict[str, Any] = {
        "cell": [cell] * count,
        "set": [kind] * count,
        "query": answers.queries,
        "picture": answers.pictures,
        "class": answers.class_names,
        "partner_remains": answers.partner_remains,
        "rank": answers.ranks,
    } | {name: answers.values.get(name) for name in (*ODMAP, *NAMED)}
    arrays = [
        pa.nulls(count, field.type) if columns[field.name] is None else pa.array(columns[field.name]).cast(field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)
