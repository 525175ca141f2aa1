import pytest

from tests.sources.loopback import serve


@pytest.fixture
def hub(monkeypatch):
    """A hub on loopback; the environment points to it, and holds no token."""
    with serve() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        monkeypatch.setenv("NO_PROXY", "*")
        yield server
