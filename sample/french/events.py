"""What happens: a frame with a lexical unit and what fills its elements, before it is put into words."""

from dataclasses import dataclass

from sample.french.bank import Frame, Unit
from sample.french.phrases import adposition, phrase, the
from sample.french.tree import Node

PEOPLE = ("person", "band", "army", "workers")
_ONCE_INDEFINITE = ("object", "document", "text", "building", "art", "component", "tool")
_LOCATED = ("site", "hideout")


@dataclass(frozen=True)
class Filler:
    """Something that can fill an element.

    Attributes:
        kind: key of fillers.yaml.
        notation: the phrase, in the bank's notation, without its determiner.
        determiner: "le", "un" or "".
        other: another wording of the same, with its determiner ("" when there is none): questions may use it.
        names: the names in it; two elements of an event never share one.
    """

    kind: str
    notation: str
    determiner: str = ""
    other: str = ""
    names: frozenset[str] = frozenset()

    @property
    def is_people(self) -> bool:
        """Whether one asks for it with "qui"."""
        return self.kind in PEOPLE

    @property
    def is_located(self) -> bool:
        """Whether it is a place of its own accord: its preposition is part of it."""
        return self.kind in _LOCATED

    def tree(self, *, again: bool = False, other: bool = False) -> Node:
        """Its phrase; `again` when it is known already (the vase), `other` for the other wording."""
        if other and self.other:
            return phrase(self.other)
        node = phrase(self.notation)
        if self.determiner:
            known = again and self.kind in _ONCE_INDEFINITE
            node.open("det", the("le" if known else self.determiner, node))
        return node


@dataclass(frozen=True)
class Event:
    """A frame instance that is to be told; `fillers` by role."""

    frame: Frame
    unit: Unit
    fillers: dict[str, Filler]

    def only(self, roles: set[str], unit: Unit | None = None) -> "Event":
        """The same event with some of its elements, perhaps by another word."""
        kept = {role: filler for role, filler in self.fillers.items() if role in roles}
        return Event(self.frame, unit or self.unit, kept)


@dataclass(frozen=True)
class Wording:
    """How phrases are worded: `seen` has been mentioned before; `other` wordings and markers of purpose as given."""

    seen: frozenset[Filler] = frozenset()
    other: frozenset[Filler] = frozenset()
    marker: str = "pour"

    def tree(self, filler: Filler) -> Node:
        """The phrase of a filler."""
        return filler.tree(again=filler in self.seen, other=filler in self.other)

    def adjunct(self, role: str, filler: Filler, *, noun: bool) -> tuple[str, Node]:
        """Time, place or reason with its relation to a verb or a noun."""
        if role == "reason" and filler.kind == "purpose":
            marker = "en_vue_de" if noun and self.marker == "pour" else self.marker
            return ("acl" if noun else "advcl"), self.tree(filler).open("mark", adposition(marker))
        return ("nmod" if noun else "obl:mod"), self.tree(filler)


@dataclass(frozen=True)
class Telling:
    """A tree that tells an event: its root, the trigger, and the head of every element by role."""

    root: Node
    trigger: Node
    elements: dict[str, Node]

    def arcs(self, role: str) -> int:
        """Arcs between the trigger and the head of an element."""
        above = {node: head for node, _, head in self.root.walk()}

        def path(node: Node | None) -> list[Node]:
            return [] if node is None else [node, *path(above[node])]

        first, second = path(self.trigger), path(self.elements[role])
        shared = next(place for place, node in enumerate(first) if node in second)
        return shared + second.index(first[shared])
