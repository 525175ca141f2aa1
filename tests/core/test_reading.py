"""What passes the one place that checks files, texts, numbers and sizes, and what is refused with its place."""

import gzip
import json
import lzma
import os
from pathlib import Path

import pytest

from trivium.core import reading
from trivium.core.errors import BadInput
from trivium.core.reading import (
    finite_number,
    open_file,
    parse_element,
    parse_json,
    read_bytes,
    read_lines,
    read_text,
    require_file,
    signature_of,
    whole_number,
)

FILE = Path("f.json")


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for read in (open_file, read_bytes, read_text, lambda path: list(read_lines(path))):
        with pytest.raises(BadInput, match=r"pipe: not a regular file; got 'a pipe, socket or device'"):
            read(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("name", "message"),
    [("none", "no such file"), (".", "not a regular file; got 'a folder'"), ("a\0b", "cannot be read"),
     ("x" * 300, "cannot be read: File name too long")],
)  # fmt: skip
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, message: str):
    with pytest.raises(BadInput, match=message):
        require_file(tmp_path / name)


def test_a_file_larger_than_allowed_is_refused_before_it_is_read(tmp_path: Path):
    (tmp_path / "f").write_bytes(b"12345")
    assert read_bytes(tmp_path / "f", 5) == b"12345"
    with pytest.raises(BadInput, match="f: file too large; got '5 bytes'; expected at most 4"):
        read_bytes(tmp_path / "f", 4)
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(BadInput, match="sparse: file too large"):
        read_text(tmp_path / "sparse")


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "LONGEST_LINE", 10)
    (tmp_path / "f").write_bytes(b"123456789\nabc")
    assert list(read_lines(tmp_path / "f")) == [(1, "123456789\n"), (2, "abc")]
    (tmp_path / "f").write_bytes(b"1\n" + b"x" * 11)
    with pytest.raises(BadInput, match=r"f:2: line too long; expected at most 10 bytes"):
        list(read_lines(tmp_path / "f"))


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("-0", 0), ("007", 7), (str(2**63 - 1), 2**63 - 1), ("-12", -12)]
)
def test_whole_numbers(text: str, number: int):
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text", ["", "-", "+1", " 1", "1\n", "1_0", "1.0", "²", "٣", str(2**63), "9" * 5000, "0x1", "nan"]
)
def test_what_is_no_whole_number_of_64_bits(text: str):
    with pytest.raises(ValueError, match="not a whole number of at most 64 bits"):
        whole_number(text)


def test_finite_numbers():
    for text in ("0", "-1e-3", "007.5", ".5", "5.", "1E+2", "+12", "9" * 300):
        assert finite_number(text) == float(text)
    for text in ("nan", "inf", "-Infinity", "1e999", "x", "", "1_0", "٣", " 1", "1\n", ".", "1e", "-", "0x1"):
        with pytest.raises(ValueError, match="not a finite number|could not convert"):
            finite_number(text)


@pytest.mark.parametrize(
    "text", ['{"a": [1, -2.5, "é\\ud83d\\ude00", null, true]}', "9223372036854775807", "-9223372036854775807", "1e308", '"\\\\ud800"']
)  # fmt: skip
def test_json_is_what_the_library_says(text: str):
    assert parse_json(text, FILE) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [0, {"b": NaN}]}', r"f\.json: field 'a\[1\]\.b': number out of range; got 'NaN'; expected a finite"),
        ('{"a":\n[1,\n -1e999]}', r"f\.json: field 'a\[1\]': number out of range; got '-1e999'"),
        ('{"a": %s}' % ("9" * 5000), r"f\.json: field 'a': number out of range; got '9+"),
        ("[9223372036854775808]", r"f\.json: field '\[0\]': number out of range; got '9223372036854775808'"),
        ('{"a":\n"\\ud800"}', r"f\.json: field 'a': half of a surrogate pair; got '\\ud800'"),
        ("[" * 100_000, "nested too deep"),
        ("{\n'a'}", r"f\.json:2: not JSON"),
    ],
)
def test_what_later_stages_could_not_hold_is_refused_with_its_place(text: str, message: str):
    with pytest.raises(BadInput, match=message):
        parse_json(text, FILE)


def test_an_element_is_checked_and_ends_where_it_ends():
    assert parse_element(' [1, {"a": 2}] , 3', 1, FILE, 1) == ([1, {"a": 2}], 14)
    with pytest.raises(BadInput, match=r"f\.json:4: field 'a': number out of range"):
        parse_element('{"a": NaN}, {}', 0, FILE, 4)
    with pytest.raises(json.JSONDecodeError):
        parse_element('{"a": 1', 0, FILE, 1)
    with pytest.raises(BadInput, match="nested too deep"):
        parse_element("[" * 100_000, 0, FILE, 1)


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_a_text_may_be_packed_and_begin_with_a_mark(pack, tmp_path: Path):
    path = tmp_path / "lines"
    path.write_bytes(pack("\ufeffé\nb\n".encode()))
    assert list(read_lines(path)) == [(1, "é\n"), (2, "b\n")]
    assert read_text(path) == "é\nb\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "another file stands in its place; got .*Git LFS.*git lfs pull"),
        (b"\n <!DOCTYPE HTML><html>404</html>", "another file stands in its place; got .*HTML"),
        (b"\xef\xbb\xbf<html>", "another file stands in its place; got .*HTML"),
        (b'<?xml version="1.0"?>\n<!-- a page --><html xmlns="x">', "another file stands in its place; got .*HTML"),
        ("q 0 d 1".encode("utf-16"), "another file stands in its place; got .*UTF-16"),
        (gzip.compress(b"text" * 999, mtime=0)[:40], "damaged gzip"),
        (gzip.compress(gzip.compress(b"text", mtime=0), mtime=0), "not UTF-8"),
        (lzma.compress(b"text"), "not UTF-8"),
        (b"PK\x03\x04\x14\x00", "a zip, as archives and spreadsheets are; expected text, or text packed by gzip"),
        *((data, "file:2: not UTF-8") for data in (b"a\n\xff", b"a\n\xed\xa0\x80", "a\né".encode("latin-1"))),
    ],
)  # fmt: skip
def test_what_stands_in_the_place_of_a_file_is_named(data: bytes, message: str, tmp_path: Path):
    (tmp_path / "file").write_bytes(data)
    for read in (read_text, lambda path: list(read_lines(path))):
        with pytest.raises(BadInput, match=message):
            read(tmp_path / "file")


def touched(folder):
    os.utime(folder / "in/a", ns=(1, 1))


def exchanged(folder):
    before = (folder / "in/a").stat()
    (folder / "b").write_text("1")
    (folder / "b").replace(folder / "in/a")
    os.utime(folder / "in/a", ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        touched,
        exchanged,
        lambda folder: (folder / "in/a").write_text("12"),
        lambda folder: (folder / "new").touch(),
        lambda folder: (folder / "in/a").unlink(),
        lambda folder: (folder / "in/a").rename(folder / "in/c"),
    ],
)
def test_every_change_of_a_file_below_a_folder_is_seen(tmp_path, change):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").write_text("1")
    before = signature_of(tmp_path)
    assert signature_of(tmp_path) == before
    change(tmp_path)
    assert signature_of(tmp_path) != before
