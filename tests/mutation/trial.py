"""One mutant in a scratch copy of the tree: the tests that are about it run in a forked process, which ends at a failure.

The process that forks has imported the packages that tests stand on, so that a trial costs little but its tests.
"""

import gc
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutation.asked import Chosen, Seconds, Stopwatch
from tests.mutation.mutants import Mutant
from tests.mutation.nearest import OURS, nearest

KILLED, TIMEOUT, SURVIVED, NO_PYTHON, UNTESTED = "killed", "timeout", "survived", "no Python", "untested"

SHARED = (
    *("hypothesis", "numpy", "pandas", "PIL.Image", "psutil", "pyarrow.parquet", "pydantic", "pytrec_eval", "ranx"),
    *("scipy.stats", "sklearn.metrics", "yaml"),
)
"""Packages that many tests import."""

OF_HARNESS = ("torch", "safetensors.torch", "mlflow.tracking", "ray.cluster_utils", "moto.server", "httpx")
"""Packages that only tests of the harness import, which take seconds."""

PLUGINS = ("pytest_timeout", "_hypothesis_pytestplugin")
"""Of pytest, which the tests need; what else is installed would take longer to load than most tests."""

LEAST, TIMES = 5.0, 10.0
"""Seconds of processor that a mutant's tests have at least, and how many times what they take on unchanged code."""

PATIENCE = 6.0
"""How many times `LEAST` a mutant has in seconds of the clock, beside `TIMES` what its tests take: a machine may be busy."""

QUICK = 2.0
"""Seconds of the clock of a test that is asked at first. What survives is asked the slower ones, and the far ones."""

LONG = 5.0
"""Seconds of the clock of a test that is asked only where its file is among the nearest."""

CLOCKED = 1.0
"""Tests that take more seconds start processes and watch clocks; on a busy machine one may fail for no other reason, so
that it must fail twice."""

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
        times: file of what tests take, which is kept from run to run.
        packages: are imported before all trials.

    Raises:
        RuntimeError: (from `test`) tests fail on unchanged code.
    """

    def __init__(self, root: Path, folder: Path, times: Path, packages: Sequence[str] = SHARED) -> None:
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
        subprocess.run(["git", "init", "-q"], cwd=self.tree, check=True)  # tests ask for the root of a repository
        # As tests/conftest.py and the writer of MLflow's runs set them, which come too late here.
        os.environ |= {"NUMBA_DISABLE_JIT": "1", "MLFLOW_DISABLE_TELEMETRY": "true"}
        os.environ["RAY_DISABLE_FAILURE_SIGNAL_HANDLER"] = "1"
        for name in (*packages, *PLUGINS):
            importlib.import_module(name)
        gc.freeze()  # or the first collection in each forked process would copy all of that
        self._edits = 0
        self._times = times
        self._known: dict[str, dict[str, Seconds]] = json.loads(times.read_text()) if times.exists() else {}
        self._tests = dict[str, tuple[list[Path], list[Path]]]()

    def tests(self, module: str, far: bool) -> list[Path]:
        """The files of tests, in the copy, that are asked about a module: the nearest, or the others."""
        if module not in self._tests:
            self._tests[module] = nearest(self.tree, module)
        return self._tests[module][far]

    def test(self, mutant: Mutant, far: bool = False) -> Verdict:
        """Ask the quick ones among the nearest tests, or all others."""
        seconds = {each: self.seconds(each) for each in self.tests(mutant.module, far=False)}
        if not any(seconds.values()):
            return Verdict(UNTESTED)
        file = self.tree / mutant.module
        code = mutant.apply(file.read_text("utf-8"))
        try:
            compile(code, mutant.module, "exec")
        except SyntaxError:
            return Verdict(NO_PYTHON)
        chosen = {each: _if(took, lambda clock: (clock > QUICK) == far) for each, took in seconds.items()}
        if far:
            others = self.tests(mutant.module, far=True)
            chosen |= {each: _if(self.seconds(each), lambda clock: clock <= LONG) for each in others}
        files = [each for each, tests in chosen.items() if tests]
        if not files:
            return Verdict(SURVIVED)
        with self._edited(file, code):
            return self._verdict(files, {name: took for tests in chosen.values() for name, took in tests.items()})

    def _verdict(self, files: Sequence[Path], asked: Mapping[str, Seconds]) -> Verdict:
        status, by = self._run(files, asked)
        if status is not None and by in asked and asked[by][0] > CLOCKED:
            status, by = self._run([self.tree / by.partition("::")[0]], {by: asked[by]})
        if status is None:
            return Verdict(TIMEOUT)
        return Verdict(KILLED, by or "the import") if status else Verdict(SURVIVED)

    def seconds(self, file: Path) -> dict[str, Seconds]:
        """What each test of a file takes on unchanged code, which they must pass."""
        key = f"{file.relative_to(self.tree)} {hashlib.sha256(file.read_bytes()).hexdigest()[:12]}"
        if key not in self._known:
            for _ in range(3):
                status, by = self._run([file])
                if status == 0:
                    break
            else:
                said = (self.temporary / "said").read_text("utf-8", errors="replace")
                raise RuntimeError(f"tests fail on unchanged code: {by or status}\n{said[-4000:]}")
            told = json.loads((self.temporary / "seconds").read_text("utf-8"))
            self._known[key] = {name: (clock, processor) for name, (clock, processor) in told.items()}
            self._times.parent.mkdir(parents=True, exist_ok=True)
            self._times.write_text(json.dumps(self._known))
        return self._known[key]

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

    def _run(self, files: Sequence[Path], asked: Mapping[str, Seconds] | None = None) -> tuple[int | None, str]:
        """Run tests until one fails, all that there are or those that are asked: (exit status, None out of time; it)."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir(parents=True)
        clock, processor = (
            (sum(took[at] for took in asked.values()) for at in (0, 1)) if asked is not None else (60, 60)
        )
        limit, until = LEAST + TIMES * processor, time.monotonic() + PATIENCE * LEAST + TIMES * clock
        child = os.fork()
        if child == 0:
            _be_pytest(self.tree, self.temporary, files, limit, asked)
        ended = (0, 0)
        try:
            while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < until:
                time.sleep(0.005)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what tests have started, and what hangs
        if not ended[0]:
            ended = os.waitpid(child, 0)
        by = self.temporary / "by"
        code = os.waitstatus_to_exitcode(ended[1])
        if code == pytest.ExitCode.NO_TESTS_COLLECTED:
            code = 0
        return None if code in (-signal.SIGXCPU, -signal.SIGKILL) else code, by.read_text() if by.exists() else ""


def _if(tests: Mapping[str, Seconds], holds: Callable[[float], bool]) -> dict[str, Seconds]:
    """The tests whose seconds of the clock are so."""
    return {name: took for name, took in tests.items() if holds(took[0])}


def processor_seconds() -> float:
    """What the processes have taken that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _be_pytest(
    tree: Path, temporary: Path, files: Sequence[Path], limit: float, asked: Mapping[str, Seconds] | None
) -> None:
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
        chosen = Chosen(temporary / "by", None if asked is None else {name: took[0] for name, took in asked.items()})
        watched = [chosen] if asked is not None else [chosen, Stopwatch(temporary / "seconds")]
        status = int(pytest.main(options, plugins=watched))
    finally:
        sys.stdout.flush()
        os._exit(status)


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    return pages * resource.getpagesize()
