"""Curves as a table: what is logged counts once, whatever a kill leaves, and long curves are made short by one rule."""

import pytest

from trivium.core.curves import COLUMNS, Curves, thin
from trivium.core.tables import read_csv


@pytest.fixture
def curves(tmp_path):
    return Curves(tmp_path / "curves.jsonl")


def table(path):
    return [row for _, row in read_csv(path)]


def test_the_table_has_a_row_a_point_by_name_and_step(curves, tmp_path):
    curves.keep(2, {"loss": 0.1 + 0.2, "a": 1})
    curves.keep(1, {"loss": 3.0})
    curves.write(tmp_path / "m" / "curves.csv")
    assert table(tmp_path / "m" / "curves.csv") == [
        [*COLUMNS],
        ["a", "2", "1.0"],
        ["loss", "1", "3.0"],
        ["loss", "2", "0.30000000000000004"],
    ]


def test_values_that_are_not_finite_are_left_out(curves):
    curves.keep(1, {"loss": 1.0, "norm": float("inf")})
    curves.keep(2, {"loss": float("nan"), "norm": 2.0})
    assert curves.points() == {"loss": [(1, 1.0)], "norm": [(2, 2.0)]}


@pytest.mark.parametrize("length", range(40))
def test_a_line_that_is_cut_off_does_not_count(curves, length):
    """Wherever it was cut: what is logged after it stands in a line of its own."""
    curves.keep(1, {"loss": 1.0})
    whole = len(curves.file.read_bytes())
    curves.keep(2, {"loss": 2.0, "norm": 0.125})
    curves.file.write_bytes(curves.file.read_bytes()[: whole + length])
    curves.keep(3, {"loss": 3.0})
    read = curves.points()
    whole_line = length >= len('\n[2, {"loss": 2.0, "norm": 0.125}]')
    assert read["loss"] == [(1, 1.0), *([(2, 2.0)] if whole_line else []), (3, 3.0)]


@pytest.mark.parametrize(
    ("values", "most", "expected"),
    [
        ([], 2, []),
        ([1.0, 5.0], 2, [(1, 1.0), (2, 5.0)]),
        ([1.0, 5.0, 7.0], 2, [(2, (1.0 + 5.0) / 2), (3, 7.0)]),
        ([1.0, 2.0, 3.0, 4.0, 6.0], 2, [(3, (1.0 + 2.0 + 3.0) / 3), (5, (4.0 + 6.0) / 2)]),
    ],
)
def test_long_curves_are_means_of_neighbours(values, most, expected):
    assert thin(list(enumerate(values, 1)), most) == expected
