"""The bench of the cross-encoder on a small network: both peers give our scores, whatever the times."""

import numpy as np
import pytest

from bench import cross_encoder, harness
from trivium.core.arithmetic import PORTABLE

TINY = {"layers": 1, "hidden": 24, "tokens": 72}


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    for name, value in (("PAPER", TINY), ("SMALL", TINY), ("QUESTIONS", 4), ("PASSAGES", 10)):
        monkeypatch.setattr(cross_encoder, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    monkeypatch.setenv(PORTABLE, "false")  # whatever it was, all compute in full precision


def test_both_peers_give_our_scores(figures, clock):
    clock(3)  # a step of training
    cross_encoder.main()
    found = figures("cross_encoder")
    race = found["races"]["40 pairs"]
    assert (race["popular"], race["expert"]) == ("sentence-transformers", "transformers, batches by tokens")
    assert found["scoring_pairs_per_second"] == 40 / race["seconds"]
    assert found["training_pairs_per_second"] == 24 / 3


def test_other_scores_end_the_bench(monkeypatch):
    kept = cross_encoder.by_tokens
    monkeypatch.setattr(cross_encoder, "by_tokens", lambda *given: kept(*given) + np.float32(0.2))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        cross_encoder.main()
