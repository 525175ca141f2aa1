"""The bench of ODmAP on a small input: plain loops, faiss and ours must agree, whatever the times."""

import pytest

from bench import harness, odmap


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("CAPTIONS", 3000), ("QUERIES", 40), ("CLASSES", 12), ("RACED", 20), ("LOOPED", 8)):
        monkeypatch.setattr(odmap, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_ranking_and_values_are_those_of_plain_loops_and_of_faiss(figures):
    odmap.main()
    found = figures("odmap")
    assert found["largest_difference_of_values"] < 1e-12
    assert found["misplaced_by_the_loop"] <= 1  # float32 mistakes scores that differ in the last bit
    assert found["misplaced_by_faiss"] <= 2
    assert [race["expert"] for race in found["races"].values()] == ["NumPy, 3 lines", "faiss.knn"]
