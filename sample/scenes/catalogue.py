"""What stands in the scenes, read from `bank/kinds.yaml`: kinds of objects, who is on whom, who comes together."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from sample.render.canvas import Colour

BANK = Path(__file__).parent / "bank"
_READ: dict[str, Any] = yaml.safe_load((BANK / "kinds.yaml").read_text("utf-8"))

Verb = tuple[str, str, str]  # third person, plural, participle


class Look(NamedTuple):
    """One way to draw a kind.

    Attributes:
        nouns: that name it, singular and plural.
        drawing: its parts from back to front, as `bank/kinds.yaml` describes them.
        garment: what a person wears.
    """

    nouns: tuple[tuple[str, str], ...]
    drawing: tuple[Any, ...]
    garment: str


@dataclass(frozen=True)
class Kind:
    """A kind of object.

    Attributes:
        name: COCO's name of the class.
        looks: the ways to draw it.
        verbs: what it may be said to do.
        colours: the usual colour first; empty where captions name none.
        type: its type in Flickr30k Entities.
        scale: size relative to the other kinds.
    """

    name: str
    looks: tuple[Look, ...]
    verbs: tuple[Verb, ...]
    colours: tuple[str, ...]
    type: str
    scale: float


class Mount(NamedTuple):
    """What may be on what: how far down the carrier its foot is, its relative size, and how captions say so."""

    rider: str
    carrier: str
    foot: float
    scale: float
    verb: Verb


@dataclass(frozen=True)
class Cast:
    """Who plays in a data set.

    Attributes:
        pairs: kinds planted together: one of the first side, one of the second.
        free: kinds that come and go on their own.
    """

    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    free: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for pair in self.pairs for side in pair for name in side) + self.free


def _read_kind(name: str, entry: dict[str, Any]) -> Kind:
    looks = tuple(
        Look(tuple(tuple(noun.split("/")) for noun in look["nouns"]), tuple(look["drawing"]), look.get("garment", ""))
        for look in entry.get("looks", [entry])
    )
    verbs = tuple(VERBS[verb] for verb in entry["verbs"])
    colours = tuple(entry.get("colours", ()))
    return Kind(name, looks, verbs, colours, entry.get("type", "other"), entry.get("scale", 1.0))


def _read_cast(entry: dict[str, Any]) -> Cast:
    return Cast(tuple((tuple(first), tuple(second)) for first, second in entry["pairs"]), tuple(entry["free"]))


VERBS: dict[str, Verb] = {name: tuple(forms) for name, forms in _READ["verbs"].items()}
COLOURS: dict[str, Colour] = {name: tuple(colour) for name, colour in _READ["colours"].items()}
PAINTS: dict[str, Colour] = {name: tuple(colour) for name, colour in _READ["paints"].items()}
KINDS = {name: _read_kind(name, entry) for name, entry in _READ["kinds"].items()}
MOUNTS = tuple(Mount(*entry[:4], tuple(entry[4])) for entry in _READ["mounts"])
COCO, FLICKR30K = (_read_cast(_READ["casts"][name]) for name in ("coco", "flickr30k"))
