"""Queries of ODmAP: which classes went from each picture and which stayed, what captions name, what luck scores.

See decorrelation.md §3.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.tables import read_table
from trivium.formats.pictures import Picture, removal_id


@dataclass(frozen=True)
class Gallery:
    """Every caption of a data set, by ascending id.

    Attributes:
        ids: (captions,) Karpathy's `sentid`.
        pictures: (captions,) the picture that each describes.
        names: (captions, classes) whether a noun phrase of it names the class.
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


def read_gallery(phrases: Path, classes: Sequence[str]) -> Gallery:
    """The captions of a data set and the classes that each names, from the file of stage phrases."""
    table = read_table(phrases, ["caption", "picture", "classes"]).sort_by("caption")
    names = class_matrix(table["classes"].to_pylist(), classes)
    return Gallery(table["caption"].to_numpy(), table["picture"].to_numpy(), names)


def read_removals(file: Path, classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """The test queries of a table of removals, masks not read."""
    table = read_table(file, ["removal", "picture", "split", "class", "removed", "remaining"])
    table = table.filter(pc.equal(table["split"], "test"))
    columns = [table[name].to_pylist() for name in ("removal", "picture", "class", "removed", "remaining")]
    return make_queries(zip(*columns, strict=True), classes, partners)


def rendered_queries(pictures: Iterable[Picture], classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """Every test picture without one of its classes: a scene that was rendered again lacks that class alone."""
    rows = (
        (
            removal_id(picture.id, name),
            picture.id,
            name,
            (name,),
            tuple(other for other in picture.classes if other != name),
        )
        for picture in pictures
        if picture.split == "test"
        for name in picture.classes
    )
    return make_queries(rows, classes, partners)


def original_queries(pictures: Iterable[Picture], classes: Sequence[str]) -> Queries:
    """The test pictures as they are."""
    tested = (picture for picture in pictures if picture.split == "test")
    return make_queries(((str(picture.id), picture.id, "", (), picture.classes) for picture in tested), classes, {})


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
