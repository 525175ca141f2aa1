"""Stages start as forks of a process that has loaded what the stages before them imported.

torch and transformers take seconds to import, and a run of the graph starts more than a hundred stages. Each DVC, also
that of a lane, opens one such process with its first stage. DVC starts a stage as ever, `python -m stages.…`. Before
that Python imports anything, it hands its command, environment and output over (`hand_over`), and waits: what DVC sees,
and what a kill hits, is the process that DVC has started. When it ends first, its fork is killed; a fork is killed with
the process it comes from, and that one with its DVC.

Nothing of the project is imported before a fork, so that a stage runs the code that lies there when it starts. What
libraries a stage has imported, the process imports after it, with the settings that the stage had made in the
environment. A stage starts by itself, as ever, where it would not be the same: with another interpreter or another
`params.yaml` (libraries read the settings of `run.portable` as they are loaded), or once a library has started a
thread, which a fork would lose. `warm_stages.py` opens the process.
"""

import atexit
import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any

from .parent import WARM_START

# What is worth to be loaded; other libraries come with these, or start threads or a Java machine.
LIBRARIES = (
    *("cv2", "faiss", "nltk", "numpy", "open_clip", "pandas", "PIL", "pyarrow", "pydantic", "rouge_score", "scipy"),
    *("sentence_transformers", "sklearn", "spacy", "torch", "torchvision", "transformers", "yaml"),
)
FAMILY = "stages"  # for the code digests: what is run by a name
_PEER = struct.Struct("3i")  # number of the process, of its user and of its group
_SIZE = struct.Struct("<q")
_STATUS = struct.Struct("<i")
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_AT_HOME_IN_FORKS = "jemalloc_bg_thd"  # of Arrow's allocator, which does its work itself in a fork


def hand_over() -> None:
    """Let this Python's stage run in a fork, and end as it ends; return where the stage has to start by itself."""
    address = os.environ.pop(WARM_START, None)
    words = sys.orig_argv
    if address is None or words[1:2] != ["-m"] or not words[2].startswith("stages."):
        return
    asked = {
        "words": words[2:],
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
        "python": _python(os.environ),
    }
    message = json.dumps(asked).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        try:
            server.connect(f"\0{address}")
            if _user_of(server) != os.geteuid():
                return
            socket.send_fds(server, [_SIZE.pack(len(message))], [0, 1, 2])
            server.sendall(message)
            if server.recv(1) != b"y":
                return
        except OSError:
            return
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        told = _read(server, _STATUS.size)
    if len(told) < _STATUS.size:
        print("the process that starts stages was killed", file=sys.stderr, flush=True)
        os._exit(1)
    (code,) = _STATUS.unpack(told)
    os._exit(code if code >= 0 else 128 - code)


@dataclass
class Fork:
    """What a fork has to run.

    Attributes:
        words: the module, and its arguments.
        folder: to run it in.
        environment: of the process that DVC has started.
        report: file descriptor of a pipe, for what was imported.
    """

    words: list[str]
    folder: str
    environment: dict[str, str]
    report: int

    def run(self) -> int:
        """Be that process, `python -m module arguments`; the code that it ends with."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        module, *arguments = self.words
        sys.orig_argv = [sys.executable, "-m", *self.words]
        sys.argv = ["-m", *arguments]  # as while Python looks for a module
        try:
            run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                return end.code or 0
            print(end.code, file=sys.stderr)
            return 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
            return 1
        finally:
            made = {name: value for name, value in os.environ.items() if self.environment.get(name) != value}
            loaded = [name for name in sys.modules if name.partition(".")[0] in LIBRARIES]
            with suppress(OSError), os.fdopen(self.report, "wb") as report:
                report.write(json.dumps({"environment": made, "modules": loaded}).encode())
        return 0


def serve(listening: socket.socket, parameters: Path = Path("params.yaml")) -> Fork:
    """Fork for each stage that is handed over, one after the other; returns in the forks only.

    Raises:
        SystemExit: a fork would not be what the stage would be by itself.
    """
    status = _status(parameters)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal it reaches all; this process ends with its DVC
    while True:
        connection, _ = listening.accept()
        with connection:
            if _user_of(connection) != os.geteuid():
                continue
            try:
                size, files, *_ = socket.recv_fds(connection, _SIZE.size, 3)
                asked = json.loads(_read(connection, *_SIZE.unpack(size)))
            except (OSError, ValueError, struct.error):  # it was killed meanwhile
                continue
            here = [str(Path.cwd()), *_python(os.environ)] == [asked["folder"], *asked["python"]]
            if not here or _status(parameters) != status or _threads():
                raise SystemExit  # the connection closes, and the stage starts by itself
            told, report = os.pipe()
            mother = os.getpid()
            child = os.fork()
            if not child:
                _die_with(mother)
                for number, file in enumerate(files):
                    os.dup2(file, number)
                for file in (*files, told, listening.detach(), connection.detach()):
                    os.close(file)
                return Fork(asked["words"], asked["folder"], asked["environment"], report)
            for file in (*files, report):
                os.close(file)
            with suppress(OSError):  # it is gone: the fork is killed next
                connection.sendall(b"y")
            learnt = _wait(child, connection, told)
        _load(learnt)


def _wait(child: int, connection: socket.socket, told: int) -> bytes:
    """Say how a fork ended, or kill it when nobody waits for it any more; what it reported."""
    learnt = b""
    ended = os.pidfd_open(child)
    with os.fdopen(told, "rb", buffering=0) as report:
        waiting: list[Any] = [ended, connection, report]
        while ended in waiting:
            for ready in select.select(waiting, [], [])[0]:
                if ready is report:
                    part = report.read(65536)
                    learnt += part or b""
                    if not part:
                        waiting.remove(report)
                elif ready is connection:
                    os.kill(child, signal.SIGKILL)
                    waiting.remove(connection)
                else:
                    waiting.remove(ended)
    os.close(ended)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        connection.sendall(_STATUS.pack(code))
    return learnt


def _load(learnt: bytes) -> None:
    """Import what a stage has imported, with its settings."""
    try:
        report = json.loads(learnt)
    except ValueError:  # it was killed, or left without an end
        return
    os.environ.update(report["environment"])
    new = [name for name in report["modules"] if name not in sys.modules]
    for name in new:
        with suppress(Exception):  # a stage needs it, or not: there it is told
            import_module(name)
    if new:
        gc.collect()
        gc.freeze()  # else the collector of each fork copies all pages


def _python(environment: Any) -> list[str]:
    """What makes an interpreter: its program, and its own settings."""
    return [sys.executable, *(f"{name}={value}" for name, value in sorted(environment.items()) if name[:6] == "PYTHON")]


def _threads() -> list[str]:
    """What would be missing in a fork: this process's other threads, by name."""
    others = [task for task in Path("/proc/self/task").iterdir() if task.name != str(os.getpid())]
    names = [(task / "comm").read_text().strip() for task in others]
    return [name for name in names if name != _AT_HOME_IN_FORKS]


def _status(file: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = file.stat()
        return status.st_mtime_ns, status.st_ino
    return None


def _die_with(parent: int) -> None:
    """Let the system kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _user_of(connection: socket.socket) -> int:
    """Whose process is at the other end."""
    peer: tuple[int, int, int] = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return peer[1]


def _read(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer where the other end closes."""
    found = b""
    while len(found) < size and (part := connection.recv(min(size - len(found), 65536))):
        found += part
    return found


if __name__ == "__main__":
    _die_with(int(sys.argv[2]))
    code = serve(socket.socket(fileno=int(sys.argv[1]))).run()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # to take apart what the libraries are made of would cost a stage .2 s
