"""A project of four pictures, what it asks, and a cache of the tests' own: nothing is left in a user's."""

import pytest

from tests.decorrelation.benchmark.benchmark_project import write_project
from trivium.decorrelation.benchmark.benchmark_set import open_set


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "trivium" / "odmap"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def asked(project):
    return open_set(project)
