"""Strategies: valid files with something nasty in them, and bytes that were never a file.

A case of JSON is changed as a tree (values replaced, removed, doubled, wrapped, keys renamed), any case as bytes
(flipped, cut, doubled, words replaced). What is put in are the values that readers stumble over.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

# Written as they stand, in place of the text that names them: JSON that `json` itself would not write.
RAW = {
    "@digits@": "9" * 5000,
    "@huge@": "1e999",
    "@-huge@": "-1e999",
    "@nan@": "NaN",
    "@inf@": "-Infinity",
    "@lists@": "[" * 100_000,
    "@closed@": "[" * 960 + "]" * 960,
    "@closer@": "[" * 900 + "]" * 900,
    "@objects@": '{"a":' * 2000 + "1" + "}" * 2000,
    "@twice@": '{"id": 1, "id": 2}',
}
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**64), 10**400),
    *(0.0, -0.0, 0.5, 1e308, 5e-324, *RAW),
    *(
        "",
        " ",
        "\n",
        "\u2028",
        "\x00",
        "\ufeff",
        "\ud800",
        "a\udfffb",
        "e\u0301",
        "\u00b2",
        "\u0663",
        "\u202e",
        "x" * 5000,
    ),
    *("1", "-1", "1.5", "Q1", "train", "../x", "a b", "\x1c"),
    *([], {}, [[]], [None], [1, [2]], ["a"], {"": None}, {"\udc80": 1}, {"a": {"b": []}}, [{}], {"value": []}),
)
WORDS = (
    *(b"", b" ", b"\t", b"\n", b"\r", b"\n\n", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(
        b"0",
        b"-0",
        b"-1",
        b"1",
        b"2",
        b"+1",
        b"1_0",
        b"1.5",
        b"\xc2\xb2",
        b"\xd9\xa3",
        b"9" * 19,
        b"9" * 5000,
        b"1e999",
    ),
    *(b"nan", b"inf", b"-inf", b"Infinity", b"0x10", b"_", b"-", b"#", b"\\ud800", b"\\u0000", b'"', b"\\", b"[", b"{"),
    *(b"[" * 5000, b"<a>" * 5000, b"<", b">", b"&amp;", b"&x;", b"&#0;", b"&#xD800;", b"<![CDATA[", b"<!--", b"]]>"),
    *(b'<!DOCTYPE a [<!ENTITY x "y">]>', b'<?xml version="1.0" encoding="utf-16"?>', b'<?xml encoding="x"?>'),
    *(b"1:2", b"3:1", b"1-2", b"2-1", b"1.1", b"TokenRange=0:1", b"[/EN#", b"[/EN#1/ ]", b"x" * 5000),
)
_WORD = re.compile(rb"[^\s<>\"'=|,:{}\[\]]+")


def arbitrary() -> st.SearchStrategy[bytes]:
    """Bytes of no format, and text of none."""
    return st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass"))


@st.composite
def mutated_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid file with one to three places changed."""
    data = valid
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(("flip", "word", "word", "insert", "cut", "delete", "double"))):
            case "flip":
                data = data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]
            case "word":
                word = _WORD.search(data, place)
                if word is not None:
                    data = data[: word.start()] + draw(st.sampled_from(WORDS)) + data[word.end() :]
            case "insert":
                data = data[:place] + draw(st.sampled_from(WORDS)) + data[place:]
            case "cut":
                data = data[:place]
            case "delete":
                data = data[:place] + data[place + draw(st.integers(1, 50)) :]
            case "double":
                data = data[:place] + data[place : place + draw(st.integers(1, 400))] + data[place:]
    return data


@st.composite
def mutated_tree(draw: st.DrawFn, valid: Any, dump: Callable[[Any, bool], bytes]) -> bytes:
    """A valid value with one to three of its parts changed."""
    tree, paths = json.loads(json.dumps([valid])), _paths(valid, (0,))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(paths))
        try:
            parent = tree
            for step in way:
                parent = parent[step]
            _change(draw, parent, last)
        except (KeyError, IndexError, TypeError):  # an earlier change took the place away
            continue
    return dump(tree[0] if tree else None, draw(st.booleans()))


def _change(draw: st.DrawFn, parent: Any, last: Any) -> None:
    match draw(st.sampled_from(("replace", "replace", "replace", "remove", "double", "wrap", "name", "rename"))):
        case "replace":
            parent[last] = deepcopy(draw(st.sampled_from(VALUES)))
        case "remove":
            del parent[last]
        case "double" if isinstance(parent, list):
            parent.insert(last, parent[last])
        case "wrap":
            parent[last] = [parent[last]] if draw(st.booleans()) else {"a": parent[last]}
        case "name" if isinstance(parent, dict):
            parent[draw(st.sampled_from(("id", "", "a.b", "[0]", "\ud800", "x" * 300)))] = parent[last]
        case "rename" if isinstance(parent, dict):
            parent[draw(st.sampled_from(("id", "", "\udfff")))] = parent.pop(last)


def _paths(value: Any, at: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    found = [at]
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        found += _paths(part, (*at, step))
    return found


def dump_json(value: Any, ascii_only: bool) -> bytes:
    """One JSON value a file; lone surrogates as escapes, or as bytes that are no UTF-8."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    for name, raw in RAW.items():
        text = text.replace(f'"{name}"', raw)
    return text.encode("utf-8", "surrogatepass")


def dump_lines(value: Any, ascii_only: bool) -> bytes:
    """One JSON value a line."""
    rows = value if isinstance(value, list) else [value]
    return b"".join(dump_json(row, ascii_only) + b"\n" for row in rows)


def json_cases(valid: Any, dump: Callable[[Any, bool], bytes] = dump_json) -> st.SearchStrategy[bytes]:
    """Cases of a format that is JSON; `dump_lines` for a list that stands one a line."""
    trees = mutated_tree(valid, dump)
    return st.one_of(trees, trees, trees, mutated_bytes(dump(valid, False)), arbitrary())


def text_cases(valid: str | bytes) -> st.SearchStrategy[bytes]:
    """Cases of any other format."""
    changed = mutated_bytes(valid.encode() if isinstance(valid, str) else valid)
    return st.one_of(changed, changed, changed, arbitrary())


@st.composite
def zip_cases(draw: st.DrawFn, members: Mapping[str, bytes]) -> bytes:
    """An archive of which a member, its name or the archive itself is changed."""
    changed = dict(members)
    name = draw(st.sampled_from(sorted(members)))
    what = draw(st.sampled_from(("member", "member", "member", "name", "archive")))
    if what == "member":
        changed[name] = draw(mutated_bytes(members[name]))
    elif what == "name":
        changed[draw(st.sampled_from(("../x", "/x", "a/b/c.txt", "é", "__MACOSX/x")))] = changed.pop(name)
    data = zip_bytes(changed, draw(st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))))
    return draw(mutated_bytes(data)) if what == "archive" else data


def zip_bytes(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive in memory."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
