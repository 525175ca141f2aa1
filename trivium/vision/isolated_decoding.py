"""Strangers' pictures, decoded in two processes of their own that are bounded in memory and time.

What breaks a decoder breaks one such process and never who asked. Both have little memory to spare; a picture that
needs more is decoded while the other process has nothing to do, so that together they stay below half a gibibyte.
"""

import io
import math
import os
import queue
import resource
import struct
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self, get_args

import psutil
from PIL import Image, JpegImagePlugin

from trivium.vision.decoding import Reason, Unreadable, decode

PROCESSES = 2
# Bytes a picture may take. A progressive JPEG is held whole: at 100 million pixels it takes 320 MiB with its colours
# halved both ways, as usual, and too much with all of them; a plain one takes next to nothing.
LITTLE, MUCH = 128 * 2**20, 400 * 2**20
SECONDS = 30.0  # of a processor that a picture may take; 40 million pixels take two
PATIENCE = 300.0  # seconds until a process that gets no processor, or wants none, is given up
_JOB, _SIZE = struct.Struct("<QQII"), struct.Struct("<II")
_NO_MEMORY = b"no memory"
_MODULE = "trivium.vision.isolated_decoding"


class Decoders:
    """`decoding.decode` for any number of threads at once, in `PROCESSES` processes.

    Args:
        max_side, max_pixels: see `decoding.decode_picture`.
    """

    def __init__(self, *, max_side: int, max_pixels: int) -> None:
        self._limits = max_side, max_pixels
        self._processes = [_Decoder() for _ in range(PROCESSES)]
        self._idle: queue.SimpleQueue[_Decoder] = queue.SimpleQueue()
        for each in self._processes:
            self._idle.put(each)
        self._alone = threading.Lock()

    def decode(self, data: bytes) -> Image.Image:
        """An upright RGB picture of bounded size.

        Raises:
            Unreadable: as `decoding.decode_picture`; also `too_large` where memory or time do not suffice.
        """
        process = self._idle.get()
        try:
            reply = process.ask(self._job(data, LITTLE), data)
        finally:
            self._idle.put(process)
        if reply in (_NO_MEMORY, b"corrupt"):  # libwebp and libjpeg do not say that it was memory
            reply = self._decode_alone(data)
        if reply == _NO_MEMORY:
            raise Unreadable("too_large", "needs too much memory")
        if reply.decode("ascii", "replace") in get_args(Reason):
            raise Unreadable(reply.decode("ascii"))  # type: ignore[arg-type]
        size = _SIZE.unpack_from(reply)
        return Image.frombytes("RGB", size, reply[_SIZE.size :])

    def _decode_alone(self, data: bytes) -> bytes:
        """The reply of a new process that ends with it: what others held before would be missing."""
        with self._alone:
            process, other = self._idle.get(), self._idle.get()
            try:
                process.end()
                return process.ask(self._job(data, MUCH), data)
            finally:
                process.end()
                self._idle.put(process)
                self._idle.put(other)

    def _job(self, data: bytes, memory: int) -> bytes:
        return _JOB.pack(memory, len(data), *self._limits)

    def close(self) -> None:
        """End the processes."""
        for each in self._processes:
            each.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Decoder:
    """One process, started when it is first asked and whenever the one before has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection

    def ask(self, job: bytes, data: bytes) -> bytes:
        """The reply to a job about a picture; a process that breaks down or takes too long is replaced.

        Raises:
            Unreadable: it did.
        """
        if self._process is None:
            self._start()
        try:
            self._line.send_bytes(job)
            self._line.send_bytes(data)  # apart: together they would be held twice at both ends
            if self._answers():
                return self._line.recv_bytes()
        except (EOFError, OSError):
            self.end()
            raise Unreadable("corrupt", "it broke the decoder") from None
        self.end()
        raise Unreadable("too_large", f"takes more than {SECONDS:.0f} s")

    def _answers(self) -> bool:
        """Wait for the reply, or for the end of the process; no longer than a picture may take."""
        assert self._process is not None
        process, started = psutil.Process(self._process.pid), time.monotonic()
        before = process.cpu_times()
        while not self._line.poll(0.1):
            now = process.cpu_times()
            used = now.user + now.system - before.user - before.system
            if used > SECONDS or time.monotonic() - started > PATIENCE:
                return False
        return True

    def _start(self) -> None:
        """Neither a fork, which would hold all that the asker holds, nor a child that imports the asker's modules."""
        self._line, other = Pipe()
        limits = {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE, str(other.fileno())],
            env=os.environ | limits,
            pass_fds=[other.fileno()],
            start_new_session=True,  # Ctrl-C is for who asks
        )
        other.close()

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._line.close()
            self._process = None


def _serve(line: Connection) -> None:
    """Answer jobs until nobody is left to ask."""
    before = psutil.Process().memory_info().vms
    while True:
        try:
            memory, length, max_side, max_pixels = _JOB.unpack(line.recv_bytes())
            resource.setrlimit(resource.RLIMIT_AS, (before + length + memory, resource.RLIM_INFINITY))
            line.send_bytes(_reply(line.recv_bytes(), max_side, max_pixels, memory))
        except EOFError:
            return


def _reply(data: bytes, max_side: int, max_pixels: int, memory: int) -> bytes:
    try:
        picture = decode(data, max_side=max_side, max_pixels=max_pixels)
    except Unreadable as problem:
        return _NO_MEMORY if problem.reason == "corrupt" and _coefficients(data) > memory else problem.reason.encode()
    except MemoryError:
        return _NO_MEMORY
    return _SIZE.pack(*picture.size) + picture.tobytes()


def _coefficients(data: bytes) -> int:
    """Bytes that libjpeg holds of a progressive JPEG, whole; 0 of another file. Without them it says `broken`."""
    try:
        image = Image.open(io.BytesIO(data), formats=["JPEG"])
    except Exception:  # not a JPEG, or one without a header
        return 0
    if not isinstance(image, JpegImagePlugin.JpegImageFile) or "progressive" not in image.info:
        return 0
    shares = [across * down for _, across, down, _ in image.layer]  # of the pixels: the largest component has them all
    return math.ceil(2 * image.width * image.height * sum(shares) / max(shares))


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
