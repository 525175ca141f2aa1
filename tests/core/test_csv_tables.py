import csv

import numpy as np
import pytest
from pyarrow import csv as arrow

from trivium.core.csv_tables import write_csv


def cells(path):
    """Of the lines below the heading."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))[1:]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        '=HYPERLINK("http://a.example","x")',
        "+33 1 23",
        "-cmd|' /C calc'!A0",
        "-",
        "-1.5.2",
        "-1+1",
        "+1e5x",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\r\n=1",
        "\n=1",
        "＝1",
    ],
)
def test_no_text_is_a_formula(tmp_path, text):
    write_csv(tmp_path / "a.csv", ["name"], [[text]])
    assert cells(tmp_path / "a.csv") == [["'" + text.replace("\r\n", "\n").replace("\r", "\n")]]


def test_numbers_stay_numbers(tmp_path):
    values = [-1.5, np.float64(-2.25), np.int64(-3), "-0.500000", "-.5", "+7", "-1e-09", -1e-9]
    write_csv(tmp_path / "a.csv", list("abcdefgh"), [values])
    [row] = arrow.read_csv(tmp_path / "a.csv").to_pylist()
    assert list(row.values()) == [-1.5, -2.25, -3, -0.5, -0.5, 7, -1e-9, -1e-9]


@pytest.mark.parametrize("row", [{"a": 1, "c": 2}, [1], [1, 2, 3]])
def test_a_row_of_other_columns_is_refused_and_nothing_is_written(tmp_path, row):
    with pytest.raises(ValueError, match="a row of other columns"):
        write_csv(tmp_path / "a.csv", ["a", "b"], [row])
    assert list(tmp_path.iterdir()) == []
