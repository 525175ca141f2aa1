"""Archives that are encrypted, damaged, cut or larger than they look."""

import struct
import zipfile
from pathlib import Path

import pytest

from trivium.core.errors import BadInput
from trivium.core.zips import open_zip, read_member, unpack_member

TEXT = b"a text that is longer than its name" * 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/one.txt", TEXT)
    return tmp_path / "a.zip"


def read(path: Path, most: int = 10**6) -> bytes:
    with open_zip(path) as archive:
        (member,) = archive.infolist()
        return read_member(archive, member, path, most)


def patched(path: Path, *changes: tuple[int, bytes]) -> Path:
    """The archive with bytes changed in its list of members, at offsets from the entry's beginning."""
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")
    for offset, value in changes:
        data[entry + offset : entry + offset + len(value)] = value
    path.write_bytes(data)
    return path


def test_members_are_read_and_unpacked(path: Path, tmp_path: Path):
    assert read(path) == read(path, len(TEXT)) == TEXT
    unpack_member(path, "folder/one.txt", tmp_path / "out" / "one.txt")
    assert (tmp_path / "out" / "one.txt").read_bytes() == TEXT
    with pytest.raises(BadInput, match=r"a\.zip: no such member; got 'two' \(choices: folder/one\.txt\)"):
        unpack_member(path, "two", tmp_path / "two")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(1 << 24))
    assert (tmp_path / "bomb.zip").stat().st_size < 1 << 15
    with pytest.raises(
        BadInput, match=r"bomb\.zip:zeros: member too large; got '16777216 bytes unpacked'; expected at most 1000"
    ):
        read(tmp_path / "bomb.zip", 1000)


def test_a_bomb_that_says_it_is_small_unpacks_no_more_than_it_says(path: Path, tmp_path: Path):
    patched(path, (24, struct.pack("<L", 10)))
    with pytest.raises(BadInput, match=r"a\.zip:folder/one\.txt: broken member: Bad CRC"):
        read(path, 1000)


def test_what_is_broken_is_refused(path: Path, tmp_path: Path):
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(BadInput, match=r"a\.zip: broken archive"):
            read(path)
    path.write_bytes(whole.replace(TEXT[:4], b"", 1))
    place = 30 + len("folder/one.txt")
    path.write_bytes(whole[:place] + bytes(4) + whole[place + 4 :])
    with pytest.raises(BadInput, match=r"a\.zip:folder/one\.txt: broken member"):
        read(path)
    path.write_bytes(whole)
    with pytest.raises(BadInput, match=r"broken member: .*compression method|That compression"):
        read(patched(path, (10, b"\x63\x00")))
