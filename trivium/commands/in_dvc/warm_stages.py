"""A DVC opens the process that its stages are forked from, see `warm_start.py`, with the first of them.

On Linux only, and where there is no GPU: CUDA does not work in forks of a process in which a library has looked for it.
"""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from functools import cache


def address() -> str | None:
    """Of the process that this DVC's stages are forked from; None where they start by themselves."""
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None  # the process would end with another thread
    return _opened()


@cache
def _opened() -> str | None:
    if has_gpu():
        return None
    name = f"trivium-{secrets.token_hex(16)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.warm_start", str(listening.fileno()), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
        )
    return name


def has_gpu() -> bool:
    """Whether NVIDIA's driver answers."""
    return (
        shutil.which("nvidia-smi") is not None and subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0
    )
