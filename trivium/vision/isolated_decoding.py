"""Strangers' pictures, decoded in two processes of their own that are bounded in memory and time.

What breaks a decoder breaks one such process and never who asked. Both have little memory to spare; a picture that
needs more is decoded while the other process has nothing to do, so that together they stay below half a gibibyte.
"""

import os
import queue
import resource
import struct
import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self, get_args

import psutil
from PIL import Image

from trivium.vision.decoding import Reason, Unreadable, decode

PROCESSES = 2
LITTLE, MUCH = (
    128 * 2**20,
    400 * 2**20,
)  # bytes a picture may take: a progressive JPEG at 100 million pixels takes 320 MiB
SECONDS = 30.0  # a picture may take; 40 million pixels take two
_JOB, _SIZE = struct.Struct("<QII"), struct.Struct("<II")
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
        reply = self._ask(data, LITTLE)
        if reply in (_NO_MEMORY, b"corrupt"):  # libwebp and libjpeg do not say that it was memory
            with self._alone:
                other = self._idle.get()
                try:
                    reply = self._ask(data, MUCH)
                finally:
                    self._idle.put(other)
        if reply == _NO_MEMORY:
            raise Unreadable("too_large", "needs too much memory")
        if reply.decode("ascii", "replace") in get_args(Reason):
            raise Unreadable(reply.decode("ascii"))  # type: ignore[arg-type]
        size = _SIZE.unpack_from(reply)
        return Image.frombytes("RGB", size, reply[_SIZE.size :])

    def _ask(self, data: bytes, memory: int) -> bytes:
        process = self._idle.get()
        try:
            return process.ask(_JOB.pack(memory, *self._limits) + data)
        finally:
            self._idle.put(process)

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

    def ask(self, job: bytes) -> bytes:
        """The reply to a job; a process that breaks down or takes too long is replaced.

        Raises:
            Unreadable: it did.
        """
        if self._process is None:
            self._start()
        try:
            self._line.send_bytes(job)
            if self._line.poll(SECONDS):
                return self._line.recv_bytes()
        except (EOFError, OSError):
            self.end()
            raise Unreadable("corrupt", "it broke the decoder") from None
        self.end()
        raise Unreadable("too_large", f"takes more than {SECONDS:.0f} s")

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
            job = line.recv_bytes()
        except EOFError:
            return
        memory, max_side, max_pixels = _JOB.unpack_from(job)
        resource.setrlimit(resource.RLIMIT_AS, (before + len(job) + memory, resource.RLIM_INFINITY))
        line.send_bytes(_reply(job[_JOB.size :], max_side, max_pixels))


def _reply(data: bytes, max_side: int, max_pixels: int) -> bytes:
    try:
        picture = decode(data, max_side=max_side, max_pixels=max_pixels)
    except Unreadable as problem:
        return problem.reason.encode()
    except MemoryError:
        return _NO_MEMORY
    return _SIZE.pack(*picture.size) + picture.tobytes()


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
