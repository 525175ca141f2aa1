"""ODmAP's queries: test pictures from which an object was painted out, with what went and what stayed."""

from collections.abc import Iterator
from json import dumps
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.errors import BadInput
from trivium.core.image_shards import Images
from trivium.core.tables import read_table

_USAGE = """
from datasets import load_dataset

queries = load_dataset({name}, split="test")
print(queries[0]["image"].size, queries[0]["removed"], queries[0]["remaining"])
"""
_ROWS = 256


class PaintedQueries(Kind):
    """Those of one data set and filling (decorrelation.md §1, §3)."""

    name, kind, pattern = "painted_queries", "dataset", "data/decorrelation/painted/*/*"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """Pictures as they are encoded, PNG or JPEG."""
        dataset, filling = artifact.path.split("/")[3:]
        if not (artifact.source / "test").is_dir():
            raise BadInput("no test picture was painted over", file=artifact.source)
        removals = artifact.project / "data/decorrelation/removals" / dataset / "removals.parquet"
        columns = ["removal", "picture", "split", "class", "removed", "remaining"]
        known = {row["removal"]: row for row in read_table(removals, columns).to_pylist() if row["split"] == "test"}
        rows = (
            {"image": {"bytes": data, "path": None}, "id": name, "picture": known[name]["picture"],
             **{column: known[name][column] for column in columns[3:]}}
            for name, data in Images(artifact.source / "test").stream() if name in known
        )  # fmt: skip
        texts = ["removed", "remaining"]
        file = write_pictures(artifact.work / "test.parquet", rows, {"id": "string", "picture": "int64",
                              "class": "string"}, texts)  # fmt: skip
        return Described(
            title=f"ODmAP's queries on {dataset}, filled by {filling}",
            about="Test pictures from which the objects of one class were painted out. A retrieval model that is "
            "asked for sentences should no longer name what is gone (ODmAP).",
            notes=("`class` is what was chosen to go, `removed` all that went with it, `remaining` what is left.",),
            usage=_USAGE.format(name=dumps(artifact.target.name)),
            files={"data/test-00000-of-00001.parquet": file},
            start=None,
            library="datasets",
            task="text-retrieval",
            language="en",
            front={"configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "data/test-*"}]}]},
        )


def write_pictures(path: Path, rows: Iterator[dict[str, Any]], values: dict[str, str], lists: list[str]) -> Path:
    """Write rows with an `image` as Parquet that `datasets` decodes as pictures.

    Args:
        path: of the file.
        rows: {"image": {"bytes": …, "path": None}, …}.
        values: {column: its type}.
        lists: columns that are lists of strings.
    """
    from datasets import Features, Image, List, Value

    features = Features(
        {"image": Image(), **{name: Value(kind) for name, kind in values.items()},
         **{name: List(Value("string")) for name in lists}}
    )  # fmt: skip
    schema = features.arrow_schema
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append(row)
            if len(batch) == _ROWS:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema))
    return path
