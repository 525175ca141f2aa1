"""A stage's own look at its code: what `code.yaml` promised to DVC must be what ran, from the first import to the last.

DVC compares digests before a stage starts. Code that is edited afterwards, even if the edit is taken back before the
stage ends, may have been imported in between; the output would lie in the cache under a digest that it does not have.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trivium.core.code.digest import Code, Parts
from trivium.core.code.pipeline import Pipeline
from trivium.core.code.source import OWN, Source
from trivium.core.code.written import CODE_YAML, read_digests
from trivium.core.errors import BadInput

_CLOCK = 0.05  # seconds by which the clocks of processes and files may differ
_AGAIN = "run it again while the code stays as it is; work kept by the same code is resumed"
_NAME_IT = "a name that can be read where it is imported, see trivium/core/code/closure.py"
Status = tuple[int, int, int, int]  # size, time of change, time of the last change of anything, number of the file
_running: list[Callable[[], None]] = []


def stage_run_by_dvc() -> str | None:
    """The name of the stage that DVC runs this process for, with `@` and the cell's key; None: DVC does not."""
    address = os.environ.get("DVC_STAGE")
    return re.sub(r"^.*?dvc\.yaml:", "", address) if address else None


class Guard:
    """Compares a stage's code with `code.yaml` now, and with itself whenever asked.

    Args:
        root: folder of the project's packages.
        stage: its name in `dvc.yaml`, with the cell's key.
        folder: holds `dvc.yaml`, `params.yaml` and `code.yaml`; without the last the code is compared with itself only.
        started: seconds since 1970 from which on this process may have imported code; None: since it was started.

    Raises:
        BadInput: `code.yaml` was written for other code, or the code was changed while this process imported it.
    """

    def __init__(self, root: Path, stage: str, folder: Path = Path(), started: float | None = None) -> None:
        self._root, self._stage, self._pipeline = root, stage, Pipeline(folder)
        code = Code(root)
        self._parts = self._parts_of(code)
        self._statuses = {path: _status(root / path) for path in (*self._parts.paths, "uv.lock")}
        self._bytes = {path: code.source.bytes_digest(path) for path in self._parts.paths}
        self._names = _names(code.source)
        code.save()
        self._compare_written(folder)
        self._compare_started(_process_started() if started is None else started)

    @property
    def digest(self) -> str:
        """The digest of the stage's code."""
        return self._parts.digest

    def check(self) -> None:
        """Compare again: before results are published, and before anything is kept for resuming.

        Costs milliseconds while no file was touched.

        Raises:
            BadInput: the digest is another one now, or a file was replaced and put back. A comment is no change. Or the
                process imported a module that the digest does not cover.
        """
        self._compare_imported()
        statuses = {path: _status(self._root / path) for path in self._statuses}
        if statuses == self._statuses and _names(Source(self._root)) == self._names:
            return
        code = Code(self._root)
        parts = self._parts_of(code)
        if parts.digest != self.digest:
            self._fail(f"code changed while the stage ran: {'; '.join(self._parts.differences(parts))}")
        touched = [path for path in parts.paths if statuses[path] != self._statuses[path]]
        back = [path for path in touched if code.source.bytes_digest(path) == self._bytes[path]]
        if back:
            self._fail(f"code was replaced and put back while the stage ran: {'; '.join(back)}")

    def _parts_of(self, code: Code) -> Parts:
        parts = self._pipeline.parts(code, self._stage) if self._stage in self._pipeline.cells else None
        if parts is None:
            raise BadInput("no such stage that runs code of the project", file="dvc.yaml", got=self._stage)
        return parts

    def _compare_written(self, folder: Path) -> None:
        file = folder / CODE_YAML
        if not file.exists():
            return
        written = read_digests(file).get(self._stage)
        if written != self.digest:
            self._fail(
                f"{CODE_YAML} has {written or 'nothing'} for this stage, its code is {self.digest}: `dvc repro code`"
            )

    def _compare_started(self, started: float) -> None:
        """What was imported before this guard came must be what lies there now."""
        later = [path for path, status in self._statuses.items() if status and status[2] / 1e9 > started + _CLOCK]
        if later:
            self._fail(f"code changed while it was imported: {'; '.join(later)}")

    def _compare_imported(self) -> None:
        """Edits of a module that is imported in a way unknown to the rules of `closure.py` would change no digest."""
        own = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in OWN]
        imported = {getattr(module, "__file__", None) for module in own}
        beyond = [path for path in self._names - {*self._parts.paths} if str(self._root / path) in imported]
        if beyond:
            self._fail(f"imported what its digest does not cover: {'; '.join(sorted(beyond))}", _NAME_IT)

    def _fail(self, problem: str, expected: str = _AGAIN) -> None:
        raise BadInput(f"{self._stage}: {problem}; nothing was published", expected=expected)


@contextmanager
def checked(check: Callable[[], None]) -> Iterator[None]:
    """Let `check_running` call this while a stage runs in this process."""
    _running.append(check)
    try:
        yield
    finally:
        _running.remove(check)


def check_running() -> None:
    """Before anything is kept for resuming: the code must still be what it was when the stage began.

    Raises:
        BadInput: it is not.
    """
    for check in _running:
        check()


def _status(path: Path) -> Status | None:
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    return None


def _names(source: Source) -> set[str]:
    return {*source.modules.values(), *source.files}


def _process_started() -> float:
    """Seconds since 1970 when this process started, infinity where the system has no /proc."""
    try:
        after_name = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        since_boot = int(after_name[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)
    except (OSError, AttributeError, ValueError):
        return float("inf")
