"""A file of Git that a full disk leaves half written is given up whole."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich.file import GitFile


@pytest.mark.parametrize("name", [os.fspath, os.fsencode], ids=["str", "bytes"])
def test_the_lock_goes_although_the_disk_is_full(tmp_path: Path, name: Callable[[Path], str | bytes]):
    index = tmp_path / "index"
    index.write_bytes(b"before")
    file = GitFile(name(index), "wb")
    assert (tmp_path / "index.lock").exists()
    file._file.close()
    file._file = Path("/dev/full").open("wb")  # noqa: SIM115 - `abort` is to close it
    file._file.write(b"after")
    file.abort()
    assert [each.name for each in tmp_path.iterdir()] == ["index"]
    assert index.read_bytes() == b"before"
    with GitFile(name(index), "wb") as again:
        again.write(b"after")
    assert index.read_bytes() == b"after"
