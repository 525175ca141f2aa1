"""The benches against ranx on small inputs: they must agree, whatever the times."""

import numpy as np
import pytest

from bench import dense, fusion, harness, significance


def test_the_weight_search_finds_the_optimum_that_ranx_finds(figures, monkeypatch):
    monkeypatch.setattr(fusion, "QUERIES", 6)
    monkeypatch.setattr(fusion, "FEW_QUERIES", 3)
    monkeypatch.setattr(fusion, "STEP", 0.25)
    monkeypatch.setattr(fusion, "AGREES", 0.05)  # six questions have few ties, each of weight
    monkeypatch.setattr(harness, "TRIALS", 1)
    fusion.main()
    found = figures("fusion")
    assert found["largest_mrr_difference_to_ranx_without_ties"] < 1e-12
    assert found["weightings"] == 35
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("ranx", "NumPy, 15 lines")
    assert {
        "peak_mib",
        "numpy_mib",
        "peak_mib_ten_times_the_queries",
        "numpy_mib_ten_times_the_queries",
    } <= found.keys()


def test_exact_search_is_what_faiss_and_sentence_transformers_find(tmp_path, monkeypatch):
    for name, value in {"QUERIES": 60, "FEW": 30, "K": 10}.items():
        monkeypatch.setattr(dense, name, value)
    monkeypatch.setattr(harness, "TRIALS", 1)
    monkeypatch.setattr(dense, "queries", lambda kept=dense.queries: kept(60))
    dense.write_vectors(tmp_path / "vectors.npy", 5000)
    found = dense.raced(tmp_path / "vectors.npy")
    assert found["places_of_faiss_that_differ"] <= 5
    assert list(found["races"]) == ["60 questions, 5000 vectors of 384"]


def test_other_results_end_the_bench():
    scores, rows = np.array([[2.0, 1.0]]), np.array([[4, 3]])
    assert dense.check_same((scores, rows), (scores, rows[:, ::-1])) == 2
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        dense.check_same((scores, rows), (scores + 0.01, rows))


def test_the_randomization_test_gives_the_p_values_that_ranx_gives(figures, monkeypatch):
    monkeypatch.setattr(significance, "QUERIES", 15)
    monkeypatch.setattr(significance, "PERMUTATIONS", 50)
    monkeypatch.setattr(significance, "MANY", 2000)
    monkeypatch.setattr(harness, "TRIALS", 1)
    significance.main()
    found = figures("significance")
    assert found["pairs"] == 15
    assert found["largest_p_difference_to_ranx_in_standard_errors"] < 5
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("ranx", "NumPy, a product of signs")
