"""Which mutants there are, by cosmic-ray's operators, and a sample of them by a seed."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.python.tree import Function
from parso.tree import NodeOrLeaf

ROOMS = ("measures", "formats", "harness")

OF_IDENTITY = {
    f"ReplaceComparisonOperator_{one}" for one in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq")
}  # what these change depends on which equal values CPython keeps once
NEEDS_NAMES = {"VariableReplacer", "VariableInserter"}
PUNCTUATION = set("()[]{},:.;=@") | {"->", ":=", "..."}


@dataclass(frozen=True)
class Mutant:
    """One edit of a module.

    Attributes:
        module: its path in the tree.
        source: a digest of its text: another text has other mutants.
        operator: cosmic-ray's name.
        occurrence: which of the operator's places, from 0.
        line: of the place.
    """

    module: str
    source: str
    operator: str
    occurrence: int
    line: int

    @property
    def key(self) -> str:
        """Names it."""
        return f"{self.module} {self.source} {self.operator} {self.occurrence}"

    def apply(self, text: str) -> str:
        """The module with the edit; it may be no Python: where an operator takes punctuation for arithmetic.

        Raises:
            ValueError: the text is not the one that the mutant is of.
        """
        mutated = mutate_code(text, _operators()[self.operator](), self.occurrence)
        if digest(text) != self.source or mutated is None:
            raise ValueError(f"{self.module} is not what {self.operator} {self.occurrence} was drawn from")
        return str(mutated)


def digest(text: str) -> str:
    """Twelve digits of SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def mutants(module: str, text: str) -> dict[tuple[str, int, int], list[Mutant]]:
    """The mutants of a module by their site: the kind of operator, line and column.

    Left out: what stands in a string, f-strings too, or in a type annotation, dotted exceptions, and `OF_IDENTITY`.
    """
    found = dict[tuple[str, int, int], list[Mutant]]()
    nodes = [node for node in ast_nodes(get_ast(text)) if _may_change(node)]
    source = digest(text)
    for name, operator in _operators().items():
        for occurrence, (node, (line, column)) in enumerate(_places(operator(), nodes)):
            mutant = Mutant(module, source, name, occurrence, line)
            if _counts(node):
                found.setdefault((name.partition("_")[0], line, column), []).append(mutant)
    return found


def draw(root: Path, seed: int) -> list[Mutant]:
    """All sites in an order by chance, and at each one mutant by chance."""

    def lot(name: str) -> str:
        return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()

    drawn = []
    for file in (file for room in ROOMS for file in (root / "trivium" / room).rglob("*.py")):
        module, text = file.relative_to(root).as_posix(), file.read_text("utf-8")
        for site, there in mutants(module, text).items():
            chosen = min(there, key=lambda mutant: lot(mutant.key))
            drawn.append((lot(f"{module} {chosen.source} {site}"), chosen))
    return [mutant for _, mutant in sorted(drawn, key=lambda pair: pair[0])]


@cache
def _operators() -> dict[str, type[Operator]]:
    provider = OperatorProvider()
    return {name: provider[name] for name in provider if name not in OF_IDENTITY | NEEDS_NAMES}


def _places(operator: Operator, nodes: list[NodeOrLeaf]) -> Iterator[tuple[NodeOrLeaf, tuple[int, int]]]:
    """In cosmic-ray's order, by which it counts occurrences."""
    for node in nodes:
        for start, _ in operator.mutation_positions(node):
            yield node, start


def _may_change(node: NodeOrLeaf) -> bool:
    """Whether an operator might look at it: most leaves are names and brackets."""
    return node.type not in ("name", "newline", "string", "endmarker") and getattr(node, "value", "") not in PUNCTUATION


def _counts(node: NodeOrLeaf) -> bool:
    """Whether it is neither within a string nor within an annotation, nor an exception by a dotted name.

    cosmic-ray puts another exception in the place of a plain name alone.
    """
    if node.type == "except_clause" and "." in node.children[1].get_code():
        return False
    while (parent := node.parent) is not None:
        if parent.type.startswith("fstring") or parent.type == "tfpdef":
            return False
        if parent.type == "annassign" and node is parent.children[1]:
            return False
        if isinstance(parent, Function) and node is parent.annotation:
            return False
        node = parent
    return True
