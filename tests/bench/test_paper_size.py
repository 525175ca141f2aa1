"""Every part of the rehearsal runs on a little, and what was measured is not measured again."""

import math

import pytest

from bench.paper_size import __main__ as rehearsal
from bench.paper_size.part import PARTS, Part, part_of
from trivium.core.tables import read_json

LITTLE = {"fusion": 60, "dense": 2000, "inverted": 3000, "images": 400, "bm25": 300, "instances": 20, "captions": 200}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_runs_on_a_little(name, tmp_path):
    part = part_of(name)
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    part.make(tmp_path / "in", LITTLE[name])
    found = rehearsal.trial(part, tmp_path)
    assert found["processor_seconds"] > 0.1
    assert 0.01 < found["private_gib"] < 4
    assert part.size >= 1000 * LITTLE[name]


def test_an_unknown_part_is_named_with_the_choices():
    with pytest.raises(SystemExit, match="no part 'faces'.*fusion"):
        part_of("faces")


@pytest.fixture
def measured(monkeypatch):
    """Trials whose seconds grow as the size to the power of 1.05; the sizes that were made."""
    made: list[int] = []

    def trial(part, folder):
        size = int((folder / "in" / "size").read_text())
        return {"processor_seconds": size**1.05, "seconds": 1.0, "private_gib": 7.0 if size == 1000 else 1.0}

    monkeypatch.setattr(rehearsal, "trial", trial)
    return made


def part_like(made) -> Part:
    def make(folder, size):
        made.append(size)
        (folder / "size").write_text(str(size))

    return Part("like", 1000, "things", make, lambda folder, out: None)


def test_growth_and_memory_are_told_and_kept(measured, tmp_path, capsys):
    part = part_like(measured)
    found = rehearsal.rehearse(part, 1000, tmp_path / "kept", tmp_path / "scratch")
    assert math.isclose(found["exponent"], 1.05)
    assert not found["holds"], "seven GiB are more than six"
    assert "n^1.05, 7.0 GiB TOO MUCH" in capsys.readouterr().out
    assert measured == [100, 1000]
    assert list((tmp_path / "scratch").iterdir()) == [], "the data are deleted"
    assert rehearsal.rehearse(part, 1000, tmp_path / "kept", tmp_path / "scratch") == found
    assert measured == [100, 1000], "what is kept is not measured again"
    assert read_json(tmp_path / "kept" / "like-1000.json")["trials"] == 3


def test_a_trial_that_fails_ends_the_rehearsal(tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(RuntimeError, match="dense ended with 1"):
        rehearsal.trial(part_of("dense"), tmp_path)
