"""One mutant in a scratch copy of the tree: the tests that are about it run in a forked process, which ends at a failure.

The process that forks has imported the packages that tests stand on, so that a trial costs little but its tests.
"""

import gc
import importlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.nearest import OURS, nearest

KILLED, TIMEOUT, SURVIVED, NO_PYTHON, UNTESTED = "killed", "timeout", "survived", "no Python", "untested"

SHARED = (
    *(
        "hypothesis",
        "numpy",
        "pandas",
        "PIL.Image",
        "pyarrow.parquet",
        "pydantic",
        "pytrec_eval",
        "ranx",
        "scipy.stats",
    ),
    *("sklearn.metrics", "yaml"),
)
"""Packages that many tests import."""

PLUGINS = ("pytest_timeout", "_hypothesis_pytestplugin")
"""Of pytest, which the tests need; what else is installed would take longer to load than most tests."""

LEAST, TIMES, PATIENCE = 5.0, 10.0, 30.0
"""Seconds of processor that a mutant's tests have at least, and how many times what they take on unchanged code; and how
many seconds of clock for each of these, as the machine may be busy."""

LONG = 5.0
"""Seconds of processor of a file of tests that is asked only where it is among the nearest."""

CLOCKED = 3.0
"""Tests that take more seconds of processor start processes and watch clocks; on a busy machine one may fail for no other
reason, so that they must fail twice."""

MEMORY = 8 << 30
"""Bytes that a mutant may take beyond what the forking process has."""

MARKS = "not slow and not real and not gpu and not browser"


@dataclass(frozen=True)
class Verdict:
    """What the tests say: one of the names above, and which test said so."""

    name: str
    by: str = ""


class Trials:
    """A scratch copy of a tree, in which mutants are tried.

    Args:
        root: the tree; it is only read.
        folder: is made, for the copy.

    Raises:
        RuntimeError: (from `test`) tests fail on unchanged code.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree, self.temporary = folder / "tree", folder / "tmp"
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (root / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self.tree / name)
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # as tests/conftest.py sets it, which comes too late here
        for name in (*SHARED, *PLUGINS):
            importlib.import_module(name)
        gc.freeze()  # or the first collection in each forked process would copy all of that
        self._edits = 0
        self._seconds = dict[tuple[Path, ...], float]()
        self._tests = dict[str, tuple[list[Path], list[Path]]]()

    def tests(self, module: str, far: bool) -> list[Path]:
        """The files of tests, in the copy, that are asked about a module: the nearest, or the others."""
        if module not in self._tests:
            self._tests[module] = nearest(self.tree, module)
        return self._tests[module][far]

    def test(self, mutant: Mutant, far: bool = False) -> Verdict:
        """Ask the nearest tests, or the others."""
        asked = self.tests(mutant.module, far)
        if not asked and not far:
            return Verdict(UNTESTED)
        file = self.tree / mutant.module
        code = mutant.apply(file.read_text("utf-8"))
        try:
            compile(code, mutant.module, "exec")
        except SyntaxError:
            return Verdict(NO_PYTHON)
        if far and not (asked := [one for one in asked if self._needs([one]) <= LONG]):
            return Verdict(SURVIVED)
        seconds = self._needs(asked)
        with self._edited(file, code):
            status, by, _ = self._run(asked, LEAST + TIMES * seconds)
            if status and seconds > CLOCKED:
                status, by, _ = self._run(asked, LEAST + TIMES * seconds)
        if status is None:
            return Verdict(TIMEOUT)
        return Verdict(KILLED, by or "the import") if status else Verdict(SURVIVED)

    def _needs(self, files: Sequence[Path]) -> float:
        """Seconds of processor that tests take on unchanged code, which they must pass."""
        if tuple(files) not in self._seconds:
            for _ in range(3):
                status, by, seconds = self._run(files, 600.0)
                if status == 0:
                    break
            else:
                said = (self.temporary / "said").read_text("utf-8", errors="replace")
                raise RuntimeError(f"tests fail on unchanged code: {by or status}\n{said[-4000:]}")
            self._seconds[tuple(files)] = seconds
        return self._seconds[tuple(files)]

    @contextmanager
    def _edited(self, file: Path, code: str) -> Iterator[None]:
        """Edit a file of the copy for a while."""
        before, status = file.read_bytes(), file.stat()
        self._edits += 1
        try:
            file.write_text(code, "utf-8")
            os.utime(file, (self._edits, self._edits))  # compiled code of another edit is told apart by its time
            yield
        finally:
            file.write_bytes(before)
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _run(self, files: Sequence[Path], limit: float) -> tuple[int | None, str, float]:
        """Run tests until one fails: (exit status, None out of time; the test; seconds of processor)."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        before = processor_seconds()
        child = os.fork()
        if child == 0:
            _be_pytest(self.tree, self.temporary, files, limit)
        until, ended = time.monotonic() + PATIENCE * limit, (0, 0)
        try:
            while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
                time.sleep(0.005)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what tests have started, and what hangs
        if not ended[0]:
            ended = os.waitpid(child, 0)
        seconds = processor_seconds() - before
        by = self.temporary / "by"
        code = os.waitstatus_to_exitcode(ended[1])
        return (
            None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code,
            by.read_text() if by.exists() else "",
            seconds,
        )


def processor_seconds() -> float:
    """What the processes have taken that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _First:
    """Notes the first test that fails."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.file.exists():
            self.file.write_text(report.nodeid)


def _be_pytest(tree: Path, temporary: Path, files: Sequence[Path], limit: float) -> None:
    """In the forked process: become the tests of the copy, and end."""
    status = 70
    try:
        os.setsid()
        os.chdir(tree)
        said = os.open(temporary / "said", os.O_WRONLY | os.O_CREAT)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for number, target in ((nothing, 0), (said, 1), (said, 2)):
            os.dup2(number, target)
        seconds = int(limit) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY,) * 2)
        for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
            del sys.modules[name]
        sys.path[0] = str(tree)
        tempfile.tempdir = None
        os.environ |= {"TMPDIR": str(temporary), "PYTHONPATH": str(tree)}
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        options = ["-x", "-q", f"--basetemp={temporary / 'tests'}", "--hypothesis-seed=0", "-m", MARKS]
        options += [f"--rootdir={tree}", *(f"-p{name}" for name in ("no:cacheprovider", *PLUGINS)), *map(str, files)]
        status = int(pytest.main(options, plugins=[_First(temporary / "by")]))
    finally:
        sys.stdout.flush()
        os._exit(status)


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()
