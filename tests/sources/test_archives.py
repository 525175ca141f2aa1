import gzip
from collections import Counter

import pyarrow as pa
import pytest

from tests.sources.small_hub import jpeg, lines, parquet, tar_of
from trivium.core.errors import BadInput
from trivium.sources.archives import images_in_tar, read_records

RECORDS = [{"id": str(i), "answers": ["a", "b"][:i]} for i in range(3)]


def arrow(records):
    table = pa.Table.from_pylist(records)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.jsonl", lines),
        ("x.json", lines),
        ("x.jsonl.gz", lambda records: gzip.compress(lines(records), mtime=0)),
        ("x.parquet", parquet),
        ("x.arrow", arrow),
    ],
)
def test_same_records_from_every_format(name, write, tmp_path):
    (tmp_path / name).write_bytes(write(RECORDS))
    assert list(read_records(tmp_path / name)) == list(enumerate(RECORDS, 1))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.csv", b"", "unknown kind of file"),
        ("x.jsonl.gz", gzip.compress(lines(RECORDS), mtime=0)[:-9], "damaged gzip"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1}\n{"a"', mtime=0), "x.jsonl.gz:2: not JSON"),
        ("x.jsonl.gz", gzip.compress(b"[1]\n", mtime=0), "x.jsonl.gz:1: not a JSON object"),
        ("x.parquet", parquet(RECORDS)[:-9], "x.parquet: not a readable Parquet file"),
    ],
)
def test_broken_files(name, data, message, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match=message):
        list(read_records(tmp_path / name))


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_images_do_not_depend_on_where_the_archive_is_cut(parts, tmp_path):
    images = {
        "a.jpg": jpeg("red"),
        "sub/a.jpg": jpeg("blue"),
        "b.PNG": jpeg("green"),
        "note.txt": b"x",
        "c.jpg": jpeg("white"),
    }
    data = tar_of(images)
    size = -(-len(data) // parts)
    paths = []
    for part in range(parts):
        paths.append(tmp_path / f"part{part}")
        paths[-1].write_bytes(data[part * size : (part + 1) * size])
    counts = Counter()
    assert dict(images_in_tar(paths, {"a.jpg", "b.PNG"}, counts)) == {"a.jpg": jpeg("red"), "b.PNG": jpeg("green")}
    assert counts == {"twice": 1, "not_an_image": 1, "not_wanted": 1}
    assert [name for name, _ in images_in_tar(paths)] == ["a.jpg", "b.PNG", "c.jpg"]


@pytest.mark.parametrize("data", [tar_of({"a.jpg": bytes(range(256)) * 64})[:-400], b"no archive"], ids=["cut", "none"])
def test_broken_archive(data, tmp_path):
    (tmp_path / "part").write_bytes(data)
    with pytest.raises(BadInput, match="broken archive"):
        list(images_in_tar([tmp_path / "part"]))
