"""A pilot's tables say that they are one, and nowhere that they agree with the paper's."""

import re
from pathlib import Path

import pytest
import yaml

from tests.page.kvqae_world import write_world
from tests.page.parts import render
from trivium.page.kvqae.smaller_base import noted

TABLES = ("table-2", "table-3", "table-4", "table-5", "table-6", "table-7")
VERDICT = re.compile(r"within [\d.]+ points|off by up to")


@pytest.fixture(scope="module")
def article(tmp_path_factory):
    def made(world, base):
        folder = tmp_path_factory.mktemp("pilot")
        arguments = write_world(folder)
        used = yaml.safe_load(Path(arguments["used"]).read_text())
        used["kvqae"]["world"]["base"] = base
        used["world"]["kvqae"] = world
        Path(arguments["used"]).write_text(yaml.safe_dump(used, sort_keys=False))
        _, found = render("kvqae", arguments, folder / "parts")
        return {each["id"].removeprefix("kvqae-"): each["html"] for each in found["sections"]}

    return made


def test_every_table_of_a_pilot_says_so_and_gives_no_verdict(article):
    pilot, whole = article("hub", {"articles": 60_000}), article("hub", None)
    for name in TABLES:
        assert pilot[name].startswith('<p class="note" role="note"><strong>A pilot.</strong>'), name
        assert "60\u202f000 articles are searched, chosen of 1\u202f495\u202f352" in pilot[name]
        assert "A smaller base is easier." in pilot[name]
        assert not VERDICT.search(pilot[name]), name
        assert "A pilot" not in whole[name]
    assert any(VERDICT.search(whole[name]) for name in TABLES), "there is something that the pilot leaves out"


def test_nothing_is_said_where_all_articles_are_searched():
    assert noted({"table-2": "<p>x</p>"}, None) == {"table-2": "<p>x</p>"}
