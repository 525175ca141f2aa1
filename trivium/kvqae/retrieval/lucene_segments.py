"""Takes the clock and the machine out of a Lucene index, so that equal documents give equal files.

Lucene describes each segment in a `.si` file (Lucene99SegmentInfoFormat). It holds diagnostics, which nothing reads
back: when and where the segment was made. Their order and that of the files' names change from one Java machine to the
next. The segment's random id is fixed by `-Dtests.seed`.
"""

import zlib
from pathlib import Path

_CODEC = b"\x3f\xd7\x6c\x17\x13Lucene90SegmentInfo"
_ID, _VERSION = 16, 12  # bytes of the segment's id; of one version of Lucene, three numbers
_CHECKSUM = 8  # bytes at the end: the CRC-32 of all before them
_OF_THE_MACHINE = {b"timestamp", b"os", b"os.arch", b"os.version", b"java.runtime.version", b"java.vendor"}


def forget_machine(folder: Path) -> None:
    """Empty the diagnostics that tell time and machine, and sort what has no order, in every segment of an index.

    Raises:
        ValueError: a segment's file is not as this version of Lucene writes it.
    """
    for path in sorted(folder.glob("*.si")):
        try:
            content = _forgotten(path.read_bytes())
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path}: not a description of a segment as Lucene 9.9 writes it: {error}") from None
        path.write_bytes(content)


def _forgotten(content: bytes) -> bytes:
    if zlib.crc32(content[:-_CHECKSUM]) != int.from_bytes(content[-_CHECKSUM:], "big"):
        raise ValueError("the checksum is not that of the content")
    if not content.startswith(_CODEC):
        raise ValueError("another format")
    start = len(_CODEC) + 4 + _ID + 1  # the format's version before the id, an empty suffix after it
    start += _VERSION + 1 + (_VERSION if content[start + _VERSION] else 0)  # of the oldest segment merged, if known
    start += 4 + 1 + 1  # how many documents; whether in one compound file; whether in blocks
    diagnostics, end = _texts(content, start, 2)
    files, end = _texts(content, end, 1)
    attributes, end = _texts(content, end, 2)
    for index, name in enumerate(diagnostics[::2]):
        if name in _OF_THE_MACHINE:
            diagnostics[2 * index + 1] = b""
    middle = b"".join(_written(*texts) for texts in ((diagnostics, 2), (files, 1), (attributes, 2)))
    whole = content[:start] + middle + content[end:-_CHECKSUM]
    return whole + zlib.crc32(whole).to_bytes(_CHECKSUM, "big")


def _texts(content: bytes, start: int, parts: int) -> tuple[list[bytes], int]:
    """A set's texts (parts: 1) or a map's keys and values in turn (2), and where they end."""
    count, start = _number(content, start)
    found = []
    for _ in range(parts * count):
        length, start = _number(content, start)
        found.append(content[start : start + length])
        start += length
    return found, start


def _written(texts: list[bytes], parts: int) -> bytes:
    entries = sorted(tuple(texts[index : index + parts]) for index in range(0, len(texts), parts))
    return _vint(len(entries)) + b"".join(_vint(len(text)) + text for entry in entries for text in entry)


def _number(content: bytes, start: int) -> tuple[int, int]:
    """A number of Lucene's variable length, seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = content[start]
        value, shift, start = value | (byte & 127) << shift, shift + 7, start + 1
        if byte < 128:
            return value, start


def _vint(value: int) -> bytes:
    rest, low = divmod(value, 128)
    return bytes([low]) if not rest else bytes([low | 128]) + _vint(rest)
