"""Reading files of users: the one place that checks files, texts, numbers and sizes for all formats.

What passes here is safe for every later stage: a file is a regular one (a pipe would make the reader wait for ever);
text is UTF-8 without halves of surrogate pairs; a whole number fits 64 bits; any other number is finite; nothing is
larger than memory allows. A text may be packed by gzip, and may begin with a byte order mark.
"""

import gzip
import json
import math
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from trivium.core.errors import BadInput

LARGEST_FILE = 8 << 30  # bytes of a file that is read as a whole; COCO's instances, the largest, have half a GiB
LARGEST_IMAGE = 1 << 28  # bytes, encoded
LONGEST_LINE = 1 << 28  # bytes; the longest article of KILT has some 10 MB
LARGEST_NUMBER = 2**63 - 1
_DIGITS = len(str(LARGEST_NUMBER))
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair
Signature = tuple[tuple[str, int, int, int], ...]  # name, time, size and inode of each file
_GZIP, _MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
_NOT_THE_FILE = (
    (re.compile(rb"version https://git-lfs\.github\.com/spec/"), "a pointer of Git LFS", "the file, by `git lfs pull`"),
    (
        re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype html|html)\b", re.IGNORECASE | re.DOTALL),
        "a page of HTML",
        "the file, not a server's answer",
    ),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "text in UTF-16", "UTF-8"),
)


def require_file(path: Path) -> None:
    """Raise `BadInput` unless a regular file is there; nothing is opened."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput("no such file", file=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise BadInput(f"cannot be read: {getattr(error, 'strerror', None) or error}", file=path) from None
    if not stat.S_ISREG(mode):
        got = "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise BadInput("not a regular file", file=path, got=got)


def is_file(path: Path) -> bool:
    """Whether a file is there; one whose name is too long for the file system, or that may not be looked at, is not."""
    try:
        return path.is_file()
    except OSError:
        return False


def signature_of(path: Path) -> Signature:
    """The signature of a file, or of all files in a folder, which tells without reading whether they have changed.

    It is empty where there is none, and lacks what is removed while it is taken.
    """
    names = [path] if path.is_file() else sorted(Path(at) / name for at, _, files in os.walk(path) for name in files)
    signature = []
    for name in names:
        with suppress(FileNotFoundError):
            status = name.stat()
            signature.append((str(name), status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(signature)


def open_file(path: Path) -> BufferedReader:
    """Open a regular file to read its bytes; `BadInput` when there is none, or it may not be read."""
    require_file(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=path) from None


def read_bytes(path: Path, most: int = LARGEST_FILE) -> bytes:
    """A whole file of at most `most` bytes."""
    with open_file(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > most:
            raise BadInput("file too large", file=path, got=f"{size} bytes", expected=f"at most {most}")
        return stream.read()


@contextmanager
def open_text(path: Path) -> "Iterator[BufferedReader[Any]]":
    """Open a file of text to read its bytes: unpacked where it is packed by gzip, behind its byte order mark.

    Raises:
        BadInput: as `open_file`; the file is a pointer of Git LFS, a page of HTML or a zip, or its gzip is damaged.
    """
    with open_file(path) as packed:
        stream: BufferedReader[Any] = BufferedReader(gzip.GzipFile(fileobj=packed)) if is_packed(packed) else packed
        try:
            start = stream.peek(512)
            _refuse_other(start, path)
            if start.startswith(b"PK\x03\x04"):
                expected = "text, or text packed by gzip"
                raise BadInput("a zip, as archives and spreadsheets are", file=path, expected=expected)
            if start.startswith(_MARK):
                stream.read(len(_MARK))
            yield stream
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise BadInput(f"damaged gzip: {error}", file=path) from None


def _refuse_other(start: bytes, path: Path) -> None:
    for pattern, got, expected in _NOT_THE_FILE:
        if pattern.match(start.removeprefix(_MARK)):
            raise BadInput("another file stands in its place", file=path, got=got, expected=expected)


def refuse_other(path: Path) -> None:
    """Raise `BadInput` where a pointer of Git LFS or a page of HTML stands in the place of a file that is no text.

    Args:
        path: the file, or a folder of such files.
    """
    for file in sorted(filter(is_file, path.iterdir())) if path.is_dir() else filter(is_file, [path]):
        with open_file(file) as stream:
            _refuse_other(stream.read(512), file)


def is_packed(stream: BufferedReader) -> bool:
    """Whether what comes next is packed by gzip; nothing is read."""
    return stream.peek(len(_GZIP)).startswith(_GZIP)


def read_text(path: Path, *, expected: str | None = None) -> str:
    """A whole file of UTF-8; `BadInput` names the line where it is none."""
    with open_text(path) as stream:
        data = stream.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise BadInput("file too large", file=path, expected=f"at most {LARGEST_FILE} bytes")
    return decode(data, path, expected=expected)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Stream (row from 1, line); `BadInput` when there is no such file, or at the row that is too long or not UTF-8."""
    with open_text(path) as stream:
        row = 0
        while line := stream.readline(LONGEST_LINE + 1):
            row += 1
            if len(line) > LONGEST_LINE:
                raise BadInput("line too long", file=path, row=row, expected=f"at most {LONGEST_LINE} bytes")
            yield row, decode(line, path, row)


