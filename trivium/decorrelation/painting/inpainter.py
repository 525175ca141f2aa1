"""The client of the in-painting worker: starts it, sends it pictures, and reports when it dies.

A request is one message, an NPZ archive of pixels, region, pixels, region, …; as many messages come back, the pixels
of each painted picture. A region is (height, width), 255 where the picture is to be painted, else 0. Nothing is
unpickled: the worker runs a program that was downloaded (LaMa's TorchScript).
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from trivium.core.errors import BadInput
from trivium.formats.masks import Mask, Pixels

ROOT = Path(__file__).parents[3]
WORKER = Path(__file__).with_name("worker.py")


def find_uv() -> Path | None:
    """The program uv: on the PATH, or where `make` puts it: in `.uv` beside the virtual environment."""
    program = shutil.which("uv")
    if program is not None:
        return Path(program)
    installed = Path(sys.prefix).parent / ".uv" / "bin" / "uv"
    return installed if installed.is_file() else None


def worker_command() -> list[str]:
    """The command that runs the worker's script in its locked environment, which uv makes; `BadInput` without uv."""
    uv = find_uv()
    if uv is None:
        raise BadInput(
            "uv not found, on the PATH or in .uv; in-painting has an environment of its own: run `make setup`"
        )
    return [str(uv), "run", "--quiet", "--frozen", "--python", sys.executable, "--script", str(WORKER)]


def worker_environment() -> dict[str, str]:
    """The worker's variables: it imports this checkout's `trivium`, and nothing from beside its script by accident."""
    own = {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", "UV_PYTHON_DOWNLOADS": "never", "PYTHONWARNINGS": "ignore"}
    own["PYTHONDONTWRITEBYTECODE"] = ""  # it lives in uv's cache: bytecode there halves the next start
    return os.environ | own


class Inpainter:
    """A worker with its model loaded, started with arguments of `worker.py`; it ends with this object or process."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self.process = subprocess.Popen(
            [*worker_command(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=worker_environment(),
            start_new_session=True,  # Ctrl-C is for the stage; the worker ends when its input does
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests = Connection(os.dup(self.process.stdin.fileno()), readable=False)
        self._replies = Connection(os.dup(self.process.stdout.fileno()), writable=False)
        self._end = weakref.finalize(self, _end, self.process, self._requests, self._replies)

    def paint(self, pictures: Sequence[tuple[Pixels, Mask]]) -> Iterator[Pixels]:
        """Paint each picture within its mask; what comes back outside the mask is not to be used.

        While a picture is used the worker paints the next ones; all are taken before it is asked again.

        Raises:
            BadInput: the worker could not start, or died; with its exit code and its last words.
        """
        request = io.BytesIO()
        np.savez(request, *(part for pixels, mask in pictures for part in (pixels, 255 * mask.astype(np.uint8))))
        try:
            self._requests.send_bytes(request.getbuffer())
            for pixels, _ in pictures:
                yield np.frombuffer(self._replies.recv_bytes(), np.uint8).reshape(pixels.shape)
        except (EOFError, OSError):
            raise self._died() from None

    def _died(self) -> BadInput:
        self._end()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        return BadInput(
            f"the in-painting worker ended with exit code {self.process.returncode} before its pictures were painted; "
            f"painted shards are kept: start the stage again to go on. Its last words: {said[-1000:] or 'none'}",
            file=WORKER,
        )


def _end(process: subprocess.Popen[bytes], *connections: Connection) -> None:
    """Close the pipes, which ends the worker, and wait for it."""
    for stream in (*connections, process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()
