"""Interface of re-rankers of passages, and their registry (kvqae.md §4).

A re-ranker is a module of `members/` with one subclass of `Reranker`. Its name is the module's; an entry of that name
in `kvqae.rerankers` puts it to use, and its runs and rows have this name. Re-rankers of images are fused with each
other, then with those of text (`fusion.py`). Member modules are fast to import: they import networks in functions.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from trivium.core.engine import Engine
from trivium.core.parameters import Parameters, validate
from trivium.core.registry import Registry
from trivium.formats.questions import Question
from trivium.measures.runs import Run

FAMILY = "trivium.kvqae.rerankers.members"
SECTION = "kvqae.rerankers"  # of params.yaml: those in use, in the order of the tables
SPLITS = ("validation", "test")  # that are re-ranked


class RerankerSettings(Parameters):
    """An entry of `kvqae.rerankers`."""

    reads: tuple[Path, Path] = Field(description="Outputs of two stages that it reads; the graph waits for them")
    depth: int = Field(ge=1, description="Best passages of the initial run that are re-ranked")


@dataclass(frozen=True)
class Inputs:
    """Inputs of all re-rankers besides their settings; images are in shards."""

    question_images: Path
    kb: Path
    max_tokens: int
    batch: int
    engine: Engine


class Reranker(ABC):
    """A way to reorder the best passages of a run.

    Attributes:
        name: name of the module, of its entry in `kvqae.rerankers`, of its runs and rows.
        label, row, symbol: its name in sentences and in tables, and its symbol in other rows' formulae.
        sees: whether it compares texts, faces, or whole pictures.
        fused: whether fusions use its lists.
        Settings: model of its entry.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    row: ClassVar[str]
    symbol: ClassVar[str]
    sees: ClassVar[Literal["text", "face", "whole"]]
    fused: ClassVar[bool] = True
    Settings: ClassVar[type[RerankerSettings]] = RerankerSettings

    @abstractmethod
    def __init__(self, settings: Any, inputs: Inputs) -> None: ...

    @abstractmethod
    def rerank(self, split: str, questions: Sequence[Question], initial: Run) -> tuple[Run, dict[str, float]]:
        """Re-rank the initial run of a split's questions; returns the new run, and counts.

        Questions and passages that it cannot score are left out; fusions fill them up.
        """


RERANKERS: Registry[Reranker] = Registry(FAMILY, "re-ranker", SECTION)

# `kvqae.rerankers` for stages that need only names and order of the re-rankers in use.
Rerankers = Annotated[
    dict[Annotated[str, AfterValidator(RERANKERS.check)], dict[str, Any]],
    Field(description="Re-rankers in use, in the tables' order"),
]


def reranker_settings(name: str, values: Mapping[str, Any]) -> Any:
    """Check a re-ranker's entry in `kvqae.rerankers`; see `validate`."""
    return validate(RERANKERS[name].Settings, dict(values), f"{SECTION}.{name}", Path("params.yaml"))


def select_by_input(names: Iterable[str], *what: str) -> tuple[str, ...]:
    """Select, in their order, the re-rankers that compare any of `what`: text, face, whole."""
    return tuple(name for name in names if RERANKERS[name].sees in what)
