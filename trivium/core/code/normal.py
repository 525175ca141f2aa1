"""A module's syntax tree as a digest that comments, docstrings, line numbers and formatting leave alone.

`ast.dump` prints what a version of Python has: fields that a newer one adds would change every digest. Here a node is
its class and its fields by name; what is empty, None or only says how something was written is left out. The same
source has the same digest in Python 3.11 to 3.14.
"""

import ast
import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

_SPELLING = {"ctx", "kind", "type_comment", "type_ignores"}


def normal_form(tree: ast.Module) -> str:
    """SHA-256 of the tree's normal form, in hexadecimal."""
    return hashlib.sha256("".join(_words(tree)).encode()).hexdigest()


def is_text(statement: ast.AST) -> bool:
    """Whether a statement is nothing but a text: a docstring, or one that documents an attribute."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _words(node: Any) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        # `ascii` rather than `repr`: which characters are printable differs between versions.
        yield f"{type(node.value).__name__}:{node.value!a} "
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__} "
        for field in sorted(node._fields):
            value = getattr(node, field, None)
            if isinstance(node, ast.JoinedStr):
                value = _joined(node.values)
            elif isinstance(value, list):
                value = [item for item in value if not is_text(item)]
            if value is not None and value != [] and field not in _SPELLING:
                yield f"{field}="
                yield from _words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            yield from _words(item)
        yield "]"
    else:
        yield f"{node!a} "


def _joined(parts: Sequence[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string with neighbouring texts as one: versions of Python cut them differently."""
    joined: list[ast.expr] = []
    for is_constant, group in groupby(parts, lambda part: isinstance(part, ast.Constant)):
        if is_constant:
            text = "".join(str(part.value) for part in group if isinstance(part, ast.Constant))
            joined += [ast.Constant(text)] if text else []
        else:
            joined += group
    return joined
