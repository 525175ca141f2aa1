"""Lists in memory are those that stand in files."""

import numpy as np

from trivium.formats.trec import read_run, write_run
from trivium.kvqae.asking.systems import round_as_file
from trivium.measures.runs import Run


def test_a_list_in_memory_is_the_one_that_is_read_from_its_file(tmp_path):
    """Equal scores, such that differ in 64 bits only, and a query without a list."""
    scores = [1 + 2e-16, 1.0, 1.0, 0.1 + 1e-12, 0.1, -3e-9, -1e7]
    run = Run.from_scores(("a", "b"), [[7, 3, 5, 1, 8, 2, 9], [-1] * 7], [scores] * 2)
    write_run(tmp_path / "run.trec", run)
    read, found = read_run(tmp_path / "run.trec"), round_as_file(run).select(["a"])
    assert np.array_equal(found.documents, read.documents)
    assert np.array_equal(found.scores, read.scores)
    assert not np.array_equal(found.scores, run.scores[:1])
