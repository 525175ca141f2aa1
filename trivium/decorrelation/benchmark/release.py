"""A released set: all that a model is asked about a data set's test split, in one Parquet file (docs/odmap.md).

A row is a query x′ (a test picture from which something was painted out), a whole test picture x, or a caption of any
split. With the file any model can be tested, without a project, a GPU or in-painting. Its sha256 is the fingerprint of
the set, and the same inputs give the same bytes.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trivium.core.atomic import write_folder
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.parameters import used_values
from trivium.core.tables import in_groups, read_json, read_table
from trivium.decorrelation.captions.grammatical_removal import remove_phrases
from trivium.decorrelation.co_occurrence import partners
from trivium.decorrelation.matrix import read_cells
from trivium.formats.corpus_table import load_corpus
from trivium.formats.picture_corpora import IMAGES
from trivium.formats.pictures import Phrase

T = TypeVar("T")
HEAD = b"odmap"  # of the schema's metadata: what is of no single row
FORMAT = 1
_NAMES = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),  # query, picture or caption
        ("id", pa.string()),
        ("picture", pa.int64()),  # that it is, was made from, or describes
        ("name", pa.string()),  # of a picture's file
        ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        ("text", pa.string()),  # of a caption; of a query y′: its caption y without what is gone
        ("caption", pa.int64()),  # y: a caption of the whole picture that names what is gone from x′
        ("class", pa.string()),  # chosen to go
        ("removed", _NAMES),  # all that went with it
        ("classes", _NAMES),  # what is left in x′; what a caption names
        ("partner", pa.string()),  # of the class: what usually stands beside it in training pictures
        ("share", pa.float64()),  # of the picture that was painted over
        ("test", pa.bool_()),  # whether a caption is of a test picture
    ]
)
_REMOVAL = ["removal", "picture", "split", "class", "removed", "remaining", "share", "drawn"]
_DECODED = {"info": {"features": {"image": {"_type": "Image"}}}}  # so that `datasets` shows pictures
_ROWS = {"query": 32, "picture": 32, "caption": 1 << 14}  # of a row group


def export_sets(parameters: Path, data: Path, folder: Path) -> None:
    """Write the test split of each data set that cells ask as `{dataset}_{filling}.parquet` into a new folder.

    `data` is the project's `data/decorrelation`; the queries are those of most of a data set's cells, by their filling.

    Raises:
        BadInput: something that is not built yet, or no painted test picture.
    """
    cells = read_cells(parameters).values()
    with write_folder(folder) as path:
        for dataset in dict.fromkeys(cell.dataset for cell in cells):
            fillings = Counter(cell.queries for cell in cells if cell.dataset == dataset)
            ((filling, _),) = fillings.most_common(1)
            _export_set(parameters, data, path / f"{dataset}_{filling}.parquet", dataset, filling)


def _export_set(parameters: Path, data: Path, out: Path, dataset: str, filling: str) -> None:
    raw, removals, painted = data / "raw" / dataset, data / "removals" / dataset, data / "painted" / dataset / filling
    corpus = load_corpus(raw)
    tested = [picture for picture in corpus.pictures if picture.split == "test"]
    drawn = read_table(removals / "removals.parquet", _REMOVAL)
    drawn = drawn.filter(pc.and_(pc.equal(drawn["split"], "test"), drawn["drawn"])).to_pylist()
    if not drawn:
        raise BadInput("no painted picture of the test split", file=removals)
    used = used_values(parameters, "decorrelation.evaluate")
    captions = read_table(data / "phrases" / f"{dataset}.parquet").sort_by("caption").to_pylist()
    usual = partners(corpus, used["partner_probability"])
    # The control is invented, whatever the parameters say.
    is_invented = dataset == "control" or used_values(parameters, f"world.{dataset}") == "sample"
    head = {
        "format": FORMAT, "dataset": dataset, "filling": filling, "classes": corpus.classes, "split": "test",
        "invented": is_invented,
        "licences": sorted(_licences(raw, is_invented)),
        "certainty": {name: used[name] for name in ("confidence", "resamples", "seed")},
        "retrieve": used_values(parameters, "decorrelation.retrieve"),
        "phrases": used_values(parameters, "decorrelation.phrases"),
    }  # fmt: skip
    head["card"] = _card(head, len(drawn), len(tested), len(captions))
    rows = {
        "query": _queries(drawn, painted / "test", captions, usual),
        "picture": ({"id": str(picture.id), "picture": picture.id, **image} for picture, image in
                    _with_images({picture.name: picture for picture in tested}, raw / IMAGES)),
        "caption": ({"id": str(row["caption"]), "picture": row["picture"], "text": row["text"],
                     "classes": row["classes"], "test": row["split"] == "test"} for row in captions),
    }  # fmt: skip
    schema = SCHEMA.with_metadata({HEAD: json.dumps(head), b"huggingface": json.dumps(_DECODED)})
    with pq.ParquetWriter(out, schema, compression="zstd", write_page_checksum=True) as writer:
        for kind, rows_of_kind in rows.items():
            for group in in_groups(rows_of_kind, _ROWS[kind]):
                writer.write_table(pa.Table.from_pylist([{"kind": kind, **row} for row in group], schema))


def _queries(
    drawn: Sequence[Mapping[str, Any]],
    painted: Path,
    captions: Iterable[Mapping[str, Any]],
    usual: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    """Make a row a painted picture; y is the first caption of the whole one that can do without what is gone."""
    own: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in captions:
        if row["split"] == "test":
            own[row["picture"]].append(row)
    for removal, image in _with_images({row["removal"]: row for row in drawn}, painted):
        pairs = ((row["caption"], _without(row, removal["removed"])) for row in own[removal["picture"]])
        caption, text = next((pair for pair in pairs if pair[1]), (None, None))
        kept = {name: removal[name] for name in ("picture", "class", "removed", "share")}
        yield {"id": removal["removal"], **image, "text": text, "caption": caption, **kept,
               "classes": removal["remaining"], "partner": usual.get(removal["class"])}  # fmt: skip


def _without(row: Mapping[str, Any], removed: Sequence[str]) -> str | None:
    """y′ of a caption y; None where y does not name what is gone, or nothing else."""
    if not set(removed) & set(row["classes"]):
        return None
    phrases = [Phrase(phrase["start"], phrase["end"], tuple(phrase["classes"])) for phrase in row["phrases"]]
    return remove_phrases(row["text"], phrases, removed)


def _with_images(rows: Mapping[str, T], folder: Path) -> Iterator[tuple[T, dict[str, Any]]]:
    """Each of {name of its picture: row} with the columns `name` and `image`, in the order of the shards."""
    images = Images(folder)
    if missing := [name for name in rows if name not in images]:
        raise BadInput("no such image", file=folder, field="name", got=missing[0], expected=f"{len(rows)} images")
    for name, data in images.stream():
        if name in rows:
            yield rows[name], {"name": name, "image": {"bytes": data, "path": name}}


def _licences(raw: Path, is_invented: bool) -> set[str]:
    """The licences that the records of downloads state; of invented data, this project's own."""
    record = raw / "sources.json"
    if not record.is_file():
        return {"apache-2.0" if is_invented else "not stated: the user's own files"}
    return {source["licence"] for source in read_json(record).values() if "licence" in source}


def _card(head: Mapping[str, Any], queries: int, pictures: int, captions: int) -> str:
    invented = "The pictures and captions are invented, and say nothing about photographs.\n" * head["invented"]
    return (
        f"# ODmAP on {head['dataset']}, queries painted by {head['filling']}\n\n{invented}"
        f"{queries} test pictures from which the objects of a class were painted out, the {pictures} whole test "
        f"pictures, and {captions} captions of all splits. Ask a model:\n"
        f"`trivium odmap --set FILE --model MODEL --out FOLDER`\n\nLicence: {'; '.join(head['licences'])}\n"
    )
