"""Queries of ODmAP, the captions they are asked about, and the judged answers of a trained model (decorrelation.md §3).

A query says which classes went from a picture and which stayed; the answers are the files of stage `retrieve`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.formats.pictures import Corpus, removal_id
from trivium.measures.odmap import names_any, occurrence_skew, odmap, recall


@dataclass(frozen=True)
class Gallery:
    """Every caption of a data set, by ascending id, Karpathy's `sentid`, with the picture that it describes.

    `names` are (captions, classes), whether a noun phrase of it names the class.
    """

    ids: NDArray[np.int64]
    pictures: NDArray[np.int64]
    names: NDArray[np.bool_]

    def rows(self, captions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of captions in the gallery."""
        return np.searchsorted(self.ids, captions)


@dataclass(frozen=True)
class Queries:
    """One set of queries.

    Attributes:
        ids: removal ids; of original pictures the picture ids.
        pictures: (queries,) the picture that each was made from.
        class_names: c_r of each, empty where nothing was removed.
        removed, present: (queries, classes) the classes that went, and those still in the picture.
        partner_remains: (queries,) whether the class that usually stands beside c_r is still there.
    """

    ids: tuple[str, ...]
    pictures: NDArray[np.int64]
    class_names: tuple[str, ...]
    removed: NDArray[np.bool_]
    present: NDArray[np.bool_]
    partner_remains: NDArray[np.bool_]

    def select(self, ids: Sequence[str]) -> "Queries":
        """These queries, in this order."""
        place = {name: row for row, name in enumerate(self.ids)}
        rows = np.array([place[name] for name in ids], dtype=np.int64)
        return Queries(
            tuple(ids),
            self.pictures[rows],
            tuple(self.class_names[row] for row in rows),
            self.removed[rows],
            self.present[rows],
            self.partner_remains[rows],
        )


