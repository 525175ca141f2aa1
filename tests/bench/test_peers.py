"""The benches against ranx on small inputs: they must agree, whatever the times."""

import pytest

from bench import fusion, posfuse, significance


def test_the_weight_search_finds_the_optimum_that_ranx_finds(figures, monkeypatch):
    monkeypatch.setattr(fusion, "QUERIES", 6)
    monkeypatch.setattr(fusion, "STEP", 0.25)
    fusion.main()
    found = figures("fusion")
    assert found["best_mrr"] == pytest.approx(found["best_mrr_of_ranx"], abs=1e-12)
    assert found["largest_mrr_difference_without_ties"] < 1e-12
    assert found["weightings"] == 35
    assert {"peak_mib", "ranx_mib", "peak_mib_ten_times_the_queries", "ranx_mib_ten_times_the_queries"} <= found.keys()


def test_posfuse_and_min_max_fusion_give_the_scores_that_ranx_gives(figures, monkeypatch):
    monkeypatch.setattr(posfuse, "QUERIES", 6)
    monkeypatch.setattr(posfuse, "STEP", 0.25)
    posfuse.main()
    found = figures("posfuse")
    assert found["largest_posfuse_score_difference"] < 1e-12
    assert found["largest_min_max_score_difference"] < 1e-12
    assert found["weightings"] == 15


def test_the_randomization_test_gives_the_p_values_that_ranx_gives(figures, monkeypatch):
    monkeypatch.setattr(significance, "QUERIES", 15)
    monkeypatch.setattr(significance, "PERMUTATIONS", 50)
    monkeypatch.setattr(significance, "MANY", 2000)
    significance.main()
    found = figures("significance")
    assert found["pairs"] == 15
    assert found["largest_p_difference_in_standard_errors"] < 5
