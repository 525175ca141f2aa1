"""The site of the documentation: every page is in its navigation; `make docs` builds it, and it loads nothing from elsewhere."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.chromium import open_page
from trivium.commands.docs import place, write_pages

ROOT = Path(__file__).parents[1]
UV = shutil.which("uv") or shutil.which("uv", path=ROOT / ".uv" / "bin")


def listed(entries):
    """The pages that a navigation names."""
    for entry in entries:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else listed(target)


def test_the_navigation_names_every_page_of_docs_once():
    pages = list(listed(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]))
    files = [file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").rglob("*.md")]
    linked = [page for page in pages if page.startswith("repository/")]
    assert sorted(pages) == sorted(["index.md", *map(place, files), *linked])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """README and docs/, built as `make docs` does."""
    if UV is None:
        pytest.skip("uv is not there")
    folder = tmp_path_factory.mktemp("docs")
    write_pages(ROOT, folder / ".work/docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copy(ROOT / "uv.lock", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)
    (recipe,) = re.findall(r"^\t@uv (run .*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    done = subprocess.run([UV, *recipe.split()], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.mark.slow
def test_the_site_has_a_page_for_each_page_of_docs(site):
    pages = {place(file.relative_to(ROOT).as_posix()) for file in (ROOT / "docs").rglob("*.md")}
    assert {page.removesuffix(".md") + ".html" for page in pages} <= {
        file.relative_to(site).as_posix() for file in site.rglob("*.html")
    }


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_asks_nobody_else(site, tmp_path):
    browser = open_page(f"file://{site}/kvqae.html", (1280, 900), tmp_path, performance="ALL")
    try:
        events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
        asked = [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]
        assert len([address for address in asked if address.startswith("file:")]) > 3
        assert [address for address in asked if address.startswith(("http", "ws", "//"))] == []
    finally:
        browser.quit()
