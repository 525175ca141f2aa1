"""Right answers beyond a picture's own captions: ECCV Caption's and CxC's, on COCO's test pictures.

COCO's own captions count a caption of another picture as wrong, however well it fits. Crisscrossed Captions (Parekh et
al., EACL 2021) and ECCV Caption (Chun et al., ECCV 2022) have found such pairs. Their lists come in the format of the
latter's package: `eccv_image_to_caption.json`, `eccv_caption_to_image.json` and the two of `cxc`, each {id of a query:
[ids of its right answers]}, with COCO's ids of pictures and captions (Karpathy's `sentid` is COCO's). Files of one set
alone will do.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.tables import read_json
from trivium.decorrelation.retrieval.encoding import Vectors
from trivium.measures.recall import average_precision_at_r, r_precision, ranked_hits

SETS = {"eccv": "ECCV Caption", "cxc": "CxC"}
WAYS = {"image_to_text": "image_to_caption", "text_to_image": "caption_to_image"}
CUTOFFS = (1, 5, 10)
_ECCV = ("map@r", "r_precision", "r@1")
MEASURES = {"eccv": _ECCV, "cxc": tuple(f"r@{k}" for k in CUTOFFS)}
_COCO = re.compile(r"COCO_val2014_(\d{12})")
_QUERIES = 128  # at a time


@dataclass(frozen=True)
class Answers:
    """One way of one set.

    Attributes:
        queries: (queries,) rows of those asked, among the test pictures or the test captions.
        right: of each query the rows of its right answers, in the other of the two, each once.
        sizes: (queries,) R, with those that the test lacks: as in the package, they are right and never found.
    """

    queries: NDArray[np.int64]
    right: tuple[NDArray[np.int64], ...]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class Positives:
    """{set: {way: answers}} of a folder, and sha256 of all of them, whatever their order in the files."""

    answers: Mapping[str, Mapping[str, Answers]]
    digest: str

    @property
    def missing(self) -> int:
        """Right answers that the test lacks."""
        every = [answers for ways in self.answers.values() for answers in ways.values()]
        return sum(int(each.sizes.sum()) - sum(map(len, each.right)) for each in every)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the values, such as `eccv_image_to_text_map@r`."""
        return tuple(f"{name}_{way}_{measure}" for name in self.answers for way in WAYS for measure in MEASURES[name])


def read_positives(folder: Path, pictures: Sequence[str], captions: Sequence[int]) -> Positives:
    """The right answers among a set's test pictures, whose file names hold COCO's ids, and captions, by COCO's ids.

    Raises:
        BadInput: no file of a set, or one of its two alone; another format; pictures that are not COCO's; a query that
            the test lacks, or of whose right answers it has none.
    """
    rows = {
        "image": {_coco_id(name): row for row, name in enumerate(pictures)},
        "caption": {int(caption): row for row, caption in enumerate(captions)},
    }
    there = [name for name in SETS if any((folder / f"{name}_{files}.json").exists() for files in WAYS.values())]
    if not there:
        raise BadInput("no lists of right answers", file=folder, expected="eccv_image_to_caption.json and the like")
    digest = hashlib.sha256()
    answers: dict[str, dict[str, Answers]] = {name: {} for name in there}
    for name, (way, files) in product(there, WAYS.items()):
        path = folder / f"{name}_{files}.json"
        queries, _, items = files.partition("_to_")
        listed = _lists(path)
        digest.update(json.dumps([name, way, list(listed.items())]).encode())
        right = tuple(np.array([rows[items][i] for i in ids if i in rows[items]], np.int64) for ids in listed.values())
        for query, known in zip(listed, right, strict=True):
            if query not in rows[queries] or not len(known):
                problem = "a query that the test lacks" if len(known) else "no right answer that the test has"
                raise BadInput(problem, file=path, field=str(query), expected="COCO's test of Karpathy's split")
        asked = np.array([rows[queries][query] for query in listed], np.int64)
        answers[name][way] = Answers(asked, right, np.array([len(ids) for ids in listed.values()], np.int64))
    return Positives(answers, digest.hexdigest())


def _coco_id(name: str) -> int:
    found = _COCO.fullmatch(PurePosixPath(name).stem)
    if found is None:
        raise BadInput("these right answers are of COCO's test pictures", field="--positives", got=name,
                       expected="COCO_val2014_….jpg")  # fmt: skip
    return int(found[1])


def _lists(path: Path) -> dict[int, list[int]]:
    """{query: its right answers}, both in the order of their ids."""
    tree: Any = read_json(path)
    if not isinstance(tree, dict) or not tree:
        raise BadInput("not lists of right answers", file=path, expected="{id of a query: [ids]}")
    for query, right in tree.items():
        if not (isinstance(right, list) and right and all(str(each).isdigit() for each in (query, *right))):
            raise BadInput("not ids", file=path, field=query, got=right, expected="[ids of right answers]")
    return dict(sorted((int(query), sorted(set(map(int, right)))) for query, right in tree.items()))


def positive_scores(
    positives: Positives, pictures: Vectors, captions: Vectors
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """{measure: (values, rows of the queries)} of pictures (n, d) and captions (m, d) of length 1.

    Ties count against the model.
    """
    values = {}
    for name, ways in positives.answers.items():
        for way, asked in ways.items():
            queries, items = (pictures, captions) if way == "image_to_text" else (captions, pictures)
            scored = zip(_scored(asked, queries, items), asked.right, asked.sizes.tolist(), strict=True)
            columns = np.array([_values(name, *each) for each in scored]).T
            for measure, column in zip(MEASURES[name], columns, strict=True):
                values[f"{name}_{way}_{measure}"] = (column, asked.queries)
    return values


def _scored(asked: Answers, queries: Vectors, items: Vectors) -> Iterator[NDArray[np.float32]]:
    """Of each query the scores of all items; of things with several vectors, (n, sides, d), the best counts."""
    width, sides = items.shape[-1], items.shape[1] if items.ndim == 3 else 1
    gallery = np.asarray(items, np.float64).reshape(-1, width).T
    for start in range(0, len(asked.queries), _QUERIES):
        part = np.asarray(queries[asked.queries[start : start + _QUERIES]], np.float64)
        # Computed in 64 bits and rounded to 32, so that equal vectors tie.
        products = (part.reshape(-1, width) @ gallery).astype(np.float32)
        yield from products.reshape(len(part), -1, len(items), sides).max(axis=(1, 3))


def _values(name: str, scores: NDArray[np.float32], right: NDArray[np.int64], size: int) -> list[float]:
    flags = np.zeros(len(scores), bool)
    flags[right] = True
    if name == "cxc":
        # Whoever scores as the best right answer does, and is none, ranks before it.
        rank = 1 + int((scores[~flags] >= scores[right].max()).sum())
        return [float(rank <= k) for k in CUTOFFS]
    hits = ranked_hits(scores, flags, size)
    return [average_precision_at_r(hits), r_precision(hits), float(hits[0])]
