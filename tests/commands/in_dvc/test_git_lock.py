"""A file of Git that a full disk leaves half written is given up whole."""

from pathlib import Path

from dulwich.file import GitFile


def test_the_lock_goes_although_the_disk_is_full(tmp_path: Path):
    index = tmp_path / "index"
    index.write_bytes(b"before")
    file = GitFile(str(index), "wb")
    assert (tmp_path / "index.lock").exists()
    file._file.close()
    file._file = Path("/dev/full").open("wb")
    file._file.write(b"after")
    file.abort()
    assert [each.name for each in tmp_path.iterdir()] == ["index"]
    assert index.read_bytes() == b"before"
    with GitFile(str(index), "wb") as again:
        again.write(b"after")
    assert index.read_bytes() == b"after"
