"""KVQAE's pilot from the public hub's files on: dvc.yaml and scales/pilot.yaml as they are, a tiny world, a tiny base."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.end_to_end.conftest import Project
from tests.end_to_end.rehearsal import checkout
from tests.sources.loopback import Loopback, serve
from tests.sources.public_kvqae import serve_public
from tests.sources.small_commons import SmallCommons, serve_commons
from trivium.commands.scale import rescale
from trivium.core.image_shards import Images
from trivium.core.tables import read_json_lines
from trivium.kvqae.construction.commons import commons_file_name

pytestmark = pytest.mark.slow

SIZES = Path(__file__).with_name("tiny_hub.yaml")
ARTICLES = 60  # of 90, of which questions show some 50
LATER = ("multi_passage_bert", "kilt", "viquae_all_images", "rrt")


class Pilot(NamedTuple):
    """A checkout, who serves it, and what was asked for until the first tables."""

    project: Project
    hub: Loopback
    commons: SmallCommons
    environment: dict[str, str]
    first: list[str]

    def run(self, *command: str) -> str:
        return self.project.run(*command, **self.environment)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory):
    """Tables 2 to 4, from a Commons that throttles, after a run in which it went away."""
    folder = tmp_path_factory.mktemp("pilot")
    (folder / "sizes.yaml").write_text(
        f"kvqae: {{world: {{base: {{articles: {ARTICLES}, negatives: 5, heap_gib: 1}}}}}}"
    )
    with serve() as hub, serve_commons() as commons:
        pins = serve_public(hub, folder / "world", folder / "brought")

        made = checkout(folder / "trivium", "pilot", SIZES, pins)
        rescale(made.folder / "params.yaml", folder / "sizes.yaml")
        constant = made.folder / "trivium" / "sources" / "kvqae" / "wikimedia.py"
        constant.write_text(re.sub('COMMONS = ".*"', f'COMMONS = "{commons.api}"', constant.read_text()))
        shown = dict(Images(folder / "world" / "images" / "kb").stream())
        commons.files = {commons_file_name(name): data for name, data in shown.items()}
        throttled, gone, *_ = sorted(commons.files)
        commons.answers[throttled] = [(429, "1")]
        del commons.files[gone]
        environment = {"HF_ENDPOINT": hub.url, "NO_PROXY": "*", "OMP_NUM_THREADS": "1"}
        commons.answers["api"] = [(404, "")]
        with pytest.raises(Exception, match="404"):
            made.run("dvc", "repro", "kvqae-world", **environment)
        made.run("dvc", "repro", "kvqae-evaluate", "kvqae-page_retrieval", **environment)
        yield Pilot(made, hub, commons, environment, [path for path, _ in hub.requests])


def metrics(pilot: Pilot, stage: str) -> dict[str, float]:
    return json.loads((pilot.project.folder / "metrics" / "kvqae" / f"{stage}.json").read_text())


def test_the_first_tables_need_nothing_of_the_later_ones(pilot: Pilot):
    assert not [path for path in pilot.first if any(name in path for name in LATER)]
    fetched = [path for path in pilot.first if "/resolve/" in path]
    assert len(fetched) == len(set(fetched)), "what came before the failure was not fetched again"


def test_the_base_holds_the_subjects_and_what_was_asked_for(pilot: Pilot):
    raw = pilot.project.folder / "data" / "kvqae" / "raw"
    entities = {record["wikidata_info"]["wikidata_id"] for _, record in read_json_lines(raw / "articles.jsonl")}
    subjects = {
        record["wikidata_id"] for file in (raw / "viquae").glob("*.jsonl") for _, record in read_json_lines(file)
    }
    counts = metrics(pilot, "world")
    assert len(entities) == counts["articles"] == ARTICLES
    assert len(subjects & entities) == counts["base_subjects"]
    assert counts["base_chosen_from"] == 90
    assert counts["base_subjects"] + counts["base_negatives"] + counts["base_drawn"] == ARTICLES
    assert counts["base_negatives"] == 5
    assert counts["kb_images"] + counts["kb_images_missing"] == ARTICLES
    assert metrics(pilot, "knowledge_base")["with_image"] == counts["kb_images"]


def test_the_page_says_that_it_is_a_pilot(pilot: Pilot):
    part = json.loads((pilot.project.folder / "metrics/report/parts/kvqae/retrieval.json").read_text())
    assert all(html.startswith('<p class="note" role="note"><strong>A pilot.') for html in part["sections"].values())


def test_then_the_rest(pilot: Pilot):
    pilot.run("dvc", "repro", "kvqae-page_results")
    later = [path for path, _ in pilot.hub.requests[len(pilot.first) :]]
    assert {name for name in LATER if any(name in path for path in later)} == {"multi_passage_bert"}
    assert metrics(pilot, "triviaqa")["triviaqa_train_seen_in_viquae"] == 1
    read = metrics(pilot, "read")
    assert {f"{row}_em" for row in ("zero_shot_fused", "few_shot_reranked", "triviaqa_weighted")} <= read.keys()
