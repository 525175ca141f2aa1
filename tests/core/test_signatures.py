"""What changes a signature."""

import os

import pytest

from trivium.core.signatures import signature_of


def touched(folder):
    os.utime(folder / "in/a", ns=(1, 1))


def exchanged(folder):
    before = (folder / "in/a").stat()
    (folder / "b").write_text("1")
    (folder / "b").replace(folder / "in/a")
    os.utime(folder / "in/a", ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        touched,
        exchanged,
        lambda folder: (folder / "in/a").write_text("12"),
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "in/a").unlink(),
        lambda folder: (folder / "in/a").rename(folder / "in/c"),
    ],
)
def test_every_change_of_a_file_below_a_folder_is_seen(tmp_path, change):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").write_text("1")
    before = signature_of(tmp_path)
    assert signature_of(tmp_path) == before
    change(tmp_path)
    assert signature_of(tmp_path) != before
