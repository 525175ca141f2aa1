"""The bench of matching on a few captions: both peers name the classes that ours does, whatever the times."""

import pytest

from bench import harness, matching


@pytest.fixture
def few(monkeypatch):
    for name, value in (("CAPTIONS", 60), ("DISTINCT", 20), ("PEER", 30), ("SHARD", 16)):
        monkeypatch.setattr(matching, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_name_what_ours_does(few, figures):
    matching.main()
    found = figures("matching")
    race = found["races"]["phrases of 30 captions"]
    assert (race["popular"], race["expert"]) == ("spaCy's PhraseMatcher", "a tree of words")
    assert found["captions"] == 60
    assert 1 <= found["classes_named_a_caption"] <= 4
    assert {"peak_mib", "peak_mib_ten_times_the_captions"} <= found.keys()
