"""What every model of a leaderboard is asked: a data set's test split, as the graph has made it (decorrelation.md §3).

A result is worth comparing with another only if both were asked the same; so the set has two fingerprints. They depend
on what was asked, and not on the order in which it lies on disk.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import used_values, validate
from trivium.decorrelation.benchmark.positives import Positives, read_positives
from trivium.decorrelation.evaluation.answers import CUTOFFS
from trivium.decorrelation.evaluation.queries import Gallery, Queries, read_gallery, read_removals
from trivium.decorrelation.evaluation.tables import EvaluateParameters
from trivium.decorrelation.matrix import read_cells
from trivium.decorrelation.retrieval.answers import picture_sets
from trivium.decorrelation.retrieval.ranking import PictureSet
from trivium.decorrelation.retrieval.sharded_model import Captions, captions_of
from trivium.formats.corpus_table import load_captions

PARAMETERS = Path("params.yaml")
DATA = Path("data") / "decorrelation"
_ALWAYS_INVENTED = "control"


@dataclass(frozen=True)
class BenchmarkSet:
    """The questions.

    Attributes:
        project: folder of the graph that made them.
        dataset, filling: names of the graph.
        captions: of all splits, by ascending id.
        gallery: the same captions with the classes that each names.
        pictures: the test pictures, untouched.
        painted: the queries x′.
        queries: which classes went from each and which stayed, in the order of `painted`.
        invented: whether the pictures are of the sample world.
        certainty: how intervals are drawn, those of the graph's tables.
        split: sha256 of the test pictures and all captions.
        asked: sha256 of the queries: painted pictures, classes, and what each caption names.
        classes: of the data set, in the order of the columns of `queries` and `gallery`.
        positives: right answers beyond a picture's own captions; None where nobody brought any.
    """

    project: Path
    dataset: str
    filling: str
    captions: Captions
    gallery: Gallery
    pictures: PictureSet
    painted: PictureSet
    queries: Queries
    invented: bool
    certainty: EvaluateParameters
    split: str
    asked: str
    classes: tuple[str, ...]
    positives: Positives | None = None


def read_benchmark(
    project: Path, dataset: str = "coco", filling: str | None = None, positives: Path | None = None
) -> BenchmarkSet:
    """The test split of a built project.

    Args:
        project: folder with `params.yaml` and `data/`.
        dataset: one of `decorrelation.datasets`.
        filling: what painted the queries; None: that of most of the data set's cells.
        positives: folder of right answers, see `read_positives`.

    Raises:
        BadInput: no such data set or filling, something that is not built yet, or too few captions for the largest
            cut-off; see `read_positives`.
    """
    parameters = project / PARAMETERS
    datasets = used_values(parameters, "decorrelation.datasets")
    if dataset not in datasets:
        raise BadInput("no such data set in this project", field="dataset", got=dataset, choices=datasets)
    filling = filling or _usual_filling(parameters, dataset)
    data = project / DATA
    raw, removals, painted = data / "raw" / dataset, data / "removals" / dataset, data / "painted" / dataset / filling
    phrases = data / "phrases" / f"{dataset}.parquet"
    if not (painted / "test").is_dir():
        raise BadInput("no painted test pictures", file=painted / "test", field="filling", got=filling,
                       expected=f"a built project: dvc repro decorrelation-inpaint@{dataset}_{filling}",
                       choices=sorted(test.parent.name for test in painted.parent.glob("*/test")))  # fmt: skip
    for needed in (raw, phrases, removals):
        if not needed.exists():
            raise BadInput("not built yet", file=needed, expected="a built project: make repro P=decorrelation")
    corpus = load_captions(raw)
    tested = [picture for picture in corpus.pictures if picture.split == "test"]
    sets, _ = picture_sets(tested, raw, removals, painted)
    pictures, synthetic = sets["original"], sets["synthetic"]
    captions, gallery = captions_of(corpus), read_gallery(phrases, corpus.classes)
    if not synthetic.names:
        raise BadInput("no painted picture of the test split", file=removals)
    if len(captions.ids) < max(CUTOFFS):
        raise BadInput("too few captions", file=raw, got=len(captions.ids),
                       expected=f"at least {max(CUTOFFS)} for ODmAP@{max(CUTOFFS)}")  # fmt: skip
    queries = read_removals(removals / "removals.parquet", corpus.classes, {}).select(synthetic.queries)
    values = used_values(parameters, "decorrelation.evaluate")
    return BenchmarkSet(
        project,
        dataset,
        filling,
        captions,
        gallery,
        pictures,
        synthetic,
        queries,
        dataset == _ALWAYS_INVENTED or used_values(parameters, f"world.{dataset}") == "sample",
        validate(EvaluateParameters, values, "decorrelation.evaluate", parameters),
        _digest("split", _pictures(pictures), _captions(captions)),
        _digest("queries", _pictures(synthetic), _named(queries, gallery, corpus.classes)),
        tuple(corpus.classes),
        read_positives(positives, pictures.names, captions.ids[captions.test].tolist()) if positives else None,
    )


def _usual_filling(parameters: Path, dataset: str) -> str:
    used = Counter(cell.queries for cell in read_cells(parameters).values() if cell.dataset == dataset)
    if not used:
        raise BadInput("no cell asks this data set", file=parameters, got=dataset, expected="a filling, by its name")
    return used.most_common(1)[0][0]


def _pictures(pictures: PictureSet) -> Iterator[Any]:
    """(id, picture that it was made from, digest of its bytes), sorted."""
    images = Images(pictures.folder)
    owners = zip(pictures.queries, pictures.owners, strict=True)
    wanted = dict(zip(pictures.names, owners, strict=True))
    yield from sorted(
        (*wanted[name], hashlib.sha256(data).hexdigest()) for name, data in images.stream() if name in wanted
    )


def _captions(captions: Captions) -> Iterator[Any]:
    columns = (captions.ids.tolist(), captions.pictures.tolist(), captions.test.tolist(), captions.texts)
    yield from zip(*columns, strict=True)


def _named(queries: Queries, gallery: Gallery, classes: Sequence[str]) -> Iterator[Any]:
    for row in sorted(range(len(queries.ids)), key=queries.ids.__getitem__):
        removed, present = (list(compress(classes, flags[row])) for flags in (queries.removed, queries.present))
        yield queries.ids[row], removed, present
    for caption, names in zip(gallery.ids.tolist(), gallery.names, strict=True):
        yield caption, list(compress(classes, names))


def _digest(kind: str, *parts: Iterable[Any]) -> str:
    total = hashlib.sha256(kind.encode())
    for part in parts:
        for item in part:
            total.update(json.dumps(item, ensure_ascii=False).encode() + b"\n")
        total.update(b"\n")
    return total.hexdigest()
