"""The bench of matching on a few captions: both sides find what the captions name, whatever the times."""

import pytest

from bench import matching


def test_both_sides_read_the_captions(figures, monkeypatch):
    for name, value in (("CAPTIONS", 60), ("DISTINCT", 20), ("PEER", 30), ("SHARD", 16)):
        monkeypatch.setattr(matching, name, value)
    matching.main()
    found = figures("matching")
    assert found["captions"] == 60
    # The plain loop names all that ours does, and the dog in a hot dog besides.
    assert 1 <= found["classes_named_a_caption"] <= found["classes_named_a_caption_by_regular_expressions"]
    theirs = found["captions_a_second_of_regular_expressions"]
    assert found["ratio_alone"] == pytest.approx(found["captions_a_second_alone"] / theirs)
