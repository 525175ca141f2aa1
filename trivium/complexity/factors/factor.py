"""The base class of factors: yes/no questions about an example, where yes is expected to be harder (complexity.md §4).

A new factor is one module in `members/` with one class that derives from `Factor`, and one line in section
`complexity.factors` of params.yaml that names it and gives its parameters (`f7: {}`). Statistics,
partitions and the page follow from the table that stage `complexity-factors` writes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from trivium.complexity.factors.corpora import Corpora
from trivium.core.parameters import Parameters
from trivium.formats.framed_texts import Example

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Judged:
    """A factor's answers on all examples, in their order.

    `other` is what the other reading of the paper's words says, where it is asked for: a column `<name>_other` of the
    table, a δ below the factor's in Table 2, and no part of any other analysis.
    """

    says: Sequence[bool | None]  # yes (E_f, expected harder), no (Ē_f), or None (in neither set, counted)
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # values behind it, see `Factor.columns`
    metrics: Mapping[str, float] = field(default_factory=dict)  # the page shows `<name>_threshold`
    other: Sequence[bool | None] | None = None


class Factor(ABC):
    """A factor with its parameters."""

    name: ClassVar[str]  # of its module, of its line in params.yaml, and of its column
    description: ClassVar[str]  # what it asks, in a line
    settings: ClassVar[type[Parameters]] = Parameters  # model of its parameters, without any by default
    columns: ClassVar[Mapping[str, pa.DataType]] = {}  # types of the columns that it adds to the table
    # What it says, with the parameters of params.yaml, of the six examples of tests/complexity/factor_world.py.
    tiny: ClassVar[tuple[bool | None, ...]]
    other_label: ClassVar[str] = ""  # what a yes of its other reading says, for a factor that has two

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @property
    @abstractmethod
    def label(self) -> str:
        """The meaning of a yes in a few words, which may depend on the parameters."""

    @abstractmethod
    def judge(self, examples: Sequence[Example], corpora: Corpora) -> Judged:
        """Judge all examples; a threshold may be computed over them."""


def count_in_words(number: int, noun: str) -> str:
    """A number of things in words: `one arc`, `two arcs`, `12 arcs`."""
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"
