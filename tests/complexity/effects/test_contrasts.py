"""What a factor costs, by hand, and readers that are trained on both corpora."""

import numpy as np
import pyarrow as pa
import pytest

from trivium.formats.facts import FACTORS, SCORES, sides


def scores(*rows):
    """Rows of (fact, factors that it is about, score)."""
    empty = dict.fromkeys(FACTORS) | {"id": "x", "corpus": "a", "reader": "r", "seed": 0, "answer": "", "baseline": 0.0}
    made = [empty | {"fact": fact, "score": score} | factors for fact, factors, score in rows]
    return pa.Table.from_pylist(made, SCORES)


def test_sides_are_means_over_the_versions_of_a_fact():
    table = scores(
        ("b", {"f2": True, "f3": False}, 0.2),
        ("b", {"f2": True, "f3": True}, 0.4),
        ("b", {"f2": False, "f3": True}, 0.9),
        ("b", {"f2": False, "f3": False}, 0.7),
        ("a", {"f2": True, "f3": False}, 1.0),
        ("a", {"f2": False, "f3": False}, 0.5),
        ("c", {"f1": True}, 0.0),
    )
    facts, without, present = sides(table.slice(0, 6), "f2")
    assert facts == ["a", "b"]
    assert without == pytest.approx([0.5, 0.8])
    assert present == pytest.approx([1.0, 0.3])
    assert sides(table.slice(0, 4), "f3")[1] == pytest.approx([0.45])
    assert sides(table, "f5") == ([], *(pytest.approx(np.zeros(0)),) * 2)
