"""What one module's source says of the code and files that it uses, read without importing it."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from trivium.core.code.normal import is_text, normal_form
from trivium.core.errors import BadInput

_NAME = re.compile(r"\w[\w.\-]*(/\w[\w.\-]*)*", re.ASCII)  # of a module, a file or a folder
_LONGEST = 100
_IMPORTERS = {"import_module", "__import__", "run_module"}
_FINDERS = {*_IMPORTERS, "find_spec"}  # what is found may be read without an import
_DECLARED: dict[str, type] = {"APART": str, "FAMILY": str, "LAZY": dict, "LOADS": dict}


@dataclass(frozen=True)
class Facts:
    """What a module says; the same for the same source, wherever it lies.

    Attributes:
        form: digest of the syntax tree's normal form.
        imports: (level, module, names) of every import statement, and of what else is imported or run by a name; names
            are empty for `import module`.
        texts: string constants that could name a module, a file or a folder.
        computed: line where a module is first imported by a computed name, 0: there is none.
        says_file: whether it says `__file__`.
        apart, family, lazy, loads: the declarations `APART`, `FAMILY`, `LAZY` and `LOADS` (see `closure.py`), where it
            makes them.
    """

    form: str
    imports: list[tuple[int, str, list[str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    computed: int = 0
    says_file: bool = False
    apart: str = ""
    family: str = ""
    lazy: dict[str, str] = field(default_factory=dict)
    loads: dict[str, str] = field(default_factory=dict)


def read_facts(source: bytes, path: str) -> Facts:
    """The facts of a module's source.

    Raises:
        BadInput: not Python, or a declaration that is no literal of its type.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"not Python: {error}", file=path, row=getattr(error, "lineno", None)) from None
    declared = {name: _literal(name, node, path) for name, node in _declarations(tree)}
    nodes = list(_executed(tree))
    imports = [found for node in nodes for found in _imports(node)]
    return Facts(
        form=normal_form(tree),
        imports=[(level, module, list(names)) for level, module, names in sorted(set(imports))],
        texts=sorted({text for node in nodes for text in _texts(node) if _could_name(text)}),
        computed=min(_computed(nodes), default=0),
        says_file=any(isinstance(node, ast.Name) and node.id == "__file__" for node in nodes),
        apart=declared.get("APART", ""),
        family=declared.get("FAMILY", ""),
        lazy=declared.get("LAZY", {}),
        loads=declared.get("LOADS", {}),
    )


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but docstrings, what stands under `if TYPE_CHECKING:`, and the table of a lazy `__init__`."""
    for child in ast.iter_child_nodes(node):
        if is_text(child) or "LAZY" in _targets(child):
            continue
        if isinstance(child, ast.If) and _type_checking(child.test):
            for other in child.orelse:
                yield other
                yield from _executed(other)
            continue
        yield child
        yield from _executed(child)


def _type_checking(test: ast.expr) -> bool:
    return _last_name(test) == "TYPE_CHECKING"


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _imports(node: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield 0, alias.name, ()
    elif isinstance(node, ast.ImportFrom):
        yield node.level, node.module or "", tuple(alias.name for alias in node.names)
    elif isinstance(node, ast.Call) and (text := _told(node)):
        yield 0, text, ()
    elif isinstance(node, ast.List | ast.Tuple):
        for option, module in pairwise(node.elts):
            if isinstance(module, ast.Constant) and isinstance(option, ast.Constant) and option.value == "-m":
                yield 0, str(module.value), ("__main__",)


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Call) and _last_name(node.func) == "PackageLoader":
        yield "templates"  # Jinja's default


def _could_name(text: str) -> bool:
    return len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def _told(call: ast.Call) -> str:
    """The module that a call finds or imports, where it is told by a constant, and not seen from another module."""
    name = call.args[0] if _last_name(call.func) in _FINDERS and call.args else None
    told = name.value if isinstance(name, ast.Constant) else None
    return told if isinstance(told, str) and not told.startswith(".") else ""


def _computed(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """Lines that hand on, rename or call what imports, but for calls that tell the module."""
    telling = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _told(node)}
    for node in nodes:
        if isinstance(node, ast.alias):
            if node.asname and node.name in _IMPORTERS:
                yield node.lineno
        elif isinstance(node, ast.expr) and _last_name(node) in _IMPORTERS and id(node) not in telling:
            yield node.lineno


def _targets(statement: ast.AST) -> list[str]:
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _declarations(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            yield from ((name, statement.value) for name in _targets(statement) if name in _DECLARED)


def _literal(name: str, node: ast.expr, path: str) -> Any:
    """The value of a declaration: a text, or a mapping of texts to texts."""
    expected = _DECLARED[name]
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, expected) or (
        isinstance(value, dict) and not all(isinstance(text, str) for pair in value.items() for text in pair)
    ):
        described = "a text" if expected is str else "a mapping of texts to texts"
        raise BadInput(
            f"{name} is read without importing", file=path, row=node.lineno, expected=f"{described}, literally"
        )
    return value
