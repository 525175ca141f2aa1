"""Every test that docs/threats.md names is there."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path("docs/threats.md")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def named() -> list[tuple[str, str]]:
    return sorted(set(NAMED.findall(PAGE.read_text("utf-8"))))


def functions_of(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse(Path(file).read_text("utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def is_slow(file: str, name: str) -> bool:
    """Whether `make test` leaves it out."""
    return any(ast.unparse(each) == "pytest.mark.slow" for each in functions_of(file)[name].decorator_list)


def promises() -> list[str]:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    return [row for row in rows if not row.startswith(("| we promise", "|---"))]


@pytest.mark.parametrize(("file", "name"), named())
def test_a_test_that_is_named_is_there(file, name):
    assert name in functions_of(file)


def test_every_promise_names_its_test():
    assert len(promises()) > 15
    assert [row for row in promises() if not NAMED.search(row.split("|")[2])] == []


def test_a_promise_says_which_of_its_tests_are_slow():
    slow = {test for test in named() if is_slow(*test)}
    said = re.compile(NAMED.pattern + r" \(slow: `make test-all`\)")
    assert set(said.findall(PAGE.read_text("utf-8"))) == slow
