"""The bench of Re-Ranking Transformers on a tiny network: both peers give our logits, whatever the times."""

import numpy as np
import pytest

from bench import harness, rrt

TINY = {"global_dimension": 6, "layers": 2, "heads": 2, "hidden": 8, "locals": 3, "pairs": 4}


@pytest.fixture
def tiny(monkeypatch):
    for name in ("SMALL", "PAPER"):
        monkeypatch.setattr(rrt, name, TINY)
    monkeypatch.setattr(harness, "TRIALS", 1)


def test_both_peers_give_our_logits(tiny, figures):
    rrt.main()
    found = figures("rrt")
    assert (found["tokens"], found["pairs"]) == (10, 4)
    race = found["races"]["4 pairs of 10 tokens"]
    assert (race["popular"], race["expert"]) == ("torch's TransformerEncoder", "layers by hand")
    assert found["pairs_per_second"] == 4 / race["seconds"]


@pytest.mark.parametrize("peer", ["by_torch", "by_hand"])
def test_other_logits_end_the_bench(tiny, monkeypatch, peer):
    kept = getattr(rrt, peer)
    monkeypatch.setattr(rrt, peer, lambda *given: kept(*given) + np.float32(0.2))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        rrt.main()
