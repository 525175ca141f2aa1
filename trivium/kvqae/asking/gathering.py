"""Stage `entries` of a base: what was brought, as tables; passages are cut as the graph cuts them (kvqae.md §1)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, open_file
from trivium.core.tables import write_json, write_table
from trivium.kvqae.asking.entries import Source, read_source
from trivium.kvqae.knowledge_base.passages import cut_articles

ARTICLES, PASSAGES, SHOWN, PROBLEMS = "articles.parquet", "passages.parquet", "pictures.parquet", "problems.json"
_PICTURES = pa.schema([("article", pa.int64()), ("path", pa.string()), ("sha256", pa.string())])


def gather(path: Path, words: int, out: Path) -> None:
    """Read a source, and write its tables into a folder; equal sources give equal files.

    Args:
        path: see `read_source`.
        words: most tokens of a passage.
        out: folder of articles, passages, pictures and problems; whole, or as it was.

    Raises:
        BadInput: see `read_source`.
    """
    source = read_source(path)
    pictures, numbers = list(_pictures(source)), range(len(source.entries))
    columns = {name: [getattr(entry, name) for entry in source.entries] for name in ("title", "place")}
    texts = {"article": list(numbers), "text": [list(entry.paragraphs) for entry in source.entries]}
    cut = cut_articles(pa.RecordBatch.from_pydict(texts), words)
    passages = pa.Table.from_batches([cut]).add_column(0, "passage", pa.array(range(len(cut)), pa.int64()))
    with write_atomically(out) as beside:
        beside.mkdir()
        write_table(beside / ARTICLES, pa.table({"article": list(numbers), **columns}))
        write_table(beside / PASSAGES, passages.replace_schema_metadata({"kb_passages": str(len(cut))}))
        write_table(beside / SHOWN, pa.Table.from_pylist(pictures, schema=_PICTURES))
        write_json(beside / PROBLEMS, [vars(problem) for problem in source.problems])


def _pictures(source: Source) -> Iterator[dict[str, Any]]:
    """A row a picture, by the hash of its bytes; each once in an entry."""
    owner: dict[str, int] = {}
    for article, entry in enumerate(source.entries):
        own: set[str] = set()
        for path in entry.pictures:
            try:
                sha256 = hash_of(path)
            except (BadInput, OSError) as error:
                source.note("unreadable_picture", path, str(error))
                continue
            if sha256 in own:
                source.note("duplicate", path, f"a picture that {entry.place} has already")
                continue
            own.add(sha256)
            if owner.setdefault(sha256, article) != article:
                source.note("shared_picture", path, f"with {source.entries[owner[sha256]].place}")
            yield {"article": article, "path": str(path), "sha256": sha256}


def hash_of(path: Path) -> str:
    """sha256 of a file; `BadInput` where it cannot be opened, or is too large for a picture."""
    with open_file(path) as stream:
        if path.stat().st_size > LARGEST_IMAGE:
            raise BadInput("file too large", file=path, expected=f"at most {LARGEST_IMAGE} bytes")
        return hashlib.file_digest(stream, "sha256").hexdigest()
