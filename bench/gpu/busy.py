"""Measure how busy a GPU is with `nvidia-smi`."""

import statistics
import subprocess
from types import TracebackType
from typing import Self

EVERY = 200  # milliseconds
COMMAND = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--id=0", f"--loop-ms={EVERY}"]


class Busy:
    """Measures how busy the first GPU is while the block runs.

    Attributes:
        share: share of the time in which it computed, in [0, 1]; None without a value from `nvidia-smi`.
    """

    def __init__(self) -> None:
        self.share: float | None = None
        self._watcher: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._watcher = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            print("nvidia-smi is missing: how busy the GPU is stays unknown")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watcher is None:
            return
        self._watcher.terminate()
        said = [line.strip() for line in self._watcher.communicate()[0].splitlines()]
        if shares := [int(line) / 100 for line in said if line.isdigit()]:
            self.share = statistics.mean(shares)
