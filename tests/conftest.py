"""What tests share: the folder of real data, a stage run in a scratch folder."""

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sources.loopback import Loopback, serve
from trivium.harness.arithmetic import PORTABLE, SETTINGS

# ranx would compile for a minute before its first answer; on test sizes plain Python is instant.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# One process runs tests of Java and of Ray: Ray's handler of SIGSEGV would take the place of Java's, which needs it.
os.environ["RAY_DISABLE_FAILURE_SIGNAL_HANDLER"] = "1"

REAL = Path(os.environ.get("TRIVIUM_REAL", Path(__file__).parents[2] / "shared" / "real"))


def skipped_line(reports: Iterable[Any], markers: str) -> str:
    """One line of what was not run and why, the commonest reason first; empty when all was run.

    Args:
        reports: pytest's, of what was skipped.
        markers: the expression of `-m`.
    """
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ").replace("\n", " ") for report in reports)
    parts = [f"{count} × {reason}" for reason, count in reasons.most_common()]
    parts += [f"what is not '{markers}'"] if markers else []
    return f"not run: {'; '.join(parts)}" if parts else ""


def pytest_collection_finish() -> None:
    """What has been loaded stays until the end: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it at the end, in one line."""
    line = skipped_line(terminalreporter.stats.get("skipped", []), terminalreporter.config.option.markexpr)
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
