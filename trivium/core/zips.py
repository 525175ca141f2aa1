"""Reading zip archives: an encrypted, damaged or exploding member is refused by name."""

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.core.atomic import write_atomically
from trivium.core.errors import BadInput
from trivium.core.reading import LARGEST_FILE, refuse_other, require_file

# What `zipfile` and its decompressors raise on damage.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, UnicodeDecodeError, ValueError, OverflowError, IndexError),
)
_ENCRYPTED = 1  # of a member's flags
_CHUNK = 1 << 20  # bytes


def open_zip(path: Path) -> zipfile.ZipFile:
    """An archive to read, which the caller closes; `BadInput` when it is none."""
    require_file(path)
    with _readable(path):
        return zipfile.ZipFile(path)


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, most: int) -> bytes:
    """The bytes of a member of an open archive; `path` is for messages.

    Raises:
        BadInput: the member is encrypted, damaged, or unpacks to more than `most` bytes.
    """
    return b"".join(_chunks(archive, member, path, most))


def unpack_member(path: Path, member: str, target: Path) -> None:
    """Copy one member out of an archive; raises as `read_member`, or `BadInput` where there is no such member."""
    with open_zip(path) as archive:
        names = archive.namelist()
        if member not in names:
            raise BadInput("no such member", file=path, got=member, choices=names)
        with write_atomically(target) as temporary, temporary.open("wb") as out:
            out.writelines(_chunks(archive, archive.getinfo(member), path, LARGEST_FILE))


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, most: int) -> Iterator[bytes]:
    name = member.filename
    if member.flag_bits & _ENCRYPTED:
        raise BadInput("encrypted member", file=path, row=name, expected="an archive without a password")
    if member.file_size > most:  # no more than it says is ever unpacked
        got, expected = f"{member.file_size} bytes unpacked", f"at most {most}"
        raise BadInput("member too large", file=path, row=name, got=got, expected=expected)
    with _readable(path, name), archive.open(member) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


@contextmanager
def _readable(path: Path, member: str | None = None) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        refuse_other(path)
        what = "archive" if member is None else "member"
        raise BadInput(f"broken {what}: {error}", file=path, row=member) from None
