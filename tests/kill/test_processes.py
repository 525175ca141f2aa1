"""Who is who among the processes of a project, by what their command lines say."""

import pytest

from tests.kill import processes
from tests.kill.__main__ import LINGERING

LINES = {
    "kvqae-world": "python -m stages.kvqae.world --out data/raw",
    "kvqae-encode": "python -m stages.kvqae.encode --raw data/raw",
    "complexity-finetune": "python -m stages.complexity.finetune --out models/reader",
    "complexity-answer@minilm": "python -m stages.complexity.answer --model models/reader",
    "headline": "python -m stages.page.headline --raw data/raw",
}


@pytest.fixture(autouse=True)
def _words(monkeypatch):
    monkeypatch.setattr(processes, "words", str.split)


def test_each_stage_that_may_linger_is_told_from_the_others():
    assert set(LINES) == set(LINGERING)
    for name in LINES:
        assert [other for other, line in LINES.items() if processes.is_stage(line, name)] == [name]


def test_what_is_no_stage():
    for line in ("dvc repro headline", "python -m trivium lanes headline", "python", "make repro"):
        assert not processes.is_stage(line)
        assert not processes.is_stage(line, "headline")
    assert all(map(processes.is_stage, LINES.values()))
