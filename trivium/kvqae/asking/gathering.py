"""Stage `entries` of a base: what was brought, as tables; passages are cut as the graph cuts them (kvqae.md §1)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_IMAGE, open_file
from trivium.core.tables import read_table, write_json, write_table
from trivium.kvqae.asking.entries import Entry, Source, read_source
from trivium.kvqae.knowledge_base.passages import SCHEMA, cut_articles

ARTICLES, PASSAGES, SHOWN, PROBLEMS = "articles.parquet", "passages.parquet", "pictures.parquet", "problems.json"
_ARTICLES = pa.schema([("article", pa.int64()), ("title", pa.string()), ("place", pa.string())])
_PICTURES = pa.schema([("article", pa.int64()), ("path", pa.string()), ("sha256", pa.string())])
_AT_A_TIME = 1024  # articles


def gather(source: Path, words: int, out: Path) -> dict[str, int]:
    """Read a source, and write its tables into a folder; equal sources give equal files.

    Args:
        source: see `read_source`.
        words: most tokens of a passage.
        out: folder of articles, passages, pictures and problems; whole, or as it was.

    Returns:
        How many entries, passages and pictures there are.

    Raises:
        BadInput: see `read_source`.
    """
    found = read_source(source)
    pictures = list(_pictures(found))
    articles = [
        {"article": number, "title": entry.title, "place": entry.place} for number, entry in enumerate(found.entries)
    ]
    with write_atomically(out) as beside:
        beside.mkdir()
        write_table(beside / ARTICLES, pa.Table.from_pylist(articles, schema=_ARTICLES))
        passages = _write_passages(beside / PASSAGES, found.entries, words)
        write_table(beside / SHOWN, pa.Table.from_pylist(pictures, schema=_PICTURES))
        write_json(beside / PROBLEMS, [vars(problem) for problem in found.problems])
    return {"entries": len(articles), "passages": passages, "pictures": len(pictures)}


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
    """sha256 of a file.

    Raises:
        BadInput: it cannot be opened, or is too large for a picture.
    """
    with open_file(path) as stream:
        if path.stat().st_size > LARGEST_IMAGE:
            raise BadInput("file too large", file=path, expected=f"at most {LARGEST_IMAGE} bytes")
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_passages(path: Path, entries: list[Entry], words: int) -> int:
    """Write the passages; all of them belong to the knowledge base."""
    total = 0
    with (
        write_atomically(path) as beside,
        pq.ParquetWriter(beside, SCHEMA, compression="zstd", store_schema=False, write_page_checksum=True) as writer,
    ):
        for start in range(0, len(entries), _AT_A_TIME):
            part = entries[start : start + _AT_A_TIME]
            texts = {"article": range(start, start + len(part)), "text": [list(entry.paragraphs) for entry in part]}
            cut = cut_articles(pa.RecordBatch.from_pydict({name: list(each) for name, each in texts.items()}), words)
            ids = pa.array(range(total, total + len(cut)), pa.int64())
            writer.write_batch(pa.record_batch([ids, *cut.columns], schema=SCHEMA))
            total += len(cut)
        writer.add_key_value_metadata({"kb_passages": str(total)})
    return total


def passage_keys(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """(titles, texts, keys) of a base's passages: the key is a hash of what an encoder reads."""
    titles = read_table(folder / ARTICLES, ["title"])["title"]
    passages = read_table(folder / PASSAGES, ["article", "text"])
    of_passages, texts = titles.take(passages["article"]).to_pylist(), passages["text"].to_pylist()
    keys = [
        hashlib.sha256(f"{title}\0{text}".encode()).hexdigest() for title, text in zip(of_passages, texts, strict=True)
    ]
    return of_passages, texts, keys
