"""The bench of ODmAP on a small input: plain loops and ours must agree, whatever the times."""

import pytest

from bench import odmap


def test_ranking_and_values_are_those_of_plain_loops(figures, monkeypatch):
    for name, value in (("CAPTIONS", 3000), ("QUERIES", 40), ("CLASSES", 12), ("LOOPED", 8)):
        monkeypatch.setattr(odmap, name, value)
    odmap.main()
    found = figures("odmap")
    assert found["largest_difference_from_loop"] < 1e-12
    assert found["misplaced_against_loop"] <= 1  # float32 mistakes scores that differ in the last bit
    assert found["loop_queries_timed"] == 8
    assert found["times_faster"] == pytest.approx(found["loop_seconds_scaled"] / found["seconds"])
