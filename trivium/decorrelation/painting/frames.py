"""How the in-painting stage and its worker talk: pictures as length-prefixed frames on a pair of pipes.

A request is a count, then for each picture its height, width, RGB pixels and mask; its reply is the painted RGB pixels
in the same order. Numbers are unsigned 32-bit, little end first. Both environments import this module: NumPy only.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]  # (height, width, 3), RGB
Region = NDArray[np.uint8]  # (height, width), 255 where the picture is to be painted, else 0

_COUNT = struct.Struct("<I")
_SIZE = struct.Struct("<II")


class Closed(EOFError):
    """The other side ended in the middle of a frame."""


def write_request(stream: IO[bytes], pictures: Sequence[tuple[Pixels, Region]]) -> None:
    """Send pictures with what is to be painted in each."""
    stream.write(_COUNT.pack(len(pictures)))
    for pixels, region in pictures:
        stream.write(_SIZE.pack(*region.shape))
        stream.write(np.ascontiguousarray(pixels).data)
        stream.write(np.ascontiguousarray(region).data)
    stream.flush()


def read_request(stream: IO[bytes]) -> list[tuple[Pixels, Region]] | None:
    """The next request, whole, or None when the other side has closed its end."""
    head = stream.read(_COUNT.size)
    if not head:
        return None
    pictures = []
    for _ in range(*_COUNT.unpack(head)):
        height, width = _SIZE.unpack(_exactly(stream, _SIZE.size))
        pictures.append((_pixels(stream, (height, width, 3)), _pixels(stream, (height, width))))
    return pictures


def write_reply(stream: IO[bytes], painted: Iterable[Pixels]) -> None:
    """Send the painted pictures of one request."""
    for pixels in painted:
        stream.write(np.ascontiguousarray(pixels).data)
    stream.flush()


def read_reply(stream: IO[bytes], pictures: Sequence[tuple[Pixels, Region]]) -> Iterator[Pixels]:
    """The painted pictures of the request `pictures`; raises `Closed` when the worker ends before the last one."""
    return (_pixels(stream, pixels.shape) for pixels, _ in pictures)


def _pixels(stream: IO[bytes], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    return np.frombuffer(_exactly(stream, int(np.prod(shape))), np.uint8).reshape(shape)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise Closed
    return data
