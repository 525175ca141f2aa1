"""Which tests are about a module: those that import it, the mirrored ones first."""

import ast
from functools import cache
from pathlib import Path

OURS = ("trivium", "stages", "sample", "tests")
APART = ("end_to_end", "fuzz", "kill", "mutation")
"""Folders of tests that build whole graphs or draw many cases, and this one."""


@cache
def _imported(file: Path) -> frozenset[str]:
    """The names of all modules that a file imports, and of what it takes from them."""
    names = set[str]()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


@cache
def _name(root: Path, file: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


@cache
def _users(root: Path, module: str) -> frozenset[str]:
    """The modules that import one."""
    files = [file for place in OURS for file in (root / place).rglob("*.py")]
    return frozenset(_name(root, file) for file in files if module in _imported(file))


def nearest(root: Path, module: str) -> tuple[list[Path], list[Path]]:
    """Files of tests in the order in which they are asked.

    Args:
        root: of the tree.
        module: its path in the tree.

    Returns:
        First those of the module's own room that import it, the one of its name before all; where there are none, those of the room that import what
        imports it, then the same of all rooms. Second what is left of these, but for those that are far in both ways.
    """
    name = _name(root, root / module)
    room, mirrored = root / "tests" / Path(module).parts[1], f"test_{Path(module).stem}.py"
    ranks: list[list[Path]] = [[], [], [], []]
    for file in sorted((root / "tests").rglob("test_*.py"), key=lambda file: (file.name != mirrored, file)):
        if file.relative_to(root / "tests").parts[0] in APART:
            continue
        imported = _imported(file)
        steps = 0 if name in imported else 1 if imported & _users(root, name) else None
        if steps is not None:
            ranks[steps + 2 * (room not in file.parents)].append(file)
    first = next((number for number, files in enumerate(ranks) if files), None)
    if first is None:
        return [], []
    return ranks[first], [file for number in range(first + 1, 3) for file in ranks[number]]
