"""Bank of kinds of entities, of wordings about them, and of the parts of names, read from `bank/*.yaml`."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from trivium.core.parameters import read_beside


@cache
def read(name: str) -> Any:
    """Read a YAML file of the bank."""
    return read_beside(__file__, "bank", f"{name}.yaml")


class Item(NamedTuple):
    """Wikidata item of a type or an occupation."""

    id: str
    label: str


@dataclass(frozen=True)
class Kind:
    """Kind of entities; `bank/kinds.yaml` explains the fields, and `fillers` are sentences without answers."""

    name: str
    share: int
    types: tuple[Item, ...]
    lead: list[str]
    images: dict[str, tuple[str, float]]
    fillers: list[str]
    group: str = ""
    labels: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    the: bool = False
    looks: tuple[str, ...] = ()
    asked: bool = True
    years: tuple[int, int] = (1650, 1880)
    ner: str = ""

    @property
    def is_person(self) -> bool:
        """Whether entities of this kind are human."""
        return self.group == "person"


@dataclass(frozen=True)
class Relation:
    """Relation that an article tells and a question asks for; `bank/persons.yaml` explains the wordings."""

    name: str
    of: tuple[str, ...]
    pool: str
    section: str
    article: list[str]
    question: list[str]
    trivia: list[str]
    inverse: list[str]
    clue: list[str]


@cache
def kinds() -> dict[str, Kind]:
    """Read all kinds, by name."""
    fillers = read("fillers")
    return {
        name: Kind(
            name=name,
            types=tuple(Item(*item) for item in entry["types"].items()),
            fillers=fillers.get(name, []) + fillers.get(entry.get("group"), []),
            **{key: value for key, value in entry.items() if key != "types"},
        )
        for name, entry in read("kinds").items()
        if "share" in entry
    }


@cache
def relations() -> dict[str, Relation]:
    """Read all relations, by name."""
    wordings = ("article", "question", "trivia", "inverse", "clue")
    return {
        name: Relation(name, **entry["is"], **{key: entry.get(key, "").splitlines() for key in wordings})
        for name, entry in {**read("persons"), **read("things")}.items()
    }


@cache
def relations_of(kind: str) -> list[Relation]:
    """Return the relations that entities of a kind may have."""
    return [relation for relation in relations().values() if {kind, kinds()[kind].group} & set(relation.of)]
