"""Decorrelation's graph from the public files on: dvc.yaml as it is, the workstation's settings.

The photographs, captions and models are tiny, in the formats of the real ones.
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
from tests.sources.loopback import Loopback, serve
from tests.sources.public_decorrelation import bring_flickr30k, serve_decorrelation
from tests.stages.decorrelation.test_inpaint import needs_uv

pytestmark = [pytest.mark.slow, needs_uv]

SIZES = Path(__file__).with_name("tiny_hub_decorrelation.yaml")
LAST = "decorrelation-evaluate"  # with all that it needs: every stage but those that look at KVQAE's, too


@dataclass
class Served:
    """A server and what it serves."""

    hub: Loopback
    pins: str

    @property
    def environment(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.hub.url, "NO_PROXY": "*", "OMP_NUM_THREADS": "1"}

    def checkout(self, folder: Path) -> Project:
        """Flickr30k is given on request only."""
        made = checkout(folder, "workstation", SIZES, self.pins)
        bring_flickr30k(made.folder / "brought" / "flickr30k")
        return made


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve() as hub:
        yield Served(hub, serve_decorrelation(hub))


@pytest.fixture(scope="module")
def project(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The whole chain."""
    made = served.checkout(tmp_path_factory.mktemp("decorrelation") / "trivium")
    made.run("dvc", "repro", LAST, **served.environment)
    return made


def metrics(project: Project, name: str) -> dict[str, Any]:
    return json.loads((project.folder / "metrics" / "decorrelation" / f"{name}.json").read_text())


def test_the_photographs_are_fitted_and_the_broken_one_is_counted(project: Project):
    expected = {"images": 11, "images_unreadable": 1, "images_made_rgb": 1, "images_not_wanted": 0}
    assert expected.items() <= metrics(project, "world_coco").items()
    assert metrics(project, "world_flickr30k")["images"] == 12


def test_every_row_is_judged(project: Project):
    judged = metrics(project, "evaluate")
    cells = yaml.safe_load((project.folder / "params.yaml").read_text())["decorrelation"]["cells"]
    assert len(cells) == 5
    for cell in cells:
        told = {name.removeprefix(f"{cell}_"): value for name, value in judged.items() if name.startswith(f"{cell}_")}
        rates = [value for name, value in told.items() if "odmap" in name or "r@" in name]
        assert len(rates) > 10
        assert all(0 <= rate <= 1 for rate in rates)


def test_nothing_is_left_to_do_and_nothing_of_the_downloads(project: Project):
    assert "up to date" in project.run("dvc", "status", LAST)
    assert left_over(project) == []
