"""Comparisons of rows: paired by query, tested and resampled by picture, on fixtures for paper and pencil."""

from pathlib import Path

import numpy as np
import pytest

from tests.decorrelation.retrieved_world import cell
from trivium.decorrelation.evaluation.tables import (
    EvaluateParameters,
    Measured,
    compare,
    compared_variants,
    comparisons,
)
from trivium.decorrelation.matrix import parse_cells

SETTINGS = EvaluateParameters(partner_probability=0.5, permutations=1000, confidence=0.95, resamples=500, seed=0)
CELL = parse_cells({"coco_clip_ours_0": cell("coco", "clip", "ours")}, Path("p"))["coco_clip_ours_0"]


def measured(values, queries, pictures, seeds=(0,), member=None, of=CELL):
    values = np.atleast_2d(np.array(values, dtype=float))
    subsets = {"all": np.ones(len(queries), dtype=bool)}
    if member is not None:
        subsets["partner_remains"] = np.array(member)
    return Measured(of, seeds, tuple(queries), np.array(pictures), subsets, {"odmap@1": values})


def test_differences_are_over_common_queries():
    left = measured([1, 1, 0, 1], "abcd", [1, 1, 2, 3])
    right = measured([1, 0, 0], "dxa", [3, 9, 1])
    (row,) = compare(left, right, SETTINGS)
    assert (row["queries"], row["pictures"]) == (2, 2)
    assert (row["value"], row["other_value"], row["difference"]) == (1.0, 0.5, 0.5)


def test_p_swaps_all_queries_of_a_picture_together():
    ones, zeros = [1] * 12, [0] * 12
    by_four = np.repeat(np.arange(3), 4)
    (row,) = compare(measured(ones, "abcdefghijkl", by_four), measured(zeros, "abcdefghijkl", by_four), SETTINGS)
    assert row["p"] == pytest.approx(2 / 2**3)  # of 8 sign vectors the two without a change of sign
    (row,) = compare(measured(ones, "abcdefghijkl", range(12)), measured(zeros, "abcdefghijkl", range(12)), SETTINGS)
    assert row["p"] < 0.01
    assert (row["low"], row["high"]) == (1.0, 1.0)


def test_values_are_means_over_seeds_and_the_spread_is_of_their_differences():
    left = measured([[1, 1], [1, 0], [0, 1]], "ab", [1, 2], (0, 1, 2))
    right = measured([[0, 0], [0, 0], [0, 1]], "ab", [1, 2], (0, 1, 2))
    (row,) = compare(left, right, SETTINGS)
    assert row["value"] == pytest.approx(4 / 6)
    assert row["other_value"] == pytest.approx(1 / 6)
    assert row["difference_sd"] == pytest.approx(np.std([1, 0.5, 0], ddof=1))
    (row,) = compare(left, measured([0, 0], "ab", [1, 2]), SETTINGS)
    assert row["difference_sd"] is None


def test_subsets_have_their_own_rows_and_empty_ones_none():
    pictures = [1, 2, 3]
    left = measured([1, 0, 1], "abc", pictures, member=[True, True, False])
    rows = {row["subset"]: row for row in compare(left, measured([0, 0, 0], "abc", pictures), SETTINGS)}
    assert rows["partner_remains"]["difference"] == 0.5
    assert rows["all"]["difference"] == pytest.approx(2 / 3)
    left = measured([1, 0, 1], "abc", pictures, member=[False] * 3)
    assert [row["subset"] for row in compare(left, left, SETTINGS)] == ["all"]


def test_one_picture_has_no_interval():
    one = measured([1, 0], "ab", [7, 7])
    (row,) = compare(one, one, SETTINGS)
    assert (row["low"], row["high"], row["p"]) == (None, None, 1.0)


def test_which_variants_are_compared():
    found = list(compared_variants(["zero_shot", "finetune", "ours", "longer"]))
    assert found == [
        ("zero_shot", "finetune"),
        ("ours", "zero_shot"),
        ("ours", "finetune"),
        ("longer", "finetune"),
        ("ours", "longer"),
    ]
    assert list(compared_variants(["ours"])) == []


def test_queries_painted_otherwise_are_not_compared():
    zero = CELL.model_copy(update={"queries": "zero"})
    ours, same, otherwise = (measured([1, 0], "ab", [1, 2], of=of) for of in (CELL, CELL, zero))
    for other, sets in ((same, {"synthetic", "rendered"}), (otherwise, {"rendered"})):
        by_variant = {name: dict.fromkeys(("synthetic", "rendered"), of) for name, of in (("ours", ours), ("x", other))}
        rows = comparisons(by_variant, SETTINGS)
        assert {row["set"] for row in rows if row["set"] == row["other_set"]} == sets
