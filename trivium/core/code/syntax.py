"""What one module's source says of the code and files that it uses, and the digest of its syntax tree.

The digest leaves out how something is written (comments, docstrings, line numbers) and what only shows something, which
this module declares for the whole project: the wording of errors, progress bars, tracking, printing. `ast.dump` prints
what a version of Python has; here a node is its class and its non-empty fields by name, so that the same source has the
same digest in Python 3.11 to 3.14.
"""

import ast
import builtins
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trivium.core.errors import BadInput

SHOWING = ("tqdm.", "mlflow.", "ray.", "trivium.core.code.", "trivium.core.errors.", "trivium.core.redaction.",
           "trivium.core.tracking.")  # fmt: skip
"""Packages and modules that only show, track, watch or distribute: neither they nor their versions count."""

_SHOWN_BY = {  # name of an object: its methods that only show, as in `context.tracker.log(…)`
    "bar": {"update"},
    "logging": {"disable_progress_bar", "info", "set_verbosity_error", "warning"},
    "progress": {"update"},
    "tracker": {"log", "send"},
}
# Errors whose texts are for readers. Others, such as `Unreadable("corrupt")`, may be counted or compared by theirs.
_ERRORS = {"BadInput"} | {name for name, value in vars(builtins).items()
                          if isinstance(value, type) and issubclass(value, BaseException)}  # fmt: skip
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_PURE = {"abs", "float", "int", "len", "max", "min", "repr", "round", "str", "sum", "item", "join", "mean"}
_ACTING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
_SPELLING = {"ctx", "kind", "type_comment", "type_ignores"}
_NAME = re.compile(r"\w[\w.\-]{0,99}(/\w[\w.\-]*)*", re.ASCII)  # of a module, a file or a folder
_FINDERS = {"import_module", "__import__", "find_spec"}
_DECLARED = ("FAMILY", "LAZY", "LOADS")


@dataclass(frozen=True)
class Facts:
    """What a module says; the same for the same source, wherever it lies.

    Attributes:
        form: digest of the syntax tree.
        imports: (module, name) for each name of every import statement; the name is empty for `import module`.
        texts: string constants that could name a module, a file or a folder.
        says_file: whether it says `__file__`.
        declared: the literals `FAMILY`, `LAZY` and `LOADS` (see `digest.py`), where it makes them.
    """

    form: str
    imports: set[tuple[str, str]]
    texts: set[str]
    says_file: bool
    declared: dict[str, Any]


