"""What `make sbom` writes: a valid CycloneDX document with every package of the lock, no more and no fewer."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from trivium.decorrelation.painting.inpainter import find_uv

ROOT = Path(__file__).parents[1]
LOCKS = {
    "trivium.cdx.json": ROOT / "uv.lock",
    "inpainting.cdx.json": ROOT / "trivium/decorrelation/painting/worker.py.lock",
}

pytestmark = pytest.mark.skipif(find_uv() is None, reason="needs uv")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What the target writes, in a copy of what it reads, with an environment that is ready."""
    folder = tmp_path_factory.mktemp("project")
    copied = ["Makefile", "uv.lock", "pyproject.toml", "requirements-uv.txt"]
    copied += [f"trivium/decorrelation/painting/worker.py{suffix}" for suffix in ("", ".lock")]
    for name in copied:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "uv").symlink_to(find_uv())
    (folder / ".venv" / "bin" / ".ready").touch()
    subprocess.run(["make", "sbom"], cwd=folder, check=True, stdout=subprocess.PIPE)
    return folder / "sbom"


@pytest.fixture(params=LOCKS)
def bill(written, request):
    return json.loads((written / request.param).read_text()), tomllib.loads(LOCKS[request.param].read_text())


def hashes_of(package):
    files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
    return {file["hash"].removeprefix("sha256:") for file in files}


def test_it_holds_the_packages_of_the_lock_with_the_hashes_of_their_files(bill):
    document, lock = bill
    found = {
        (each["name"], each["version"]): {
            digest["content"] for file in each.get("externalReferences", []) for digest in file.get("hashes", [])
        }
        for each in document["components"]
    }
    expected = {
        (each["name"], each["version"]): hashes_of(each)
        for each in lock["package"]
        if "virtual" not in each["source"]  # the project itself
    }
    assert found == expected


def test_uv_itself_is_pinned_with_the_hashes_of_all_its_files():
    text = (ROOT / "requirements-uv.txt").read_text()
    assert len(re.findall(r"^uv==\d+\.\d+\.\d+ \\$", text, re.MULTILINE)) == 1
    hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", text)
    assert len(set(hashes)) == len(hashes) > 15  # a wheel for each platform, and the source
    fetched = [
        line
        for line in (ROOT / "Makefile").read_text().splitlines()
        if "pip install" in line and "Python's" not in line
    ]
    assert fetched
    assert all("--require-hashes -r $(UV_PIN)" in line for line in fetched)
