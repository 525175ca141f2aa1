"""Bank of the grammar, read from the YAML files in `bank/`: frames with lexical units, their fillers, and words."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from trivium.core.parameters import read_beside


@dataclass(frozen=True)
class Unit:
    """A lexical unit.

    Attributes:
        gender: of a noun; "" for a verb.
        of: preposition of the theme ("" for a direct object; "de" after a noun).
        third: preposition of the third element.
        kinds: allowed kinds of its theme; empty: all those of the frame.
        carry: for a noun, the verb of carrying it out ("mener une attaque"); "" when there is none.
        alone: whether a noun cannot have an agent.
        undergone: whether a theme can be the object of a noun ("faire l'objet d'une attaque").
    """

    lemma: str
    gender: str
    weight: float
    of: str
    third: str
    kinds: tuple[str, ...]
    carry: str
    alone: bool
    undergone: bool

    @property
    def is_noun(self) -> bool:
        """Whether it is a noun; else it is a verb."""
        return bool(self.gender)


@dataclass(frozen=True)
class Frame:
    """A frame.

    Attributes:
        near: frames with the same value are too similar to occur in one text.
        elements: role → name of the frame element.
        kinds: role → kinds of its fillers; empty for an agent: all people of the domain.
        adaptation, evaluation: weights in the two corpora.
    """

    name: str
    near: str
    domains: tuple[str, ...]
    elements: dict[str, str]
    kinds: dict[str, tuple[str, ...]]
    adaptation: float
    evaluation: float
    units: tuple[Unit, ...]

    def units_of(self, *, noun: bool) -> list[Unit]:
        """Return its nouns or its verbs."""
        return [unit for unit in self.units if unit.is_noun == noun]

    def core_type(self, role: str) -> str:
        """Return FrameNet's core type of an element."""
        if role in ("agent", "theme", "third"):
            return "core"
        return "extra-thematic" if "cause" in self.kinds[role] else "peripheral"


def _unit(notation: str, *, noun: bool, third: str) -> Unit:
    lemma, *rest = notation.split()
    gender = rest.pop(0) if noun else ""
    options = {key: value for key, _, value in (word.partition("=") for word in rest[1:])}
    return Unit(
        lemma=lemma,
        gender=gender,
        weight=float(rest[0]),
        of=options.get("of", "de" if noun else ""),
        third=options.get("third", third),
        kinds=tuple(filter(None, options.get("kinds", "").split("+"))),
        carry=options.get("carry", ""),
        alone="alone" in options,
        undergone="active" not in options and options.get("of", "de") in ("de", "contre"),
    )


def _frame(name: str, entry: dict[str, Any]) -> Frame:
    roles = {role: value.split() for role, value in entry["roles"].items()}
    third = roles["third"].pop(1).strip("=") if "third" in roles else ""
    roles |= {role: [role.title(), role] for role in ("time", "place") if role not in entry.get("without", ())}
    units = [_unit(unit, noun=part == "nouns", third=third) for part in ("verbs", "nouns") for unit in entry[part]]
    return Frame(
        name=name,
        near=entry["near"],
        domains=tuple(entry["domains"]),
        elements={role: value[0] for role, value in roles.items()},
        kinds={role: tuple(value[1:]) for role, value in roles.items()},
        adaptation=entry["adaptation"],
        evaluation=entry["evaluation"],
        units=tuple(units),
    )


@cache
def frames() -> dict[str, Frame]:
    """Read all frames, by name."""
    return {name: _frame(name, entry) for name, entry in read("frames").items()}


@cache
def read(name: str) -> Any:
    """Read a YAML file of the bank."""
    return read_beside(__file__, "bank", f"{name}.yaml")
