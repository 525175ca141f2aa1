"""The tutorial of docs/own_pictures.md, as pasted, in a built project."""

import re
import shutil
from pathlib import Path

import pytest

from trivium.core.tables import read_csv

PAGE = Path(__file__).parents[2] / "docs" / "own_pictures.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """The commands of the blocks that show a prompt, without the environment's activation; heredocs stay whole."""
    blocks = [block for block in CONSOLE.findall(page) if block.startswith("$ ")]
    lines = re.split(r"^\$ ", "".join(blocks), flags=re.MULTILINE)[1:]
    return [line.strip() for line in lines if not line.startswith("source ")]


def follow(project) -> dict[str, str]:
    """Run the page's commands in a project; returns what each printed."""
    return {
        command.split("\n")[0]: project.run("bash", "-ec", command) for command in commands(PAGE.read_text("utf-8"))
    }


@pytest.mark.slow
def test_the_tutorial_runs_as_pasted(built):
    said = follow(built)
    try:
        check(built, said)
    finally:
        shutil.rmtree(built.folder / "tour")


def check(project, said: dict[str, str]) -> None:
    made, asked, stand_in, batch, again = (
        text for command, text in said.items() if command.startswith("python -m trivium ")
    )
    entries = len(list((project.folder / "tour/my_museum").glob("*.jpg"))) - 1
    assert f"tour/museum: {entries} entries" in made
    assert "warning: these models are the sample's stand-ins" in made
    assert re.search(r"^picture: .* \(.*probability", asked, re.MULTILINE)
    assert "invented world only" in asked.splitlines()[0]
    assert "note: Nobody reads" in asked
    assert "invented world only" in stand_in.splitlines()[0]
    assert "note: Nobody reads" not in stand_in
    assert "tour/answers.csv: questions: 1, answered: 0, problems: 0" in batch
    assert len(list(read_csv(project.folder / "tour/answers.csv"))) == 2
    assert f"tour/museum: {entries + 1} entries" in again
    assert re.search(r"clip: \d+ pictures with a vector, 1 encoded now", again)
