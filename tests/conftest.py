"""What tests share: the folder of real data, a stage run in a scratch folder."""

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sources.loopback import Loopback, serve
from trivium.core.arithmetic import PORTABLE, SETTINGS
from trivium.core.code import digest

# The workers of xdist share the cores: threads of one would wait for those of another.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
# ranx would compile for a minute before its first answer; on test sizes plain Python is instant.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# One process runs tests of Java and of Ray: Ray's handler of SIGSEGV would take the place of Java's, which needs it.
os.environ["RAY_DISABLE_FAILURE_SIGNAL_HANDLER"] = "1"
# Every stage that a test runs asks for its code's digest: a module of the same bytes is parsed once.
digest.read_facts = cache(digest.read_facts)

REAL = Path(os.environ.get("TRIVIUM_REAL", Path(__file__).parents[2] / "shared" / "real"))


SLOW = pytest.StashKey[int]()  # how many slow tests were left out


def skipped_line(reports: Iterable[Any], slow: int) -> str:
    """One line of what was not run and why, the commonest reason first; empty when all was run.

    Args:
        reports: pytest's, of what was skipped.
        slow: how many slow tests were left out.
    """
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ").replace("\n", " ") for report in reports)
    reasons["slow: make test-all"] += slow
    parts = [f"{count} × {reason}" for reason, count in (+reasons).most_common()]
    return f"not run: {'; '.join(parts)}" if parts else ""


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the slow ones; a worker of xdist tells its controller, which collects nothing."""
    config, slow = items[0].config, sum(item.get_closest_marker("slow") is not None for item in items)
    config.stash[SLOW] = config.stash.get(SLOW, 0) + slow
    if hasattr(config, "workeroutput"):
        config.workeroutput["slow"] = config.stash[SLOW]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects the same."""
    node.config.stash[SLOW] = getattr(node, "workeroutput", {}).get("slow", 0)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none, for one reason."""
    if item.get_closest_marker("gpu"):
        import torch

        if not torch.cuda.is_available():
            pytest.skip("gpu: needs a CUDA device")


def pytest_collection_finish() -> None:
    """What has been loaded stays until the end: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it at the end, in one line."""
    line = skipped_line(terminalreporter.stats.get("skipped", []), terminalreporter.config.stash.get(SLOW, 0))
    if line:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def real() -> Callable[[str], Path]:
    """Path of one real data set; the test is skipped, with the reason, when it is not there."""

    def find(name: str) -> Path:
        folder = REAL / name
        if not folder.is_dir():
            pytest.skip(f"real data not there: {folder} (set TRIVIUM_REAL to the folder that holds it)")
        return folder

    return find


@pytest.fixture(autouse=True)
def _no_tracking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests do not inherit a surrounding DVC run or MLflow server."""
    for name in ("DVC_STAGE", "DVC_ROOT", "DVC_EXP_NAME", "DVC_EXP_BASELINE_REV", "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _own_arithmetic() -> Iterator[None]:
    """What a stage in the tests' own process sets for its libraries is put back."""
    _put_back()  # what a fixture of a module has left
    yield
    _put_back()


ARITHMETIC = (PORTABLE, *SETTINGS["intel"])
BEFORE = {name: os.environ[name] for name in ARITHMETIC if name in os.environ}


def _put_back() -> None:
    for name in ARITHMETIC:
        os.environ.pop(name, None)
    os.environ.update(BEFORE)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A hub on loopback; the environment points to it, and holds no token."""
    with serve() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setenv("NO_PROXY", "*")
        yield server
