"""The bench of the cross-encoder on a small network: the scores are those of sentence-transformers."""

import json

import pytest

from bench import cross_encoder, harness
from trivium.harness.arithmetic import PORTABLE


def test_scores_are_those_of_the_peer(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "FOLDER", tmp_path)
    sizes = {"layers": 1, "hidden": 24, "tokens": 72}
    for name, value in (("PAPER", sizes), ("SMALL", sizes), ("QUESTIONS", 4), ("PASSAGES", 10)):
        monkeypatch.setattr(cross_encoder, name, value)
    monkeypatch.setenv(PORTABLE, "false")  # whatever it was, both compute in full precision
    cross_encoder.main()
    found = json.loads((tmp_path / "cross_encoder.json").read_text())
    assert found["largest_score_difference"] < 1e-5
    theirs = found["sentence_transformers_pairs_per_second"]
    assert found["times_faster"] == pytest.approx(found["scoring_pairs_per_second"] / theirs)
