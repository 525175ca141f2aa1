import csv

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow

from trivium.core import tables
from trivium.core.errors import BadInput
from trivium.core.tables import write_csv
from trivium.core.zips import open_zip


def test_json_refuses_nan_and_names_the_line(tmp_path):
    with pytest.raises(ValueError, match="Out of range float"):
        tables.write_json(tmp_path / "a.json", {"x": float("nan")})
    assert not (tmp_path / "a.json").exists()
    (tmp_path / "b.json").write_text('{"a": 1,\n "b": }')
    with pytest.raises(BadInput, match="b.json:2: not JSON"):
        tables.read_json(tmp_path / "b.json")


def test_json_lines_round_trip_and_bad_row(tmp_path):
    path = tmp_path / "a.jsonl"
    assert tables.write_json_lines(path, [{"a": "é"}, {"a": 2}]) == 2
    assert list(tables.read_json_lines(path)) == [(1, {"a": "é"}), (2, {"a": 2})]
    path.write_text('{"a": 1}\n\n[1]\n')
    with pytest.raises(BadInput, match=r"a.jsonl:3: not a JSON object; got \[1\]"):
        list(tables.read_json_lines(path))


def test_missing_columns_are_named_with_those_there(tmp_path):
    tables.write_table(tmp_path / "t.parquet", pa.table({"a": [1], "b": [2]}))
    with pytest.raises(BadInput, match=r"missing columns: c; got \['a', 'b'\]"):
        tables.read_table(tmp_path / "t.parquet", ["a", "c"])
    (tmp_path / "t.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(BadInput, match="not a readable Parquet file"):
        tables.read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'a,b\n1,"2\n3,4\n', "not CSV: unexpected end of data"),
        (b"a,b\n1,\xe9\n", "a.csv:2: not UTF-8: .*expected UTF-8 .spreadsheets call it “CSV UTF-8”"),
        (b"", r"a.csv:1: missing columns: a, b; got \[\]"),
        (b"a,c\n", r"a.csv:1: missing columns: b; got \['a', 'c'\]"),
        (b"a,b,A\n", r"a.csv:1: columns of one name; got \['a'\]"),
        (b"a,b\n1,2\n3\n", "a.csv:3: another number of cells than the first row has; got 1; expected 2"),
        (b"a,b\n1,2,3\n", "a.csv:2: another number of cells than the first row has; got 3; expected 2"),
    ],
)
def test_bad_csv(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(BadInput, match=message):
        list(tables.read_csv_records(tmp_path / "a.csv", ("a", "b")))


def test_records_of_csv(tmp_path):
    (tmp_path / "a.csv").write_text(' B ,A,,\n1,"2\n",,\n,3,,\n', "utf-8")
    records = list(tables.read_csv_records(tmp_path / "a.csv", ("a", "b")))
    assert records == [(3, {"b": "1", "a": "2\n", "": ""}), (4, {"b": "", "a": "3", "": ""})]


def test_csv_may_be_parted_by_semicolons(tmp_path):
    """As Excel writes it where the comma stands in numbers."""
    (tmp_path / "t.csv").write_text('\ufefftitle;text\nLoutre;"Elle mesure 1,2 m; elle nage."\n')
    assert list(tables.read_csv_records(tmp_path / "t.csv", ["title", "text"])) == [
        (2, {"title": "Loutre", "text": "Elle mesure 1,2 m; elle nage."})
    ]


@pytest.mark.parametrize(
    "stand_in", [b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", b"<html>404</html>"]
)
def test_what_stands_in_the_place_of_parquet_or_a_zip_is_named(tmp_path, stand_in):
    (tmp_path / "t").write_bytes(stand_in)
    for read in (tables.read_table, tables.count_rows, open_zip):
        with pytest.raises(BadInput, match="another file stands in its place"):
            read(tmp_path / "t")


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