def read_facts(source: bytes, path: str) -> Facts:
    """Read the facts of a module from its source.

    Raises:
        BadInput: not Python, or a declaration that is no literal.
    """
    try:
        tree = _WithoutShown().visit(ast.parse(source))
        declared = {name: ast.literal_eval(value) for name, value in _declarations(tree)}
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"cannot be read: {error}", file=path, row=getattr(error, "lineno", None)) from None
    words: list[str] = []
    _write_words(tree, words)
    imports: set[tuple[str, str]] = set()
    texts: set[str] = set()
    says_file = False
    for node in _executed(tree):
        if isinstance(node, ast.ImportFrom):
            imports |= {(node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imports |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.Call) and _last_name(node.func) in _FINDERS:
            imports |= {(str(name.value), "") for name in node.args[:1] if isinstance(name, ast.Constant)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value):
            texts.add(node.value)
        elif isinstance(node, ast.Name):
            says_file |= node.id == "__file__"
            texts |= {"templates"} if node.id == "PackageLoader" else set()
    form = hashlib.sha256("".join(words).encode()).hexdigest()
    return Facts(form, imports, texts, says_file, declared)


def is_showing(module: str) -> bool:
    """Whether a module only shows, tracks, watches or distributes what others make."""
    return f"{module}.".startswith(SHOWING)


class _WithoutShown(ast.NodeTransformer):
    """Takes docstrings and what is only shown out of a tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) or _only_shows(node.value) else self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return None if all(is_showing(alias.name) for alias in node.names) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if is_showing(node.module or "") else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        parts: list[ast.expr] = []
        for part in node.values:  # neighbouring texts are one: versions of Python cut them differently
            if parts and isinstance(part, ast.Constant) and isinstance(parts[-1], ast.Constant):
                parts[-1] = ast.Constant(str(parts[-1].value) + str(part.value))
            else:
                parts.append(part)
        node.values = [part for part in parts if not isinstance(part, ast.Constant) or part.value]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        _remove_told(node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _last_name(node.func) == "tqdm":
            node.keywords = []
            if node.args:  # `for item in tqdm(items, …)` is `for item in items`
                return self.visit(node.args[0])
        if _last_name(node.func) in _ERRORS:
            _remove_wording(node)
        return self.generic_visit(node)


def _only_shows(node: ast.expr) -> bool:
    """Whether a statement's expression prints, tracks or moves a progress bar, and does nothing else."""
    if not isinstance(node, ast.Call):
        return False
    shows = _last_name(node.func) == "print" and all(
        key.arg != "file" or _last_name(key.value) == "stderr" for key in node.keywords
    )
    if isinstance(node.func, ast.Attribute):
        shows = node.func.attr in _SHOWN_BY.get(_last_name(node.func.value), ())
    told = [inner for part in (*node.args, *node.keywords) for inner in ast.walk(part)]
    pure = all(_last_name(inner.func) in _PURE for inner in told if isinstance(inner, ast.Call))
    return shows and pure and not any(isinstance(inner, _ACTING) for inner in told)


def _remove_told(function: ast.FunctionDef) -> None:
    """Empty the texts of local names that nothing but errors tell, as in `problem = "…"; raise BadInput(problem)`."""
    nodes = list(ast.walk(function))
    errors = (node for node in nodes if isinstance(node, ast.Call) and _last_name(node.func) in _ERRORS)
    in_errors = {id(inner) for error in errors for inner in ast.walk(error)}
    used = [node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)]
    told = {name.id for name in used} - {name.id for name in used if id(name) not in in_errors}
    for node in nodes:
        if isinstance(node, _ASSIGNMENTS) and node.value is not None and told.issuperset(_targets(node)):
            _remove_wording(node.value)


def _remove_wording(node: ast.AST) -> None:
    """Empty the texts in an error's arguments; what is computed in them stays."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            inner.value = ""
        elif isinstance(inner, ast.JoinedStr):
            inner.values = [part for part in inner.values if isinstance(part, ast.FormattedValue)]


def _write_words(node: Any, words: list[str]) -> None:
    if isinstance(node, ast.Constant):
        # `ascii` rather than `repr`: which characters are printable differs between versions.
        words.append(f"{type(node.value).__name__}:{node.value!a} ")
    elif isinstance(node, ast.AST):
        words.append(f"({type(node).__name__} ")
        for name in sorted({*node._fields} - _SPELLING):
            value = getattr(node, name, None)
            if value is not None and value != []:
                words.append(f"{name}=")
                _write_words(value, words)
        words.append(")")
    elif isinstance(node, list):
        words.append("[")
        for item in node:
            _write_words(item, words)
        words.append("]")
    else:
        words.append(f"{node!a} ")


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but what stands under `if TYPE_CHECKING:`, and the table of a lazy `__init__`."""
    todo = [tree]
    while todo:
        for child in ast.iter_child_nodes(todo.pop()):
            is_for_types = isinstance(child, ast.If) and _last_name(child.test) == "TYPE_CHECKING"
            if not is_for_types and "LAZY" not in _targets(child):
                yield child
                todo.append(child)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _targets(statement: ast.AST) -> list[str]:
    """The names that an assignment binds; an empty one for anything else that it binds."""
    if not isinstance(statement, _ASSIGNMENTS):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [part.id if isinstance(part, ast.Name) else "" for part in parts]


def _declarations(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        if isinstance(statement, _ASSIGNMENTS) and statement.value is not None:
            yield from ((name, statement.value) for name in _targets(statement) if name in _DECLARED)
