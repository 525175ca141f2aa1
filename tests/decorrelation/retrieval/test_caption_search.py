"""The best captions: exact, ties to the lower row, never more than there are."""

import numpy as np

from trivium.decorrelation.retrieval.ranking import top_captions


def test_it_is_the_sorted_matrix_of_scores_also_from_a_mapped_file(tmp_path):
    rng = np.random.default_rng(0)
    gallery = (rng.integers(-2, 3, (500, 6)) / 4).astype(np.float16)  # with ties
    np.save(tmp_path / "gallery.npy", gallery)
    queries = (rng.integers(-2, 3, (20, 6)) / 4).astype(np.float32)
    scores, rows = top_captions(queries, np.load(tmp_path / "gallery.npy", mmap_mode="r"), 10)
    exact = queries.astype(np.float64) @ gallery.astype(np.float64).T
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :10]
    assert rows.tolist() == expected.tolist()
    assert scores.tolist() == np.take_along_axis(exact, expected, axis=1).tolist()
