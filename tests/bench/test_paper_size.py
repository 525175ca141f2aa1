"""Every part of the rehearsal runs on a little, and what was measured is not measured again."""

import pytest

from bench.paper_size import __main__ as rehearsal
from bench.paper_size.part import PARTS, part_of

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


@pytest.fixture
def measured(monkeypatch):
    """Trials whose seconds grow as the size to the power of 1.05; the sizes that were made."""
    made: list[int] = []

    def trial(part, folder):
        size = int((folder / "in" / "size").read_text())
        return {"processor_seconds": size**1.05, "seconds": 1.0, "private_gib": 7.0 if size == 1000 else 1.0}

    monkeypatch.setattr(rehearsal, "trial", trial)
    return made
