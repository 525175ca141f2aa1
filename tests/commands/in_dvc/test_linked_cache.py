"""A program that writes in place into its hard link of the cache does no harm that lasts."""

import hashlib
from pathlib import Path

import pytest

from tests.tiny_project import run, start

GRAPH = """stages:
  a:
    cmd: mkdir folder && echo right > folder/x && echo right too > file
    outs: [folder, file]
"""


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A project that ran, with a cache of hard links."""
    folder = start(tmp_path / "project", {"dvc.yaml": GRAPH, ".gitignore": ""}, monkeypatch)
    run("dvc", "config", "cache.type", "hardlink", folder=folder)
    run("dvc", "repro", folder=folder)
    assert Path("file").stat().st_nlink == 2
    return folder


def write_in_place(name):
    path = Path(name)
    mode = path.stat().st_mode
    path.chmod(0o644)
    with path.open("r+") as file:
        file.write("WRONG")
    path.chmod(mode)


def damaged(folder):
    """Files of the cache whose content is not what their name says."""
    files = [path for path in (folder / ".dvc/cache/files/md5").glob("??/*") if path.suffix != ".dir"]
    return [path for path in files if hashlib.md5(path.read_bytes()).hexdigest() != path.parent.name + path.name]


@pytest.mark.parametrize("name", ["file", "folder/x"])
def test_damage_is_seen_and_the_stage_runs_again(linked, name):
    write_in_place(name)
    assert len(damaged(linked)) == 1, "the link is the cache's own file"
    assert "Running stage 'a'" in run("dvc", "repro", folder=linked)
    assert damaged(linked) == []
    assert ((linked / "file").read_text(), (linked / "folder/x").read_text()) == ("right too\n", "right\n")


def test_damage_does_not_come_back_when_its_link_is_gone(linked):
    write_in_place("file")
    Path("file").unlink()
    assert damaged(linked)[0].stat().st_nlink == 1
    run("dvc", "checkout", folder=linked, fails=True)
    assert not Path("file").exists()
    assert damaged(linked) == []
    run("dvc", "repro", folder=linked)
    assert Path("file").read_text() == "right too\n"


@pytest.mark.parametrize("there", [True, False], ids=["linked", "no longer linked"])
@pytest.mark.parametrize("name", ["file", "folder/x"])
def test_damage_is_not_pushed(linked, name, there, tmp_path):
    run("dvc", "remote", "add", "-d", "there", str(tmp_path / "remote"), folder=linked)
    write_in_place(name)
    if not there:
        Path(name).unlink()
    assert "Missing cache files" in run("dvc", "push", folder=linked)
    pushed = [path for path in (tmp_path / "remote").rglob("*") if path.is_file()]
    assert not any(b"WRONG" in path.read_bytes() for path in pushed)
