"""What an entity of the invented world is."""

from dataclasses import dataclass, field

from sample.kvqae.bank import Item, Kind
from sample.kvqae.pools import Country, Value

# Wikidata's image properties in the order of preference (kvqae.md §1): image, logo, flag, coat of arms, service ribbon.
PROPERTIES = ("P18", "P154", "P41", "P94", "P2425")


@dataclass
class Entity:
    """One entity; `facts` maps a relation's name to its answer.

    Attributes:
        number: position in the world; identifiers are made of it.
        name: as in the article's title, without a disambiguating bracket.
        named: as in a sentence ("the Velmor Bridge").
        images: Wikidata image property → file name; empty for entities outside the knowledge base.
        picture: what the renderer draws, with which identity.
        start, end: years of birth and death, or of foundation and of the last event.
    """

    number: int
    kind: Kind
    name: str
    named: str
    title: str
    aliases: tuple[str, ...]
    country: Country
    start: int
    end: int
    gender: str | None = None
    occupations: tuple[Item, ...] = ()
    animal: str = ""
    images: dict[str, str] = field(default_factory=dict)
    picture: tuple[str, int] | None = None
    facts: dict[str, Value] = field(default_factory=dict)

    @property
    def wikidata_id(self) -> str:
        """Beyond Wikidata's own numbers, so that no real item is meant."""
        return f"Q{10**9 + self.number}"

    @property
    def wikipedia_id(self) -> str:
        """The page's number."""
        return str(10**8 + self.number)

    @property
    def image(self) -> str | None:
        """The knowledge base's image: the first present property."""
        return next((self.images[key] for key in PROPERTIES if key in self.images), None)
