"""`dvc metrics diff` fits a screen."""

import json

import pytest

from tests.tiny_project import ROOT, commit, run, start

HEADLINE = json.loads((ROOT / "metrics" / "headline.json").read_text(encoding="utf-8"))
OTHERS = {f"coco_blip_finetune_{number}_empty_image_to_text_r@10": 0.1 * number for number in range(500)}
GRAPH = "stages:\n  a:\n    cmd: 'true'\n    metrics: [metrics/headline.json: {cache: false}, metrics/others.json: {cache: false}]\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose numbers all differ from those of its commit."""
    folder = start(tmp_path, {"dvc.yaml": GRAPH}, monkeypatch)
    (folder / "metrics").mkdir()
    for change in (1, -3.7):
        for name, numbers in (("headline", HEADLINE), ("others", OTHERS)):
            changed = {key: value * change - 123.4567891 * (change < 0) for key, value in numbers.items()}
            (folder / "metrics" / f"{name}.json").write_text(json.dumps(changed))
        if change == 1:
            commit(folder)
    return folder


def test_the_headline_fits_a_screen(project):
    said, *lines = run("dvc", "metrics", "diff", folder=project).splitlines()
    assert "--targets" in said
    assert {line.split()[1] for line in lines[1:]} == set(HEADLINE)
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 120


def test_other_files_are_compared_where_they_are_named(project):
    assert run("dvc", "metrics", "diff", "--targets", "metrics/others.json", folder=project).count("\n") > len(OTHERS)
    compared = json.loads(run("dvc", "metrics", "diff", "--json", folder=project))
    assert set(compared) == {"metrics/headline.json", "metrics/others.json"}


def test_from_a_folder_below(project):
    assert "../metrics/headline.json" in run("dvc", "metrics", "diff", folder=project / ".dvc")
