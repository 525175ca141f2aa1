"""The benches on small inputs: ours and the peers must agree, whatever the times."""

import numpy as np
import pytest

from bench import bm25, dense, effects, fusion, harness, matching, odmap, significance


@pytest.fixture
def small(monkeypatch):
    """Set constants of a bench to small values, and one trial."""

    def shrink(bench, **values):
        for name, value in values.items():
            monkeypatch.setattr(bench, name, value)
        monkeypatch.setattr(harness, "TRIALS", 1)

    return shrink


def test_bm25_finds_what_anserini_finds(figures, small):
    small(bm25, DOCUMENTS=300, QUESTIONS=20, DEPTH=10, HEAP=1)
    bm25.main()
    found = figures("bm25")
    assert list(found["races"]) == ["20 questions", "index of 300 passages"]
    assert {race["expert"] for race in found["races"].values()} == {"Anserini"}
    assert bm25.SHARED <= found["share_found_by_bm25s_too"] <= 1


def test_delta_p_and_intervals_are_those_of_scipy(figures, small):
    small(effects, MODELS=2, FACTORS=3, EXAMPLES=300, TEXTS=50, PEER_CELLS=3)
    effects.main()
    found = figures("effects")
    assert found["cells_of_scipy_bootstrap_timed"] == 3
    assert found["largest_p_difference"] < 1e-11
    assert found["largest_bound_difference"] < 0.03 * found["median_width_of_intervals"] + 0.3
    assert found["largest_bound_difference_to_numpy"] < 0.03 * found["median_width_of_intervals"] + 0.3
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("SciPy, cell by cell", "NumPy, one product")


def test_both_peers_match_the_classes_that_ours_does(figures, small):
    small(matching, CAPTIONS=60, DISTINCT=20, PEER=30, SHARD=16)
    matching.main()
    found = figures("matching")
    race = found["races"]["phrases of 30 captions"]
    assert (race["popular"], race["expert"]) == ("spaCy's PhraseMatcher", "a tree of words")
    assert found["captions"] == 60
    assert 1 <= found["classes_named_a_caption"] <= 4
    assert {"peak_mib", "peak_mib_ten_times_the_captions"} <= found.keys()


def test_odmap_is_that_of_plain_loops_and_of_faiss(figures, small):
    small(odmap, CAPTIONS=3000, QUERIES=40, CLASSES=12, RACED=20, LOOPED=8)
    odmap.main()
    found = figures("odmap")
    assert found["largest_difference_of_values"] < 1e-12
    assert found["misplaced_by_the_loop"] <= 1  # float32 mistakes scores that differ in the last bit
    assert found["misplaced_by_faiss"] <= 2
    assert [race["expert"] for race in found["races"].values()] == ["NumPy, 3 lines", "faiss.knn"]


def test_the_weight_search_finds_the_optimum_that_ranx_finds(figures, small):
    small(fusion, QUERIES=6, FEW_QUERIES=3, STEP=0.25, AGREES=0.05)  # six questions have few ties, each of weight
    fusion.main()
    found = figures("fusion")
    assert found["largest_mrr_difference_to_ranx_without_ties"] < 1e-12
    assert found["weightings"] == 35
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("ranx", "NumPy, 15 lines")
    memory = ("peak_mib", "numpy_mib")
    assert {*memory, *(f"{name}_ten_times_the_queries" for name in memory)} <= found.keys()


def test_exact_search_is_what_faiss_and_sentence_transformers_find(tmp_path, small):
    small(dense, QUERIES=60, FEW=30, K=10)
    dense.write_vectors(tmp_path / "vectors.npy", 5000)
    found = dense.run_races(tmp_path / "vectors.npy")
    assert found["places_of_faiss_that_differ"] <= 5
    assert list(found["races"]) == ["60 questions, 5000 vectors of 384"]


def test_other_results_end_the_bench():
    scores, rows = np.array([[2.0, 1.0]]), np.array([[4, 3]])
    assert dense.check_same((scores, rows), (scores, rows[:, ::-1])) == 2
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        dense.check_same((scores, rows), (scores + 0.01, rows))


def test_the_randomization_test_gives_the_p_values_that_ranx_gives(figures, small):
    small(significance, QUERIES=15, PERMUTATIONS=50, MANY=2000)
    significance.main()
    found = figures("significance")
    assert found["pairs"] == 15
    assert found["largest_p_difference_to_ranx_in_standard_errors"] < 5
    (race,) = found["races"].values()
    assert (race["popular"], race["expert"]) == ("ranx", "NumPy, a product of signs")
