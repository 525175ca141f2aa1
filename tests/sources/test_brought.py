import errno
import gzip
import os

import pytest

from tests.sources.small_hub import lines, parquet
from trivium.core.errors import BadInput
from trivium.sources.brought import bring, link, read_records


@pytest.fixture
def source(tmp_path):
    (tmp_path / "theirs" / "part").mkdir(parents=True)
    (tmp_path / "theirs" / "part" / "a.json").write_text("{}")
    (tmp_path / "theirs" / "b.json").symlink_to(tmp_path / "theirs" / "part" / "a.json")
    return tmp_path / "theirs"


def test_what_is_brought_shares_nothing_with_the_users_file(source, tmp_path):
    (source / "part" / "a.json").chmod(0o444)
    bring(source, tmp_path / "out", ["part/a.json", "b.json"])
    for name in ("part/a.json", "b.json"):
        copy = tmp_path / "out" / name
        assert copy.read_text() == "{}"
        assert not copy.is_symlink()
        assert not copy.samefile(source / name)
        assert copy.stat().st_mode & 0o200  # the writer of the output may still write it


def test_downloads_are_not_doubled(source, tmp_path):
    link(source, tmp_path / "out", ["part/a.json", "b.json"])
    for name in ("part/a.json", "b.json"):
        assert (tmp_path / "out" / name).samefile(source / "part" / "a.json")
        assert not (tmp_path / "out" / name).is_symlink()


def test_downloads_on_another_disk_are_copied(source, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(os, "link", refuse)
    link(source, tmp_path / "out", ["part/a.json"])
    assert (tmp_path / "out" / "part" / "a.json").read_text() == "{}"


RECORDS = [{"id": str(i), "answers": ["a", "b"][:i]} for i in range(3)]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.jsonl", lines),
        ("x.json", lines),
        ("x.jsonl.gz", lambda records: gzip.compress(lines(records), mtime=0)),
        ("x.parquet", parquet),
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
