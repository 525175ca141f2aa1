"""The data set's construction from the public files and APIs on: dvc.yaml as it is.

TriviaQA's archive, Wikidata, Commons and the world are tiny, in the formats of the real ones; so is spaCy's pipeline,
trained here and installed under the name of the large one.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.end_to_end.conftest import Project
from tests.end_to_end.rehearsal import checkout, left_over
from tests.sources.loopback import serve
from tests.sources.public_construction import install_pipeline, serve_construction
from tests.sources.small_wiki import SmallWiki, serve_wiki
from trivium.core.tables import read_json_lines
from trivium.sources.kvqae.construction import WIKIDATA
from trivium.sources.kvqae.wikimedia import COMMONS

pytestmark = pytest.mark.slow

SIZES = Path(__file__).with_name("tiny_hub.yaml")
LAST = "kvqae-rebuild"  # with all that it needs


@dataclass
class Served:
    """Servers, and where everything is."""

    wiki: SmallWiki
    pins: str
    environment: dict[str, str]

    def checkout(self, folder: Path) -> Project:
        """The addresses of both APIs are constants of the code."""
        made = checkout(folder, "workstation", SIZES, self.pins)
        for file, address in (("construction", WIKIDATA), ("wikimedia", COMMONS)):
            module = made.folder / "trivium" / "sources" / "kvqae" / f"{file}.py"
            assert address in module.read_text()
            module.write_text(module.read_text().replace(address, f"{self.wiki.url}/w/api.php"))
        return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("public")
    install_pipeline(folder / "site", folder)
    with serve() as hub, serve_wiki() as wiki:
        pins = yaml.safe_dump(serve_construction(hub, wiki, folder))
        environment = {"HF_ENDPOINT": hub.url, "NO_PROXY": "*", "OMP_NUM_THREADS": "1"}
        yield Served(wiki, pins, environment | {"PYTHONPATH": str(folder / "site")})


@pytest.fixture(scope="module")
def project(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The whole chain."""
    made = served.checkout(tmp_path_factory.mktemp("construction") / "trivium")
    made.run("dvc", "repro", LAST, **served.environment)
    return made


def metrics(project: Project, stage: str) -> dict[str, Any]:
    return json.loads((project.folder / "metrics" / "kvqae" / f"{stage}.json").read_text())


def test_every_step_leaves_something_for_the_next(project: Project, served: Served):
    sources = metrics(project, "sources")
    assert sources["commons_not_fetched"] == 0
    assert sources["commons_files"] == sum(map(len, served.wiki.categories.values()))
    assert sources["subjects"] > 5
    construction = project.folder / "data" / "kvqae" / "construction"
    generated = [record for _, record in read_json_lines(construction / "generated.jsonl")]
    assert len(generated) > 3
    rebuilt = project.folder / "data" / "kvqae" / "rebuilt" / "viquae"
    kept = {split: [*read_json_lines(rebuilt / f"{split}.jsonl")] for split in ("train", "validation", "test")}
    assert all(kept.values())


def test_nothing_is_left_to_do_and_nothing_of_the_downloads(project: Project):
    assert "up to date" in project.run("dvc", "status", LAST)
    assert left_over(project) == []
