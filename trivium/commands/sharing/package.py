"""An output of the graph as it leaves: its files beside a card, for a folder or a repository of the hub.

A kind of output is a module of `kinds/` with one subclass of `Kind`. It says which outputs it is of, by a pattern of
their paths, and describes one: files, code that loads them, and what they started from. The card is made of this and
of what `dvc.lock` says (`lineage.py`).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from trivium.commands.sharing.licence import Start
from trivium.commands.sharing.lineage import Lineage, outputs_of, read_lock
from trivium.core.errors import BadInput
from trivium.core.registry import Registry
from trivium.nets.cards import CARD

FAMILY = "trivium.commands.sharing.kinds"
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")


@dataclass(frozen=True)
class Target:
    """Where something goes.

    Attributes:
        name: of a folder, or OWNER/NAME of a repository.
        hub: whether it is the latter.
    """

    name: str
    hub: bool

    def __post_init__(self) -> None:
        if self.hub and not _REPOSITORY.fullmatch(self.name):
            raise BadInput("not a repository's name", field="--hub", got=self.name, expected="OWNER/NAME")


@dataclass(frozen=True)
class Artifact:
    """An output that leaves.

    Attributes:
        project: the repository of the graph.
        path: of the output there.
        lineage: what it was made from.
        target: where it goes.
        work: a folder for files that have to be made; they are gone when it has left.
    """

    project: Path
    path: str
    lineage: Lineage
    target: Target
    work: Path

    @property
    def source(self) -> Path:
        """The output."""
        return self.project / self.path

    def files(self, *left_out: str) -> dict[str, Path]:
        """{path in the output: file}, but for these and its card."""
        found = sorted(path for path in self.source.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.source)): path for path in found}
        return {name: path for name, path in named.items() if name not in {CARD, *left_out}}


@dataclass(frozen=True)
class Described:
    """What a kind says of an output.

    Attributes:
        title: of the card.
        about: what it is, in sentences.
        usage: Python that loads and uses it, as it stands in the card; it names the target.
        files: {path there: what it is}.
        start: the weights that a model started from; None where it started from none.
        library: of the hub's list that loads it.
        task: the hub's name of what it does.
        language: of its texts.
        tags: for search.
        measures: pattern of the measures of the stage that the card shows, all of it.
        further: {measure: value} of other stages.
        notes: what a reader has to know besides.
        front: further fields of the card's front matter.
    """

    title: str
    about: str
    usage: str
    files: Mapping[str, Path | bytes]
    start: Start | None
    library: str
    task: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = ()
    measures: str = r"validation_(?:mrr|em|f1|rouge_l|r@1|text_r@1|auc|accuracy)"
    further: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    front: Mapping[str, object] | None = None


class Kind(ABC):
    """One kind of outputs.

    Attributes:
        name: of its module.
        kind: what the hub calls it.
        pattern: of its paths in the project; `*` is one part.
    """

    name: ClassVar[str]
    kind: ClassVar[Literal["model", "dataset"]]
    pattern: ClassVar[str]

    @staticmethod
    @abstractmethod
    def describe(artifact: Artifact) -> Described:
        """See `Described`.

        Raises:
            BadInput: it cannot be shared; the message says why.
        """


KINDS: Registry[Kind] = Registry(FAMILY, "kind of output", "kind")


@dataclass(frozen=True)
class Package:
    """What leaves.

    Attributes:
        kind: what the hub calls it.
        files: {path there: a file, or bytes}, the card included.
    """

    kind: Literal["model", "dataset"]
    files: Mapping[str, Path | bytes]

    @property
    def card(self) -> str:
        """Its text."""
        card = self.files[CARD]
        assert isinstance(card, bytes)
        return card.decode()

    def sizes(self) -> dict[str, int]:
        """{path there: bytes}."""
        return {
            name: len(each) if isinstance(each, bytes) else each.stat().st_size
            for name, each in sorted(self.files.items())
        }


def kind_of(path: str) -> type[Kind] | None:
    """The kind of an output; None where it does not leave."""
    return next((each for each in KINDS.values() if _matches(path, each.pattern)), None)


def shareable(project: Path) -> dict[str, type[Kind]]:
    """{path: kind} of all that was made and can leave.

    Raises:
        BadInput: see `read_lock`.
    """
    found = {path: kind_of(path) for path in sorted(outputs_of(read_lock(project)))}
    return {path: kind for path, kind in found.items() if kind is not None and (project / path).exists()}


def _matches(path: str, pattern: str) -> bool:
    return len(PurePosixPath(path).parts) == pattern.count("/") + 1 and PurePosixPath(path).match(pattern)
