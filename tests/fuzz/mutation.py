"""Cases: valid files with something nasty in them, and bytes that were never a file.

A case of JSON is changed as a tree (values replaced, removed, doubled, wrapped, keys renamed), any case as bytes
(flipped, cut, doubled, words replaced). What is put in are the values that readers stumble over. Everything is drawn
from a `Random`: hypothesis brings one whose draws it shrinks, `make fuzz` a plain one, which is five times as fast.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

Cases = Callable[[Random], bytes]

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


def arbitrary(rng: Random) -> bytes:
    """Bytes of no format, or text of none."""
    if rng.random() < 0.5:
        return bytes(rng.choices(range(256), k=rng.randint(0, 200)))
    text = "".join(chr(rng.randrange(0x80 << rng.choice((0, 0, 4, 9, 13)))) for _ in range(rng.randint(0, 100)))
    return text.encode("utf-8", "surrogatepass")


def mutated_bytes(rng: Random, valid: bytes) -> bytes:
    """A valid file with one to three places changed."""
    data = valid
    for _ in range(rng.randint(1, 3)):
        place = rng.randint(0, len(data))
        match rng.choice(("flip", "word", "word", "insert", "cut", "delete", "double")):
            case "flip":
                data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
            case "word":
                word = _WORD.search(data, place)
                if word is not None:
                    data = data[: word.start()] + rng.choice(WORDS) + data[word.end() :]
            case "insert":
                data = data[:place] + rng.choice(WORDS) + data[place:]
            case "cut":
                data = data[:place]
            case "delete":
                data = data[:place] + data[place + rng.randint(1, 50) :]
            case "double":
                data = data[:place] + data[place : place + rng.randint(1, 400)] + data[place:]
    return data


def mutated_tree(rng: Random, valid: Any) -> Any:
    """A valid value with one to three of its parts changed."""
    tree, paths = deepcopy([valid]), _paths(valid, (0,))
    for _ in range(rng.randint(1, 3)):
        *way, last = rng.choice(paths)
        try:
            parent: Any = tree
            for step in way:
                parent = parent[step]
            _change(rng, parent, last)
        except (KeyError, IndexError, TypeError):  # an earlier change took the place away
            continue
    return tree[0] if tree else None


def _change(rng: Random, parent: Any, last: Any) -> None:
    match rng.choice(("replace", "replace", "replace", "remove", "double", "wrap", "name", "rename")):
        case "replace":
            parent[last] = deepcopy(rng.choice(VALUES))
        case "remove":
            del parent[last]
        case "double" if isinstance(parent, list):
            parent.insert(last, parent[last])
        case "wrap":
            parent[last] = [parent[last]] if rng.random() < 0.5 else {"a": parent[last]}
        case "name" if isinstance(parent, dict):
            parent[rng.choice(("id", "", "a.b", "[0]", "\ud800", "x" * 300))] = parent[last]
        case "rename" if isinstance(parent, dict):
            parent[rng.choice(("id", "", "\udfff"))] = parent.pop(last)


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


def json_cases(valid: Any, dump: Callable[[Any, bool], bytes] = dump_json) -> Cases:
    """Cases of a format that is JSON; `dump_lines` for a list that stands one a line."""
    written = dump(valid, False)

    def draw(rng: Random) -> bytes:
        match rng.choice(("tree", "tree", "tree", "bytes", "arbitrary")):
            case "tree":
                return dump(mutated_tree(rng, valid), rng.random() < 0.5)
            case "bytes":
                return mutated_bytes(rng, written)
        return arbitrary(rng)

    return draw


def text_cases(valid: str | bytes) -> Cases:
    """Cases of any other format."""
    written = valid.encode() if isinstance(valid, str) else valid
    return lambda rng: mutated_bytes(rng, written) if rng.random() < 0.75 else arbitrary(rng)


def zip_cases(members: Mapping[str, bytes]) -> Cases:
    """An archive of which a member, its name or the archive itself is changed."""

    def draw(rng: Random) -> bytes:
        changed = dict(members)
        name = rng.choice(sorted(members))
        what = rng.choice(("member", "member", "member", "name", "archive"))
        if what == "member":
            changed[name] = mutated_bytes(rng, members[name])
        elif what == "name":
            changed[rng.choice(("../x", "/x", "a/b/c.txt", "é", "__MACOSX/x"))] = changed.pop(name)
        data = zip_bytes(changed, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)))
        return mutated_bytes(rng, data) if what == "archive" else data

    return draw


def zip_bytes(members: Mapping[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive in memory."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()
