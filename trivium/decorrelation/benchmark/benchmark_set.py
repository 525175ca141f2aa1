"""The test set that all models of a leaderboard share: a released set (`release.py`), read from its file."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.core.image_shards import write_images
from trivium.core.parameters import validate
from trivium.core.tables import read_batches, read_schema, read_table
from trivium.decorrelation.benchmark.release import FORMAT, HEAD, SCHEMA
from trivium.decorrelation.evaluation.answers import CUTOFFS, Gallery, Queries, class_matrix, make_queries
from trivium.decorrelation.retrieval.ranking import RetrieveParameters
from trivium.decorrelation.retrieval.sharded_model import Captions, PictureSet

LEAST_SHARE = 0.01  # of the picture: where less was painted over, hardly anything is gone
PICTURE_TYPES = {b"\xff\xd8": "jpeg", b"\x89P": "png", b"RI": "webp", b"GI": "gif", b"BM": "bmp"}  # by first bytes


@dataclass(frozen=True)
class Pairs:
    """(pairs,) rows of queries, rows of a caption y that names what is gone, and y′, its text without that."""

    queries: NDArray[np.int64]
    captions: NDArray[np.int64]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class BenchmarkSet:
    """A released set in memory: its pictures, queries, captions and settings.

    Attributes:
        dataset, filling: names in the graph: of the data set, and of what painted the queries.
        invented, licences: whether the pictures are of the sample world; what the sources state.
        classes: of the data set, in the order of the columns of `queries` and `gallery`.
        certainty: confidence, resamples and seed of intervals.
        phrases, retrieve: how the graph reads captions, and asks its own models.
        fingerprint: sha256 of the file.
        captions: of all splits, by ascending id.
        gallery: the same captions with the classes that each names.
        pictures, painted: the test pictures, untouched, and the queries x′.
        queries: which classes went from each and which stayed, in the order of `painted`.
        pairs: captions with and without what is gone.
        partners: of each query what usually stands beside what is gone, None where nothing does.
        shares: (queries,) of the picture that was painted over.
        kept: folder of what is computed from this set.
    """

    dataset: str
    filling: str
    invented: bool
    licences: tuple[str, ...]
    classes: tuple[str, ...]
    certainty: Mapping[str, Any]
    phrases: Mapping[str, Any]
    retrieve: RetrieveParameters
    fingerprint: str
    captions: Captions
    gallery: Gallery
    pictures: PictureSet
    painted: PictureSet
    queries: Queries
    pairs: Pairs
    partners: tuple[str | None, ...]
    shares: NDArray[np.float64]
    kept: Path

    def rows_of(self, owners: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of whole pictures by their ids."""
        place = {owner: row for row, owner in enumerate(self.pictures.owners)}
        return np.array([place[owner] for owner in owners.tolist()], np.int64)

    def named_by_people(self) -> NDArray[np.bool_]:
        """(queries, classes) what the captions of the whole picture name."""
        pictures, rows = np.unique(self.queries.pictures, return_inverse=True)
        named = np.zeros((len(pictures), len(self.classes)), np.bool_)
        own = np.isin(self.gallery.pictures, pictures)
        places = np.searchsorted(pictures, self.gallery.pictures[own])
        np.logical_or.at(named, places, self.gallery.names[own])
        return named[rows]

    def tests_something(self) -> NDArray[np.bool_]:
        """(queries,) whether enough was painted over, and a caption by people mentions what is gone."""
        mentioned = (self.named_by_people() & self.queries.removed).any(axis=1)
        return np.asarray(mentioned & (self.shares >= LEAST_SHARE))


