"""One data set's questions, and what one trained model answers to them: the files of stage retrieve, judged (§3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.errors import BadInput
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


def read_lists(file: Path, gallery: int) -> tuple[list[str], NDArray[np.int64]]:
    """Read the sentences of every query.

    Args:
        file: `query` and `captions`.
        gallery: captions there are.

    Returns:
        The queries and (queries, depth) caption ids, best first.

    Raises:
        BadInput: no query, lists of different lengths, or shorter than the largest cut-off.
    """
    table = read_table(file, ["query", "captions"])
    lists = table["captions"].combine_chunks()
    lengths = np.unique(lists.value_lengths().to_numpy(zero_copy_only=False))
    if len(lengths) != 1:
        raise BadInput("lists of different lengths, or no list", file=file, field="captions", got=lengths.tolist())
    depth = int(lengths[0])
    if depth < max(CUTOFFS):
        expected = f"at least {max(CUTOFFS)} for ODmAP@{max(CUTOFFS)}; the gallery holds {gallery} captions"
        raise BadInput("lists too short", file=file, field="captions", got=depth, expected=expected)
    return table["query"].to_pylist(), lists.flatten().to_numpy().reshape(-1, depth)


def read_ranks(file: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Read (queries, ranks), ranks from 1.

    Raises:
        BadInput: no query, one twice, or a rank below 1.
    """
    table = read_table(file, ["query", "rank"])
    queries, ranks = (table[name].to_numpy().astype(np.int64) for name in ("query", "rank"))
    if not len(queries) or len(np.unique(queries)) < len(queries):
        raise BadInput("no query, or one twice", file=file, field="query")
    if ranks.min() < 1:
        raise BadInput("not a rank", file=file, field="rank", got=int(ranks.min()), expected="1 for the best")
    return queries, ranks


def judge(
    gallery: Gallery, queries: Queries, captions: NDArray[np.int64], file: Path
) -> dict[str, NDArray[np.float64]]:
    """Values of every query.

    A sentence is correct when it names none of the removed classes and at least one that is present. Of original
    pictures nothing is removed: there ODmAP is the precision of the classes named.

    Args:
        gallery: of the data set.
        queries: in the order of the lists.
        captions: (queries, depth) ids.
        file: that they come from.

    Returns:
        {measure: (queries,)}: `odmap@k`; `absent_named`, whether the first sentence names any class that is not in the
        picture; and where classes were removed `removed_named`, whether it names one of those.
    """
    best = captions[:, : max(CUTOFFS)]
    ranked = gallery.rows(best.ravel(), file).reshape(best.shape)
    by_cutoff = odmap(ranked, gallery.names, queries.removed, queries.present, CUTOFFS)
    values = {f"odmap@{k}": each for k, each in by_cutoff.items()}
    absent = ~queries.present
    values["absent_named"] = names_any(ranked[:, :1], gallery.names, absent)[:, 0].astype(np.float64)
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
    """What can be asked of a data set.

    Attributes:
        gallery: its captions, of all splits.
        queries: {set of LISTS: its queries}.
        training_captions: how many of the gallery are of training pictures.
    """

    gallery: Gallery
    queries: Mapping[str, Queries]
    training_captions: int


@dataclass(frozen=True)
class Answers:
    """What one cell answers to one set of queries.

    Attributes:
        queries: ids.
        pictures: (queries,) the picture of each.
        class_names, partner_remains: of each; empty and False in a set that is about ranks.
        values: {measure: (queries,)}.
        ranks: (queries,) of the first own one, in a set that is about ranks.
        skew: skewness of how often a sentence is among the first ten, in a set that is about lists.
    """

    queries: tuple[str, ...]
    pictures: NDArray[np.int64]
    class_names: tuple[str, ...]
    partner_remains: NDArray[np.bool_]
    values: Mapping[str, NDArray[np.float64]]
    ranks: NDArray[np.int64] | None = None
    skew: float | None = None


def read_data_set(corpus: Corpus, phrases: Path, removals: Path, partners: Mapping[str, str]) -> DataSet:
    """The gallery and the queries of one data set.

    Args:
        corpus: of its raw files.
        phrases: its captions with the classes that each names.
        removals: folder of its `removals.parquet` and `empty.parquet`.
        partners: {class: the class that usually stands beside it}.
    """
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
    """Judge all that stage retrieve wrote for a cell.

    Raises:
        BadInput: a file is missing, is not what it should be, or is about other queries or captions.
    """
    if not folder.is_dir():
        raise BadInput("no retrieved sentences of this cell", file=folder, expected="stage retrieve to have run")
    found = {}
    for kind in LISTS:
        file = folder / f"{kind}.parquet"
        if kind not in OPTIONAL or file.exists():
            found[kind] = _lists(file, data, kind)
    for kind in RANKS:
        found[kind] = _ranks(folder / f"{kind}.parquet", data.gallery, by_caption=kind == "text_to_image")
    return found


def _lists(file: Path, data: DataSet, kind: str) -> Answers:
    asked, captions = read_lists(file, len(data.gallery.ids))
    queries = data.queries[kind].select(asked, file)
    if kind == "original":  # beside the painted pictures' values: those of the same pictures, with at least two classes
        behind = np.flatnonzero(np.isin(queries.pictures, data.queries["synthetic"].pictures))
        queries, captions = data.queries[kind].select([asked[row] for row in behind], file), captions[behind]
    return Answers(
        queries.ids,
        queries.pictures,
        queries.class_names,
        queries.partner_remains,
        judge(data.gallery, queries, captions, file),
        skew=occurrence_skew(data.gallery.rows(captions[:, :SKEW_AT].ravel(), file), len(data.gallery.ids)),
    )


def _ranks(file: Path, gallery: Gallery, *, by_caption: bool) -> Answers:
    asked, ranks = read_ranks(file)
    pictures = gallery.pictures[gallery.rows(asked, file)] if by_caption else asked
    return Answers(
        tuple(map(str, asked.tolist())),
        pictures,
        ("",) * len(asked),
        np.zeros(len(asked), dtype=np.bool_),
        recalls(ranks),
        ranks=ranks,
    )


def per_query(cell: str, kind: str, answers: Answers) -> pa.Table:
    """Rows of evaluation.parquet (SCHEMA); what a set does not measure is null."""
    count = len(answers.queries)
    columns: dict[str, pa.Array] = {
        "cell": pa.array([cell] * count, pa.string()),
        "set": pa.array([kind] * count, pa.string()),
        "query": pa.array(answers.queries, pa.string()),
        "picture": pa.array(answers.pictures, pa.int64()),
        "class": pa.array(answers.class_names, pa.string()),
        "partner_remains": pa.array(answers.partner_remains, pa.bool_()),
        "rank": pa.nulls(count, pa.int64()) if answers.ranks is None else pa.array(answers.ranks, pa.int64()),
    }
    for name in (*ODMAP, *NAMED):
        kept = answers.values.get(name)
        type_of = SCHEMA.field(name).type
        columns[name] = pa.nulls(count, type_of) if kept is None else pa.array(kept).cast(type_of)
    return pa.table(columns, schema=SCHEMA)
