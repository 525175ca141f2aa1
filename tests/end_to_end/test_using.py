"""The commands of docs/using.md and docs/odmap.md, as pasted, in a built project; the library's are run elsewhere."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.test_ask import free_port
from tests.end_to_end.test_own_pictures import CONSOLE, commands
from trivium.core.image_shards import Images
from trivium.formats.questions import read_questions
from trivium.page.leaderboard import FILES

DOCS = Path(__file__).parents[2] / "docs"
SERVERS = {"make mlflow": "MLflow", "make ask": "gradio"}  # what the page of each has
TEAM = "/mnt/team/trivium"


def blocks(page: str) -> list[list[str]]:
    """The commands of each block of a page, without the comments behind them."""
    found = [commands(f"```console\n{block}```\n") for block in CONSOLE.findall((DOCS / page).read_text("utf-8"))]
    return [[re.sub(r"\s+# .*", "", command) for command in block] for block in found if block]


SET_UP, _, ASK, SHARE = blocks("using.md")  # variants and sweeps: test_graph.py and test_tutorials.py


@pytest.fixture
def checkout(clone):
    """With an environment that is ready for `make`."""
    binaries = clone.folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / ".ready").touch()
    clone.run("python", "-m", "trivium.commands.plots_page", ".venv/plots.html")
    return clone


def paste(project, command: str) -> str:
    return project.run("bash", "-ec", command)


@pytest.mark.slow
def test_they_run_as_pasted(checkout, tmp_path):
    write_photo(checkout)
    cells = checkout.folder / "models/decorrelation/cells"
    shutil.copytree(cells / "coco_clip_finetune_0", cells / "coco_clip_zero_shot_0")  # the tiny world lacks it
    leaderboard, *_ = blocks("odmap.md")
    pasted = [each for each in [*SET_UP, *ASK, *leaderboard, *SHARE] if each not in SERVERS]
    said = {command: paste(checkout, command.replace(TEAM, str(tmp_path / "team"))) for command in pasted}
    assert len(said) == 5 + 1 + 1 + 3

    assert "Running stage 'kvqae" not in said["dvc repro"]
    drawn = re.findall(r"file://(\S+)", said["dvc plots show; dvc plots diff baseline"])
    assert len(drawn) == 2
    assert all(Path(file).is_file() for file in drawn)
    assert said["make dag P=kvqae"].startswith("open .work/dag/kvqae.md")
    assert "fuse" in (checkout.folder / ".work/dag/kvqae.md").read_text("utf-8")

    assert re.match(r".+   \((probability \S+, )?\S+ s, these models know an invented world only\)\n", said[ASK[0]])

    assert "Page: tour/leaderboard/index.html" in said[leaderboard[0]]
    assert {path.name for path in (checkout.folder / "tour/leaderboard").iterdir()} == set(FILES)
    rows = json.loads((checkout.folder / "tour/leaderboard/leaderboard.json").read_text("utf-8"))["models"]
    assert {row["model"] for row in rows} == {"coco_clip_ours_0", "before"}

    assert any((tmp_path / "team").rglob("*"))
    assert "Running stage 'kvqae" not in said[SHARE[-1]]


def write_photo(project) -> None:
    """photo.jpg, the picture of a question."""
    questions = read_questions(project.folder / "data/kvqae/raw/viquae/test.jsonl")
    picture = next(each.image for each in questions if each.image is not None)
    photo = Images(project.folder / "data/kvqae/raw/images/questions").read(picture)
    (project.folder / "photo.jpg").write_bytes(photo)


@pytest.mark.slow
def test_what_serves_a_page_shows_it(checkout):
    for command, shown in SERVERS.items():
        assert command in [*SET_UP, *ASK]
        assert shown in served(checkout, command)


def served(project, command: str) -> str:
    """The first page of a server, which is ended then."""
    port = free_port()
    log = project.folder / "served"
    with log.open("w") as out:
        server = subprocess.Popen(
            ["bash", "-ec", f"{command} PORT={port}"], cwd=project.folder, env=project.environment(), stdout=out,
            stderr=subprocess.STDOUT, process_group=0,
        )  # fmt: skip
    try:
        end = time.monotonic() + 600
        while True:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.5)
            try:
                return httpx.get(f"http://127.0.0.1:{port}/", timeout=30).text
            except httpx.TransportError:
                continue
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=60)