def hub_folder(name: str, field: str, patterns: Sequence[str], kind: str = "model", **options: Any) -> Path:
    """Download files of OWNER/NAME, a model or a dataset, that match `patterns`; returns the folder that keeps them.

    `field` is for messages, `options` are for `snapshot_download`. `BadInput`: the hub does not have it, or cannot
    be reached.
    """
    import huggingface_hub as hub
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(str(hub.snapshot_download(name, allow_patterns=[*patterns], repo_type=kind, **options)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"cannot be had from the hub: {reason}", field=field, got=name) from None


def find_set(released: str | Path, dataset: str | None = None) -> Path:
    """The file of a set: `released` itself, the one in a folder, or that of the hub's data set OWNER/NAME.

    Of several the one of `dataset` is taken. `BadInput`: no file, several, or a hub that cannot be reached.
    """
    folder = Path(released)
    if folder.is_file():
        return folder
    if not folder.is_dir():
        folder = hub_folder(str(released), "--set", ["*.parquet"], kind="dataset")
    files = sorted(path for path in folder.rglob("*.parquet") if path.name.startswith(dataset or ""))
    if len(files) != 1:
        raise BadInput("no set, or several", file=released, got=len(files), expected="one .parquet; or --dataset",
                       choices=[path.name for path in sorted(folder.rglob("*.parquet"))])  # fmt: skip
    return files[0]


def project_set(project: str | Path = ".", dataset: str | None = None) -> Path:
    """The file of a set, by default COCO's, that the graph of a project has released; `BadInput` where it has not."""
    folder = Path(project) / "data" / "decorrelation" / "sets"
    if not folder.is_dir():
        raise BadInput("no set", file=folder, expected="a built project (make repro P=decorrelation), or --set")
    return find_set(folder, dataset or "coco")


def open_set(
    project: str | Path = ".",
    released: str | Path | None = None,
    *,
    dataset: str | None = None,
    cache: str | Path | None = None,
) -> BenchmarkSet:
    """Read a released set, or that of a built project; its pictures are unpacked into the cache, once.

    Args:
        project: folder of the built project, where no set is given.
        released: see `find_set`.
        dataset: which of several sets.
        cache: folder for unpacked pictures, embeddings and answers; None: the user's own.

    Raises:
        BadInput: see `find_set` and `project_set`; or a file that is cut off, damaged, no set or too small.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept = home / "trivium" / "odmap" if cache is None else Path(cache)
    file = project_set(project, dataset) if released is None else find_set(released, dataset)
    metadata = read_schema(file).metadata or {}
    if HEAD not in metadata:
        raise BadInput("not a set", file=file, expected="what `trivium odmap --export` writes")
    try:
        return _read(file, json.loads(metadata[HEAD]), kept)
    except BadInput:
        raise
    except (pa.ArrowException, KeyError, TypeError, ValueError, IndexError) as error:
        raise BadInput(f"not a set as --export writes it: {error!r}", file=file) from None


def _read(file: Path, head: Mapping[str, Any], cache: Path) -> BenchmarkSet:
    if head["format"] != FORMAT:
        raise BadInput("a set of another version", file=file, field="format", got=head["format"], expected=str(FORMAT))
    rows = read_table(file, [name for name in SCHEMA.names if name != "image"])
    queries, pictures, captions = (
        rows.filter(pa.compute.equal(rows["kind"], kind)) for kind in ("query", "picture", "caption")
    )
    for name, part, least in (("painted pictures", queries, 1), ("captions", captions, max(CUTOFFS))):
        if len(part) < least:
            raise BadInput(f"too few {name}", file=file, got=len(part), expected=f"at least {least}")
    with file.open("rb") as stream:
        fingerprint = hashlib.file_digest(stream, "sha256").hexdigest()
    folder, classes = cache / fingerprint[:16], tuple(head["classes"])
    for kind in ("query", "picture"):
        if not (folder / kind).is_dir():
            images = (row for batch in read_batches(file, 32, ["kind", "name", "image"]) for row in batch.to_pylist())
            write_images(folder / kind, ((row["name"], row["image"]["bytes"]) for row in images if row["kind"] == kind))
    ids, owners = captions["id"].cast(pa.int64()).to_numpy(), captions["picture"].to_numpy()
    row_of = {caption: row for row, caption in enumerate(ids.tolist())}
    partners = tuple(queries["partner"].to_pylist())
    columns = [queries[name].to_pylist() for name in ("id", "picture", "class", "removed", "classes")]
    usual = {name: partner for name, partner in zip(columns[2], partners, strict=True) if partner is not None}
    paired = queries.filter(queries["caption"].is_valid())
    whole, painted = (
        PictureSet(name, folder / kind, *(tuple(table[column].to_pylist()) for column in ("name", "id", "picture")))
        for name, kind, table in (("original", "picture", pictures), ("synthetic", "query", queries))
    )
    return BenchmarkSet(
        dataset=head["dataset"],
        filling=head["filling"],
        invented=head["invented"],
        licences=tuple(head["licences"]),
        classes=classes,
        certainty=head["certainty"],
        phrases=head["phrases"],
        retrieve=validate(RetrieveParameters, head["retrieve"], "retrieve", file),
        fingerprint=fingerprint,
        captions=Captions(
            ids, owners, tuple(captions["text"].to_pylist()), captions["test"].to_numpy(zero_copy_only=False)
        ),
        gallery=Gallery(ids, owners, class_matrix(captions["classes"].to_pylist(), classes)),
        pictures=whole,
        painted=painted,
        queries=make_queries(zip(*columns, strict=True), classes, usual),
        pairs=Pairs(
            np.flatnonzero(queries["caption"].is_valid()),
            np.array([row_of[caption] for caption in paired["caption"].to_pylist()], np.int64),
            tuple(paired["text"].to_pylist()),
        ),
        partners=partners,
        shares=queries["share"].to_numpy(),
        kept=folder,
    )
