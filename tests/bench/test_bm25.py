"""The bench of BM25 on few passages: Anserini's own search gives the documents and scores that ours gives."""

import pytest

from bench import bm25, harness


@pytest.fixture(autouse=True)
def few(monkeypatch):
    for name, value in (("DOCUMENTS", 300), ("QUESTIONS", 20), ("DEPTH", 10), ("HEAP", 1)):
        monkeypatch.setattr(bm25, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_the_peers_find_what_ours_finds(figures):
    bm25.main()
    found = figures("bm25")
    assert list(found["races"]) == ["20 questions", "index of 300 passages"]
    assert {race["expert"] for race in found["races"].values()} == {"Anserini"}
    assert bm25.SHARED <= found["share_found_by_bm25s_too"] <= 1
