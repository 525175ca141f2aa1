"""What stands in the scenes, read from `bank/kinds.yaml`: kinds of objects, who is on whom, who comes together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

BANK = Path(__file__).parent / "bank"
_READ: dict[str, Any] = yaml.safe_load((BANK / "kinds.yaml").read_text("utf-8"))


@dataclass(frozen=True)
class Look:
    """One way to draw a kind.

    Attributes:
        nouns: that name it, `singular/plural`.
        drawing: its parts from back to front, as `bank/kinds.yaml` describes them.
        garment: what a person wears.
    """

    nouns: Sequence[str]
    drawing: Sequence[Any]
    garment: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of object.

    Attributes:
        name: COCO's name of the class.
        looks: the ways to draw it.
        verbs: of `VERBS`, what it may be said to do.
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
    """What may be on what: how far down the carrier its foot is, its relative size, and how captions say so."""

    rider: str
    carrier: str
    foot: float
    scale: float
    verb: Sequence[str]


@dataclass(frozen=True)
class Cast:
    """The kinds of a data set: pairs planted together, one of each side; and kinds that come and go on their own."""

    pairs: Sequence[Sequence[Sequence[str]]]
    free: Sequence[str]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All of them."""
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