def decode(data: bytes, path: Path, row: int | None = None, *, expected: str | None = None) -> str:
    """The text of UTF-8; `BadInput` names the row, or the line of the data, where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1 if row is None else row
        problem = f"not UTF-8: {error.reason} at byte {error.start}"
        raise BadInput(problem, file=path, row=line, expected=expected) from None


def whole_number(text: str) -> int:
    """Parse a whole number of ASCII digits, with or without a minus.

    Raises:
        ValueError: no such number, or one that 64 bits cannot hold.
    """
    if _WHOLE.fullmatch(text) is None or not -LARGEST_NUMBER <= (number := int(text)) <= LARGEST_NUMBER:
        raise ValueError("not a whole number of at most 64 bits")
    return number


def finite_number(text: str) -> float:
    """Parse a number of ASCII digits, with or without sign, point and exponent.

    Raises:
        ValueError: no such number, NaN, or infinite.
    """
    number = float(text)
    if not math.isfinite(number) or text.strip("0123456789+-.eE"):  # Python takes 1_0, digits of other scripts, spaces
        raise ValueError("not a finite number")
    return number


class _Misfit:
    """Stands for a number of JSON that is out of range."""

    made = 0  # so far; whoever has parsed a text looks for misfits where it has grown

    def __init__(self, text: str) -> None:
        self.text = text
        _Misfit.made += 1


def _integer(text: str) -> int | _Misfit:
    if len(text) >= _DIGITS and (len(text.removeprefix("-")) > _DIGITS or abs(int(text)) > LARGEST_NUMBER):
        return _Misfit(text)
    return int(text)


def _float(text: str) -> float | _Misfit:
    number = float(text)
    return number if math.isfinite(number) else _Misfit(text)


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_Misfit)


def parse_json(text: str, file: Path, row: int | None = None) -> Any:
    """The JSON value of a text.

    Args:
        text: one value, white space around it.
        file: for messages.
        row: line of the text in its file; None: the text is the file.

    Raises:
        BadInput: not JSON (names the line), nested too deep; or names the field of a number that 64 bits cannot hold or
            that is not finite, and of a text or key with half of a surrogate pair.
    """
    before = _Misfit.made
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg}", file=file, row=row or error.lineno) from None
    except RecursionError:
        raise BadInput("JSON nested too deep", file=file, row=row) from None
    if _Misfit.made != before or "\\ud" in text or "\\uD" in text:
        _refuse_misfit(value, file, row)
    return value


def parse_element(text: str, place: int, file: Path, row: int) -> tuple[Any, int]:
    """The JSON value that begins at a place of a text, checked as `parse_json` does, and the place behind it.

    Raises:
        JSONDecodeError: the value is cut off, or no JSON.
        BadInput: see `parse_json`.
    """
    try:
        _, end = _DECODER.raw_decode(text, place)
    except RecursionError:
        raise BadInput("JSON nested too deep", file=file, row=row) from None
    return parse_json(text[place:end], file, row), end


def _refuse_misfit(value: Any, file: Path, row: int | None) -> None:
    """Raise `BadInput` at the first number or text, in the order of the file, that is a misfit."""
    left = [("", value)]
    while left:  # no recursion: the value may be nested as deep as JSON may be
        name, value = left.pop()
        problem = expected = None
        if isinstance(value, _Misfit):
            problem, value, expected = "number out of range", value.text, "a finite number, a whole one of 64 bits"
        elif isinstance(value, str) and _HALF.search(value):
            problem, expected = "half of a surrogate pair", "text that UTF-8 can hold"
        if problem is not None:
            raise BadInput(problem, file=file, row=row, field=name or None, got=value, expected=expected)
        if isinstance(value, dict):
            left += [(f"{name}.{key}".removeprefix("."), part) for key, part in reversed(value.items())]
            left += [(name, key) for key in reversed(value)]
        elif isinstance(value, list):
            left += [(f"{name}[{number}]", part) for number, part in reversed(list(enumerate(value)))]
