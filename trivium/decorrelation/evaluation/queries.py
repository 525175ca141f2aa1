"""Queries of ODmAP: which classes went from each picture and which stayed, what captions name, what luck scores.

See decorrelation.md §3.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trivium.core.errors import BadInput
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

    def rows(self, captions: NDArray[np.int64], file: Path) -> NDArray[np.int64]:
        """Where captions stand; `BadInput` names one that is not in the gallery."""
        places = np.minimum(np.searchsorted(self.ids, captions), len(self.ids) - 1)
        unknown = self.ids[places] != captions
        if unknown.any():
            raise BadInput("a caption that the gallery lacks", file=file, got=int(captions[unknown][0]))
        return places


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

    def select(self, ids: Sequence[str], file: Path | None = None) -> "Queries":
        """These queries, in this order; `BadInput` names one that should not have been asked, or asked twice."""
        place = {name: row for row, name in enumerate(self.ids)}
        if unknown := [name for name in ids if name not in place]:
            raise BadInput("query that the data set lacks", file=file, field="query", got=unknown[0])
        if len(set(ids)) < len(ids):
            raise BadInput("query twice", file=file, field="query")
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
    """Read the captions of a data set and the classes that each names.

    Raises:
        BadInput: a caption twice, or a class that the data set lacks.
    """
    table = read_table(phrases, ["caption", "picture", "classes"]).sort_by("caption")
    ids = table["caption"].to_numpy()
    if (np.diff(ids) == 0).any():
        raise BadInput("caption twice", file=phrases, field="caption", got=int(ids[1:][np.diff(ids) == 0][0]))
    return Gallery(ids, table["picture"].to_numpy(), _class_matrix(table["classes"], classes, phrases))


def _class_matrix(column: pa.ChunkedArray, classes: Sequence[str], file: Path) -> NDArray[np.bool_]:
    """(rows, classes) from a column of lists of class names."""
    lists = column.combine_chunks()
    rows, names = pc.list_parent_indices(lists), pc.list_flatten(lists)
    codes = pc.index_in(names, pa.array(classes, pa.string()))
    if codes.null_count:
        unknown = names.filter(pc.is_null(codes))[0].as_py()
        raise BadInput("class that the data set lacks", file=file, got=unknown, choices=classes)
    matrix = np.zeros((len(lists), len(classes)), dtype=np.bool_)
    matrix[rows.to_numpy(), codes.to_numpy()] = True
    return matrix


def read_removals(file: Path, classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """The test queries of a table of removals, masks not read."""
    columns = ["removal", "picture", "split", "class", "removed", "remaining"]
    table = read_table(file, columns)
    table = table.filter(pc.equal(table["split"], "test"))
    present = _class_matrix(table["remaining"], classes, file)
    names = table["class"].to_pylist()
    return Queries(
        tuple(table["removal"].to_pylist()),
        table["picture"].to_numpy(),
        tuple(names),
        _class_matrix(table["removed"], classes, file),
        present,
        _partner_remains(names, present, classes, partners),
    )


def rendered_queries(pictures: Iterable[Picture], classes: Sequence[str], partners: Mapping[str, str]) -> Queries:
    """Every test picture without one of its classes: a scene that was rendered again lacks that class alone."""
    return _without(pictures, classes, partners, lambda picture: picture.classes, removal_id)


def original_queries(pictures: Iterable[Picture], classes: Sequence[str]) -> Queries:
    """The test pictures as they are."""
    return _without(pictures, classes, {}, lambda _: ("",), lambda picture, _: str(picture))


def _without(
    pictures: Iterable[Picture],
    classes: Sequence[str],
    partners: Mapping[str, str],
    gone: Callable[[Picture], Sequence[str]],
    identifier: Callable[[int, str], str],
) -> Queries:
    """Test pictures, each once for every class that `gone` names."""
    asked = [(each, name) for each in pictures if each.split == "test" for name in gone(each)]
    names = [name for _, name in asked]
    code = {name: place for place, name in enumerate(classes)}
    removed, present = np.zeros((2, len(asked), len(classes)), dtype=np.bool_)
    for row, (picture, name) in enumerate(asked):
        present[row, [code[each] for each in picture.classes if each != name]] = True
        if name:
            removed[row, code[name]] = True
    return Queries(
        tuple(identifier(picture.id, name) for picture, name in asked),
        np.array([picture.id for picture, _ in asked], dtype=np.int64),
        tuple(names),
        removed,
        present,
        _partner_remains(names, present, classes, partners),
    )


def _partner_remains(
    names: Sequence[str], present: NDArray[np.bool_], classes: Sequence[str], partners: Mapping[str, str]
) -> NDArray[np.bool_]:
    code = {name: place for place, name in enumerate(classes)}
    wanted = np.array([code[partners[name]] if name in partners else -1 for name in names], dtype=np.int64)
    return (wanted >= 0) & present[np.arange(len(names)), wanted]


_CHUNK = 1024  # queries at a time


def expected_precision(correct: NDArray[np.int64], gallery: int, k: int) -> NDArray[np.float64]:
    """E[(1/k) Σ_{i≤k} P@i · rel_i] over all orders of a gallery with so many correct sentences.

    With n correct among N: rank i is correct with probability p = n / N, and then each rank before it with
    q = (n - 1) / (N - 1); so E[P@i · rel_i] = (p / i) (1 + (i - 1) q).

    Args:
        correct: n of each query.
        gallery: N, at least k.
        k: cut-off, at least 1.
    """
    if not 1 <= k <= gallery:
        raise ValueError(f"k should be from 1 to the gallery's size {gallery}, got {k}")
    p = correct / gallery
    q = np.maximum(correct - 1, 0) / max(1, gallery - 1)
    ranks = np.arange(1, k + 1)
    return p * (1 / ranks).mean() + p * q * ((ranks - 1) / ranks).mean()


def correct_sentences(gallery: Gallery, queries: Queries) -> NDArray[np.int64]:
    """How many captions are correct for each query: they name no removed class, and at least one that is present.

    Captions that name the same classes are counted together, so that the work grows with the sets of classes that
    occur and not with the captions.
    """
    patterns, counts = np.unique(gallery.names, axis=0, return_counts=True)
    columns = patterns.T.astype(np.float32)
    found = np.empty(len(queries.ids), dtype=np.int64)
    for start in range(0, len(found), _CHUNK):
        part = slice(start, start + _CHUNK)
        named_removed = queries.removed[part].astype(np.float32) @ columns > 0
        named_present = queries.present[part].astype(np.float32) @ columns > 0
        found[part] = (named_present & ~named_removed) @ counts
    return found


def chance(gallery: Gallery, queries: Queries, cutoffs: Sequence[int]) -> dict[int, NDArray[np.float64]]:
    """{k: (queries,) expected ODmAP@k of a random order}."""
    correct = correct_sentences(gallery, queries)
    return {k: expected_precision(correct, len(gallery.ids), k) for k in cutoffs}
