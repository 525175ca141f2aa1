"""What tests share: the folder of real data, a stage run in a scratch folder."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sources.loopback import Loopback, serve

# ranx would compile for a minute before its first answer; on test sizes plain Python is instant.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

REAL = Path(os.environ.get("TRIVIUM_REAL", Path(__file__).parents[2] / "shared" / "real"))


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


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A hub on loopback; the environment points to it, and holds no token."""
    with serve() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setenv("NO_PROXY", "*")
        yield server
