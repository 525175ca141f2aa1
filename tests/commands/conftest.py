import shutil

import pytest
from PIL import Image

from tests.commands.shared_project import write_shared_project
from trivium.commands import cli


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """One project for all tests; nobody writes to it."""
    with pytest.MonkeyPatch.context() as patch:
        return write_shared_project(tmp_path_factory.mktemp("shared") / "project", patch)


@pytest.fixture
def project(built, tmp_path, monkeypatch):
    """A copy."""
    monkeypatch.chdir(shutil.copytree(built, tmp_path / "project", symlinks=True))
    return tmp_path / "project"


@pytest.fixture
def shared(built, tmp_path, monkeypatch):
    """`shared(path)`: the folder it was written to; beside it lies `picture.jpg`, and there the code of cards runs."""
    Image.new("RGB", (40, 30), (200, 90, 30)).save(tmp_path / "picture.jpg")
    monkeypatch.chdir(tmp_path)
    # `datasets` knows what it has read by the folder's name: another test's would come back.
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")

    def push(path):
        out = tmp_path / path.replace("/", "_")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(built)
            cli.run("push", [path, "--folder", str(out), "--send"])
        return out

    return push
