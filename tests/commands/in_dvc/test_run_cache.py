"""What a kill leaves in DVC's run cache stops no stage."""

import pytest

from tests.tiny_project import run, start

GRAPH = """stages:
  a:
    cmd: echo right > out
    deps: [given]
    outs: [out]
"""


@pytest.mark.parametrize("left", [None, "", "cmd: ec"], ids=["nothing", "an empty file", "half a file"])
def test_a_stage_runs_again_whatever_a_kill_left(tmp_path, monkeypatch, left):
    folder = start(tmp_path / "project", {"dvc.yaml": GRAPH, "given": "1\n", ".gitignore": ""}, monkeypatch)
    run("dvc", "repro", folder=folder)
    (entry,) = [path for path in (folder / ".dvc/cache/runs").rglob("*") if path.is_file()]
    entry.unlink()
    if left is not None:
        (entry.parent / ".0a1b2c3d.tmp").write_text(left)
    (folder / "dvc.lock").unlink()
    (folder / "out").unlink()
    said = run("dvc", "repro", folder=folder)
    assert "Running stage 'a'" in said
    assert "was broken off by a kill" in said
    assert (folder / "out").read_text() == "right\n"
    assert entry.is_file()
    (folder / "dvc.lock").unlink()
    said = run("dvc", "repro", folder=folder)
    assert "Stage 'a' is cached" in said
    assert "broken off" not in said
