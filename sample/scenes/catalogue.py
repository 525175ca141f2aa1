"""Catalogue of the scenes, read from `bank/kinds.yaml`: kinds of objects, which ride on which, and planted pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from trivium.core.parameters import read_beside

_READ: dict[str, Any] = read_beside(__file__, "bank/kinds.yaml")


@dataclass(frozen=True)
class Look:
    """One way of drawing a kind.

    Attributes:
        nouns: nouns for it, `singular/plural`.
        drawing: its parts from back to front, as `bank/kinds.yaml` describes them.
        garment: noun for a person's clothes.
    """

    nouns: Sequence[str]
    drawing: Sequence[Any]
    garment: str = ""


@dataclass(frozen=True)
class Kind:
    """Kind of object.

    Attributes:
        name: COCO's name of the class.
        looks: ways of drawing it.
        verbs: keys of `VERBS` that captions may use of it.
        colours: the usual colour first; empty where captions name none.
        type: its type in Flickr30k Entities.
        scale: size relative to the other kinds.
    """

    name: str
    looks: Sequence[Look]
    verbs: Sequence[str]
    colours: Sequence[str] = ()
    type: str = "other"
    scale: float = 1.0


class Mount(NamedTuple):
    """Kinds of which one rides on the other: where its foot is on the carrier, its relative size, and the verb."""

    rider: str
    carrier: str
    foot: float
    scale: float
    verb: Sequence[str]


@dataclass(frozen=True)
class Cast:
    """Kinds of a data set: planted pairs with two sides, of which one kind each is drawn, and independent kinds."""

    pairs: Sequence[Sequence[Sequence[str]]]
    free: Sequence[str]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All its kinds."""
        return (*(name for pair in self.pairs for side in pair for name in side), *self.free)


def _read_kind(name: str, entry: dict[str, Any]) -> Kind:
    of_look = {key: entry.pop(key) for key in ("nouns", "drawing") if key in entry}
    looks = [Look(**look) for look in entry.pop("looks", [of_look])]
    return Kind(name, looks, **entry)


VERBS: dict[str, Sequence[str]] = _READ["verbs"]  # third person, plural, participle
COLOURS, PAINTS = (
    {name: (red, green, blue) for name, (red, green, blue) in _READ[table].items()} for table in ("colours", "paints")
)
KINDS = {name: _read_kind(name, entry) for name, entry in _READ["kinds"].items()}
MOUNTS = [Mount(*entry) for entry in _READ["mounts"]]
COCO, FLICKR30K = (Cast(**_READ["casts"][name]) for name in ("coco", "flickr30k"))
