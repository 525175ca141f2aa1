import errno
import os

import pytest

from trivium.sources.brought import bring, link


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
