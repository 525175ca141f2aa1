"""Every test that docs/threats.md names is there."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path("docs/threats.md")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def named() -> list[tuple[str, str]]:
    return sorted(set(NAMED.findall(PAGE.read_text("utf-8"))))


@pytest.mark.parametrize(("file", "name"), named())
def test_a_test_that_is_named_is_there(file, name):
    assert name in {
        node.name for node in ast.parse(Path(file).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    }


def test_every_promise_names_its_test():
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    promises = [row for row in rows if not row.startswith(("| we promise", "|---"))]
    assert len(promises) > 15
    assert [row for row in promises if not NAMED.search(row.split("|")[2])] == []
