import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.claims.invented import evidence, keep
from trivium.claims import verdicts
from trivium.commands.readme import PAGES, PARTS, claims_table, fill_parts, findings_table
from trivium.core.tables import write_json
from trivium.measures.bootstrap import over_trainings

ROOT = Path(__file__).parents[2]

REAL = "<!-- real -->\n<!-- /real -->\nc\n"
TEXT = "a\n<!-- signatures -->\nold\n<!-- /signatures -->\nb\n<!-- bench -->\n<!-- /bench -->\n" + REAL


@pytest.fixture(autouse=True)
def _few_permutations(monkeypatch):
    """No table here shows a p, and those of all claims take a minute."""
    monkeypatch.setattr(verdicts, "over_trainings", partial(over_trainings, permutations=100))


def test_the_doors_pages_show_what_their_text_says():
    _, ours, before, chance = (
        line.split()
        for line in (ROOT / "docs/odmap.md").read_text("utf-8").split("\nbefore: ODmAP")[1].splitlines()[1:5]
    )
    assert float(ours[1]) > float(before[1]) > 2 * float(chance[2])
    assert "Language: French, detected" in (ROOT / "docs/difficulty.md").read_text("utf-8")
    shown = (ROOT / "docs/own_pictures.md").read_text("utf-8")
    if person := re.search(r"^The new picture shows (.+)$", shown, re.MULTILINE):
        assert re.search(rf"^picture: {person[1]} +\(probability [\d.]+\)$", shown, re.MULTILINE)


def test_parts_are_renewed_and_the_rest_stays(tmp_path):
    bench = {"images_per_second": 60.0, "best": [1, 2], "peak_mib": 155.1, "peak_mib_ten_times_the_queries": 845.9}
    write_json(tmp_path / "metrics/bench/fusion.json", bench | {"numpy_mib": 3000})
    text = fill_parts(TEXT, tmp_path)
    assert "old" not in text
    for line in (
        "Nobody has signed a run on real data yet. `trivium reproduced` makes the first entry.",
        "| fusion | images per second | 60 |",
        "| fusion | ours | 155 | 846 (queries) |",
        "| fusion | numpy | 3000 | – |",
    ):
        assert line in text.splitlines()
    assert "| race |" not in text
    assert text.startswith("a\n")
    assert text.endswith("c\n")
    assert fill_parts(text, tmp_path) == text


def test_findings_are_the_claims_that_hold(tmp_path):
    folder = tmp_path / "metrics" / "thorough"
    keep(folder, "kvqae", evidence("kvqae", {"rrt_adds": 0.0, "image_adds": 0.25}))
    keep(folder, "decorrelation", evidence("decorrelation", {"clip_looks": 0.07}), worlds=(3, 4), trainings=(0,))
    lines = findings_table(tmp_path).splitlines()
    first = "| **KVQAE**: Text and image find the passage higher up than the text alone. | MRR"
    assert f"{first} | +25.0, +25.0, +25.0 | holds |" in lines
    assert "| of 11 claims 0 refuted, 1 undecided | | | |" in lines
    assert not any("ArcFace" in line for line in lines)
    looks = "| **Decorrelation**: CLIP trained with painted-out objects more often names what is still there. | ODmAP@1"
    assert f"{looks} | +7.0, +7.0 | not yet: 2 of 9 runs |" in lines
    assert "| **Complexity**: of 8 claims none is measured yet: `make thorough` | | | |" in lines


def test_all_claims_stand_with_every_world(tmp_path):
    keep(tmp_path / "metrics" / "thorough", "decorrelation", evidence("decorrelation"), worlds=(3, 5), trainings=(0,))
    lines = claims_table(tmp_path).splitlines()
    first = "CLIP trained with painted-out objects more often names what is still there. | ODmAP@1"
    world = "+50.0 [+50.0, +50.0], 1 training"
    assert f"| **Decorrelation**: {first} | {world} | – | {world} | cannot tell |" in lines
    assert len(lines) == 2 + 11 + 4 + 8


def test_every_generated_part_stands_on_one_page():
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    for name in PARTS:
        for mark in (f"<!-- {name} -->\n", f"<!-- /{name} -->\n"):
            assert [text.count(mark) for text in texts if mark in text] == [1], mark


@pytest.mark.parametrize("page", PAGES)
def test_generated_parts_are_in_step(page):
    if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "metrics"], cwd=ROOT, check=False).returncode:
        pytest.skip("metrics/ is not what was committed: `make readme` would write other numbers")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert fill_parts(text, ROOT) == text, "run `make readme`"
