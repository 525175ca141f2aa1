"""What one module's source says of the code and files that it uses, and the digest of its syntax tree.

The digest leaves out how something is written (comments, docstrings, line numbers), what type checkers alone read, and
what only shows something, which this module declares for the whole project: the wording of errors, progress bars,
tracking, printing. A node is its class and its non-empty fields by name: the same in Python 3.11 to 3.14.
"""

import ast
import builtins
import hashlib
import re
from typing import Any, NamedTuple

from trivium.core.errors import BadInput

SHOWING = ("tqdm.", "mlflow.", "ray.", "trivium.core.code.", "trivium.core.errors.", "trivium.core.tracking.")
"""Packages and modules that only show, track, watch or distribute: neither they nor their versions count."""

# Calls that only show, by their last two names, as in `context.tracker.log(…)`.
_SHOWN = {"print", "bar.update", "progress.update", "tracker.log", "logging.disable_progress_bar",
          "logging.set_verbosity_error"}  # fmt: skip
# Errors whose texts are for readers. Others, such as `Unreadable("corrupt")`, may be counted or compared by theirs.
_ERRORS = {"BadInput"} | {name for name, value in vars(builtins).items()
                          if isinstance(value, type) and issubclass(value, BaseException)}  # fmt: skip
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_PURE = {"abs", "float", "int", "len", "max", "min", "repr", "round", "str", "sum", "item", "join", "mean"}
_ACTING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)
_SPELLING = {"ctx", "kind", "type_comment", "type_ignores"}
_NAME = re.compile(r"\w[\w.\-]{0,99}(/\w[\w.\-]*)*", re.ASCII)  # of a module, a file or a folder
_DECLARED = {"FAMILY", "LAZY", "LOADS"}


class Facts(NamedTuple):
    """What a module says; the same for the same source, wherever it lies."""

    form: str  # digest of the syntax tree
    imports: set[tuple[str, str]]  # (module, name) for each name of every import statement; "" for `import module`
    texts: set[str]  # string constants that could name a module, a file or a folder; "__file__" where it says that
    declared: dict[str, Any]  # the literals `FAMILY`, `LAZY` and `LOADS` (see `digest.py`), where it makes them


def read_facts(source: bytes, path: str) -> Facts:
    """Read the facts of a module; `BadInput` where it is not Python, or a declaration is no literal."""
    declared: dict[str, Any] = {}
    try:
        tree = _WithoutShown().visit(ast.parse(source))
        for statement in tree.body:
            if isinstance(statement, _ASSIGNMENTS) and statement.value is not None:
                declared |= {name: ast.literal_eval(statement.value) for name in _bound(statement) & _DECLARED}
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"cannot be read: {error}", file=path, row=getattr(error, "lineno", None)) from None
    imports: set[tuple[str, str]] = set()
    texts: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imports |= {(node.module or "", alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            imports |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("find_spec", "import_module"):
            imports |= {(str(name.value), "") for name in node.args if isinstance(name, ast.Constant)}
        elif isinstance(node, ast.Constant | ast.Name):
            text = node.value if isinstance(node, ast.Constant) else node.id if node.id == "__file__" else None
            texts |= {text} if isinstance(text, str) and _NAME.fullmatch(text) else set()
    form, lazy = hashlib.sha256(_form(tree).encode()).hexdigest(), declared.get("LAZY", {})
    return Facts(form, imports, texts.difference(lazy, lazy.values()), declared)


def is_showing(module: str) -> bool:
    """Whether a module only shows, tracks, watches or distributes what others make."""
    return f"{module}.".startswith(SHOWING)


class _WithoutShown(ast.NodeTransformer):
    """Takes docstrings, what is only shown, and what only type checkers read out of a tree."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Remove docstrings, and calls that print, track or move a progress bar, and do nothing else."""
        call = node.value
        if not isinstance(call, ast.Call):
            return None if isinstance(call, ast.Constant) else self.generic_visit(node)
        name = ".".join(ast.unparse(call.func).split(".")[-2:])
        files = [key for key in call.keywords if key.arg == "file" and _last_name(key.value) != "stderr"]
        inside = [inner for part in (*call.args, *call.keywords) for inner in ast.walk(part)]
        pure = all(_last_name(inner.func) in _PURE for inner in inside if isinstance(inner, ast.Call))
        only = name in _SHOWN and not files and pure and not any(isinstance(inner, _ACTING) for inner in inside)
        return None if only else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        return node.orelse if _last_name(node.test) == "TYPE_CHECKING" else node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return None if all(is_showing(alias.name) for alias in node.names) else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if is_showing(node.module or "") else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """One text, with `{}` for each value: versions of Python cut the texts between values differently."""
        texts = [str(part.value).replace("{", "{{") if isinstance(part, ast.Constant) else "{}" for part in node.values]
        values = [part for part in node.values if not isinstance(part, ast.Constant)]
        node.values = [ast.Constant("".join(texts)), *values]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Empty the texts of local names that only errors tell, as in `problem = "…"; raise BadInput(problem)`."""
        nodes = list(ast.walk(node))
        errors = (inner for inner in nodes if isinstance(inner, ast.Call) and _last_name(inner.func) in _ERRORS)
        in_errors = {id(inner) for error in errors for inner in ast.walk(error)}
        names = [inner for inner in nodes if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store)]
        wording = {name.id for name in names} - {name.id for name in names if id(name) not in in_errors}
        for statement in nodes:
            if isinstance(statement, _ASSIGNMENTS) and statement.value is not None and _bound(statement) <= wording:
                _remove_wording(statement.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = _last_name(node.func)
        if name == "tqdm":
            if node.args:  # `for item in tqdm(items, …)` is `for item in items`
                return self.visit(node.args[0])
            node.keywords = []
        if name in _ERRORS:
            _remove_wording(node)
        return self.generic_visit(node)


def _remove_wording(node: ast.AST) -> None:
    """Empty the texts in an error's arguments; what is computed in them stays."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            inner.value = ""
        elif isinstance(inner, ast.JoinedStr):
            inner.values = [part for part in inner.values if isinstance(part, ast.FormattedValue)]


def _form(node: Any) -> str:
    """A tree as text, in ASCII: which characters are printable differs between versions."""
    if isinstance(node, ast.AST):
        fields = [(name, getattr(node, name, None)) for name in node._fields if name not in _SPELLING]
        shown = [f"{name}={_form(value)}" for name, value in fields if value is not None and value != []]
        return f"({type(node).__name__} {' '.join(shown)})"
    return f"[{' '.join(map(_form, node))}]" if isinstance(node, list) else f"{type(node).__name__}:{node!a}"


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _bound(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The names that an assignment binds; an empty one for anything else that it binds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return {part.id if isinstance(part, ast.Name) else "" for part in parts}