def read_removals(file: Path, classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """The test queries of a table of removals, masks not read."""
    table = read_table(file, ["removal", "picture", "split", "class", "removed", "remaining"])
    table = table.filter(pc.equal(table["split"], "test"))
    columns = [table[name].to_pylist() for name in ("removal", "picture", "class", "removed", "remaining")]
    return make_queries(zip(*columns, strict=True), classes, partners)


def make_queries(rows: Iterable[Sequence[Any]], classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """Queries of rows (id, picture, c_r, classes that went, classes that stayed)."""
    made = list(rows)
    ids, pictures, names, removed, present = zip(*made, strict=True) if made else ((), (), (), (), ())
    stays = class_matrix(present, classes)
    code = {name: place for place, name in enumerate(classes)}
    partner = np.array([code[partners[name]] if name in partners else -1 for name in names], dtype=np.int64)
    remains = (partner >= 0) & stays[np.arange(len(names)), partner]
    return Queries(ids, np.array(pictures, np.int64), names, class_matrix(removed, classes), stays, remains)


def class_matrix(rows: Sequence[Sequence[str]], classes: Sequence[str]) -> NDArray[np.bool_]:
    """(rows, classes) whether each row holds the class."""
    code = {name: place for place, name in enumerate(classes)}
    matrix = np.zeros((len(rows), len(classes)), dtype=np.bool_)
    for row, names in enumerate(rows):
        matrix[row, [code[name] for name in names]] = True
    return matrix


_CHUNK = 1024  # queries at a time


def expected_precision(correct: NDArray[np.int64], gallery: int, k: int) -> NDArray[np.float64]:
    """E[(1/k) Σ_{i≤k} P@i · rel_i] over all orders of a gallery with so many correct sentences.

    With n correct among N: rank i is correct with probability p = n / N, and then each rank before it with
    q = (n - 1) / (N - 1); so E[P@i · rel_i] = (p / i) (1 + (i - 1) q). `correct` is n of each query, `gallery` N.
    """
    p = correct / gallery
    q = np.maximum(correct - 1, 0) / max(1, gallery - 1)
    ranks = np.arange(1, k + 1)
    return p * (1 / ranks).mean() + p * q * ((ranks - 1) / ranks).mean()


def correct_sentences(gallery: Gallery, queries: Queries) -> NDArray[np.int64]:
    """Count the captions that are correct for each query: they name no removed class, and at least one present one.

    Captions that name the same classes are counted together, so that the work grows with the sets of classes that
    occur and not with the captions.
    """
    patterns, counts = np.unique(gallery.names, axis=0, return_counts=True)
    columns = patterns.T.astype(np.float32)
    totals = np.empty(len(queries.ids), dtype=np.int64)
    for start in range(0, len(totals), _CHUNK):
        part = slice(start, start + _CHUNK)
        named_removed = queries.removed[part].astype(np.float32) @ columns > 0
        named_present = queries.present[part].astype(np.float32) @ columns > 0
        totals[part] = (named_present & ~named_removed) @ counts
    return totals


def chance(gallery: Gallery, queries: Queries, cutoffs: Sequence[int]) -> dict[int, NDArray[np.float64]]:
    """{k: (queries,) expected ODmAP@k of a random order}."""
    correct = correct_sentences(gallery, queries)
    return {k: expected_precision(correct, len(gallery.ids), k) for k in cutoffs}


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
        values["removed_named"] = names_any(ranked[:, :1], gallery.names, queries.removed)[:, 0].astype(np.float64)
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
        queries: what was asked; without classes in a set that is about ranks.
        values: {measure: (queries,)}.
        ranks: (queries,) of the first own one, in a set that is about ranks.
        skew: skewness of how often a sentence is among the first ten, in a set that is about lists.
    """

    queries: Queries
    values: Mapping[str, NDArray[np.float64]]
    ranks: NDArray[np.int64] | None = None
    skew: float | None = None


def read_data_set(corpus: Corpus, phrases: Path, removals: Path, partners: Mapping[str, str]) -> DataSet:
    """The gallery, from the file of stage phrases, and the queries of one data set.

    `partners` is {class: the class that usually stands beside it}.
    """
    table = read_table(phrases, ["caption", "picture", "classes"]).sort_by("caption")
    names = class_matrix(table["classes"].to_pylist(), corpus.classes)
    tested = [picture for picture in corpus.pictures if picture.split == "test"]
    rendered = (  # every test picture without one of its classes: a scene that was rendered again lacks that one alone
        (removal_id(picture.id, name), picture.id, name, (name,), [other for other in picture.classes if other != name])
        for picture in tested
        for name in picture.classes
    )
    original = ((str(picture.id), picture.id, "", (), picture.classes) for picture in tested)
    return DataSet(
        Gallery(table["caption"].to_numpy(), table["picture"].to_numpy(), names),
        {
            "synthetic": read_removals(removals / "removals.parquet", corpus.classes, partners),
            "rendered": make_queries(rendered, corpus.classes, partners),
            "empty": read_removals(removals / "empty.parquet", corpus.classes, partners),
            "original": make_queries(original, corpus.classes, {}),
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
    skew = occurrence_skew(data.gallery.rows(captions[:, :SKEW_AT].ravel()), len(data.gallery.ids))
    return Answers(queries, judge(data.gallery, queries, captions), skew=skew)


def _ranks(file: Path, gallery: Gallery, kind: str) -> Answers:
    table = read_table(file, ["query", "rank"])
    ids, ranks = (table[name].to_numpy().astype(np.int64) for name in ("query", "rank"))
    pictures = gallery.pictures[gallery.rows(ids)] if kind == "text_to_image" else ids
    none, absent = np.zeros((len(ids), 0), dtype=np.bool_), np.zeros(len(ids), dtype=np.bool_)
    queries = Queries(tuple(map(str, ids.tolist())), pictures, ("",) * len(ids), none, none, absent)
    return Answers(queries, recalls(ranks), ranks=ranks)


def per_query(cell: str, kind: str, answers: Answers) -> pa.Table:
    """Rows of evaluation.parquet (SCHEMA); what a set does not measure is null."""
    queries, count = answers.queries, len(answers.queries.ids)
    columns: dict[str, Any] = {
        "cell": [cell] * count,
        "set": [kind] * count,
        "query": queries.ids,
        "picture": queries.pictures,
        "class": queries.class_names,
        "partner_remains": queries.partner_remains,
        "rank": answers.ranks,
    } | {name: answers.values.get(name) for name in (*ODMAP, *NAMED)}
    arrays = [
        pa.nulls(count, field.type) if columns[field.name] is None else pa.array(columns[field.name]).cast(field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)
