"""The commands of docs/tutorials/, as pasted, in a built project; `make` would build it again."""

import re
import shutil
from pathlib import Path

import pytest

from bench.real.search import Collection, make_base
from tests.end_to_end.test_own_pictures import CONSOLE, commands

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
LEAVES = {  # what a tutorial says that there is now
    "first-run": [],
    "own-model": ["tour/my_embeddings/pictures.jsonl", "tour/leaderboard/index.html"],
    "own-answers": ["tour/towers.json", "tour/difficulty/index.html"],
    "real-data": [],
    "real-texts": [],
    "sweep": [],
}


def test_every_tutorial_is_run():
    assert {page.stem for page in TUTORIALS.glob("*.md")} == set(LEAVES)


def test_what_tutorials_ask_of_make_is_there():
    blocks = [block for page in TUTORIALS.glob("*.md") for block in CONSOLE.findall(page.read_text("utf-8"))]
    asked = re.findall(r"^(?:\$ )?make (\S+)(?: ([A-Z])=(\S+))?$", "".join(blocks), re.MULTILINE)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert len(asked) > 5
    assert {target for target, _, _ in asked} <= targets
    assert all((ROOT / "scales" / f"{value}.yaml").is_file() for _, name, value in asked if name == "S")


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAVES)
def test_a_tutorial_runs_as_pasted(clone, name):
    clone.run("python", "-m", "stages.code")  # as the `make` before it leaves it
    if name == "real-data":
        shutil.copy(ROOT / "params.yaml", clone.folder)
    if name == "real-texts":  # `make real` takes minutes, and a package
        articles = {"Oslo tower": "The tower of Oslo stores goods.", "Inn": "It serves beer."}
        make_base("english", Collection(articles, {}), clone.folder / ".work" / "real")
    said = {
        command.split("\n")[0]: clone.run("bash", "-ec", command)
        for command in commands((TUTORIALS / f"{name}.md").read_text("utf-8"))
        if not command.startswith("make ")
    }
    assert said
    assert [each for each in LEAVES[name] if not (clone.folder / each).is_file()] == []
    if name == "sweep":
        compared = said["python -m trivium compare"]
        assert "baseline" in compared
        assert "faces-0.4" in compared
        assert "*: not made anew" in compared
        assert any("kvqae-fuse" in said[command] for command in said if command.startswith("dvc exp run -n faces-0.4"))
