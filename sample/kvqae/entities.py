"""Entities of the invented world, with names, years, countries, pictures and facts."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from sample.kvqae.bank import Item, Kind, kinds, relations_of
from sample.kvqae.names import Country, Pools, Value
from sample.render.things import thing_of
from sample.render.traits import is_woman

# Wikidata's image properties in the order of preference (kvqae.md §1): image, logo, flag, coat of arms, service ribbon.
PROPERTIES = ("P18", "P154", "P41", "P94", "P2425")
IDENTITIES_PER_WORLD = 10**6
# How often an entity has a relation: of its own kind, or one that all persons share.
_OWN, _COMMON = 0.64, 0.17


@dataclass
class Entity:
    """Entity of the world.

    Attributes:
        number: position in the world, from which identifiers are made.
        name: title of the article without a disambiguating bracket.
        start, end: years of birth and death, or of foundation and of the last event.
        images: Wikidata image property → file name; empty for entities outside the knowledge base.
        picture: kind and identity that the renderer draws.
        facts: answer of each relation, by its name.
    """

    number: int
    kind: Kind
    name: str
    aliases: tuple[str, ...]
    country: Country
    start: int
    end: int
    gender: str | None = None
    occupation: Item | None = None
    images: dict[str, str] = field(default_factory=dict)
    picture: tuple[str, int] | None = None
    facts: dict[str, Value] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The name as in a sentence ("the Velmor Bridge")."""
        return f"the {self.name}" if self.kind.the else self.name

    @property
    def title(self) -> str:
        """The title of its article."""
        return self.name[0].upper() + self.name[1:] + (" (ship)" if self.kind.name == "ship" else "")

    @property
    def label(self) -> str:
        """The noun for what it is: "painter", "ship"."""
        return self.occupation.label if self.occupation else self.kind.labels[0]

    @property
    def wikidata_id(self) -> str:
        """The Wikidata id: a number beyond Wikidata's own, so that it is no real item's."""
        return f"Q{10**9 + self.number}"

    @property
    def wikipedia_id(self) -> str:
        """The number of its page."""
        return str(10**8 + self.number)

    @property
    def image(self) -> str | None:
        """The knowledge base's image: the first of its images in the order of `PROPERTIES`."""
        return next((self.images[key] for key in PROPERTIES if key in self.images), None)


def populate(seed: int, *, articles: int, imageless: int) -> tuple[list[Entity], Pools]:
    """Create the entities of a seed's world, `imageless` of them without image, and the pools of their answers."""
    pools = Pools(random.Random(f"entities {seed}"))
    entities = create_entities(pools, articles + imageless)
    _give_pictures(entities, pools.rng, seed, imageless)
    tell_facts(entities, pools)
    return entities, pools


def create_entities(pools: Pools, count: int) -> list[Entity]:
    """Create entities without pictures and facts, some of each kind; names of things are added to the pools."""
    every = list(kinds().values())
    drawn = every + pools.rng.choices(every, [kind.share for kind in every], k=count - len(every))
    pools.rng.shuffle(drawn)
    countries = [pools.country(index % 4) for index in range(drawn.count(kinds()["country"]))]
    free = iter(countries)
    entities = []
    for number, kind in enumerate(drawn):
        country = next(free) if kind.name == "country" else pools.rng.choice(countries)
        entities.append((_person if kind.is_person else _thing)(number, kind, country, pools))
    return entities


def _person(number: int, kind: Kind, country: Country, pools: Pools) -> Entity:
    rng = pools.rng
    gender = rng.choice(("male", "female"))
    name, start = pools.person(country, gender), rng.randint(*kind.years)
    end = start + rng.randint(44, 90)
    return Entity(number, kind, name.text, name.aliases, country, start, end, gender, rng.choice(kind.types))


def _thing(number: int, kind: Kind, country: Country, pools: Pools) -> Entity:
    name = pools.make(kind.pools[0], country)
    for pool in kind.pools[1:]:
        pools.add(pool, country, name)
    years = pools.rng.randint(*kind.years), pools.rng.randint(1920, 1960)
    return Entity(number, kind, name.text, name.aliases, country, *years)


def _give_pictures(entities: Sequence[Entity], rng: random.Random, seed: int, imageless: int) -> None:
    """Give images to all but `imageless` entities, each with the next identity that fits.

    World `seed` draws identities from [seed·10⁶, (seed + 1)·10⁶), so that no two worlds share one.
    """
    hidden = set(rng.sample(range(len(entities)), imageless))
    identity = seed * IDENTITIES_PER_WORLD
    for entity in (entity for position, entity in enumerate(entities) if position not in hidden):
        images = entity.kind.images
        present = [key for key, (_, share) in images.items() if rng.random() < share] or [list(images)[-1]]
        drawn = images[next(key for key in PROPERTIES if key in present)][0]
        while not _fits(entity, drawn, identity):
            identity += 1
        entity.picture = drawn, identity
        entity.images = {key: f"{entity.name} {images[key][0].replace('_', ' ')}.jpg" for key in present}
        identity += 1


def _fits(entity: Entity, drawn: str, identity: int) -> bool:
    if drawn == "person":
        return is_woman(identity) == (entity.gender == "female")
    if entity.kind.looks and drawn in ("building", "landscape"):
        return thing_of(drawn, identity).category in entity.kind.looks
    return True


def tell_facts(entities: Sequence[Entity], pools: Pools) -> None:
    """Draw the facts of each entity from shared pools; no answer occurs twice, and none is the entity's own name."""
    heads = sorted((one for one in entities if one.kind.name == "prime minister"), key=lambda head: head.start)
    for position, head in enumerate(heads):  # followed by the next one of the country, in the order of birth
        following = next((later for later in heads[position + 1 :] if later.country == head.country), None)
        if following is not None:
            head.facts["successor"] = Value(following.name, following.aliases)
    for entity in entities:
        possible = [relation for relation in relations_of(entity.kind.name) if relation.name != "successor"]
        shares = [_COMMON if "person" in relation.of else _OWN for relation in possible]
        chosen = [one for one, share in zip(possible, shares, strict=True) if pools.rng.random() < share]
        for relation in chosen or possible[:1]:
            if relation.name == "spouse":
                value = pools.person(entity.country, "male" if entity.gender == "female" else "female")
            else:
                taken = [entity.name, *(fact.text for fact in entity.facts.values())]
                value = pools.draw(relation.pool, entity.country, but=taken)
            entity.facts[relation.name] = value
