"""The entities of the invented world: who and what there is, what they look like and what is true of them."""

import random
from dataclasses import dataclass, field

from stages.world.sample.kvqae.bank import Item, Kind, kinds, relations_of
from stages.world.sample.kvqae.names import Names
from stages.world.sample.kvqae.pools import LEXICON, RECIPES, Country, Pools, Value, person
from stages.world.sample.render import is_woman
from stages.world.sample.render.scenes import thing_of

IDENTITIES_PER_WORLD = 10**6
PROPERTIES = ("P18", "P154", "P41", "P94", "P2425")
_OWN_RELATIONS, _COMMON_RELATIONS = 0.75, 0.5


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


def count_by_kind(entities: int) -> dict[str, int]:
    """How many entities of each kind: at least one, else by share, largest remainders rounded up."""
    total = sum(kind.share for kind in kinds().values())
    exact = {name: kind.share * entities / total for name, kind in kinds().items()}
    counts = {name: max(1, int(number)) for name, number in exact.items()}
    by_remainder = sorted(exact, key=lambda name: int(exact[name]) - exact[name])
    for turn in range(abs(entities - sum(counts.values()))):
        if entities > sum(counts.values()):
            counts[by_remainder[turn % len(counts)]] += 1
        else:
            counts[max(counts, key=counts.__getitem__)] -= 1
    return counts


def build_entities(seed: int, *, articles: int, imageless: int) -> tuple[list[Entity], Pools]:
    """A world of `articles` entities with an image and `imageless` without, in a shuffled order.

    Identities of different seeds are disjoint: world s draws from [s·10⁶, (s+1)·10⁶).
    """
    rng = random.Random(f"entities {seed}")
    names = Names(rng)
    pools = Pools(names, rng)
    entities = _create(rng, pools, articles + imageless)
    rng.shuffle(entities)
    hidden = set(rng.sample(range(len(entities)), imageless))
    identity = seed * IDENTITIES_PER_WORLD
    for number, entity in enumerate(entities):
        entity.number = number
        if number not in hidden:
            identity = _picture(entity, rng, identity)
    _succession(entities)
    for entity in entities:
        _tell(entity, pools)
    return entities, pools


def _create(rng: random.Random, pools: Pools, count: int) -> list[Entity]:
    counts = count_by_kind(count)
    countries = []
    for index in range(counts["country"]):
        tongue = index % 4
        countries.append(Country(*pools.names.country(tongue), tongue))
    entities = []
    for kind in kinds().values():
        for index in range(counts[kind.name]):
            country = countries[index] if kind.name == "country" else rng.choice(countries)
            entities.append(_person(kind, country, pools) if kind.is_person else _thing(kind, country, pools))
    return entities


def _person(kind: Kind, country: Country, pools: Pools) -> Entity:
    rng = pools.rng
    gender = rng.choice(("male", "female"))
    name = person(pools, country, gender)
    start = rng.randint(*((1866, 1905) if kind.name in ("film director", "footballer") else (1790, 1895)))
    occupations = (rng.choice(kind.types),)
    if rng.random() < 0.12:
        other = rng.choice([item for other in kinds().values() if other.is_person for item in other.types])
        occupations += (other,) if other.label not in occupations[0].label + " novelist writer" else ()
    return Entity(
        number=-1, kind=kind, name=name.text, named=name.text, title=name.text, aliases=name.aliases, country=country,
        start=start, end=start + rng.randint(44, 90), gender=gender, occupations=occupations, animal=rng.choice(LEXICON["animal"]),
    )  # fmt: skip


def _thing(kind: Kind, country: Country, pools: Pools) -> Entity:
    rng, names, tongue = pools.rng, pools.names, country.tongue
    value, the = Value(""), ""
    match kind.name:
        case "country":
            value = Value(country.name, (f"Republic of {country.name}",))
        case "city" | "town":
            value = RECIPES["settlement"].make(pools, country)
        case "bridge":
            value, the = Value(f"{names.root(tongue)} Bridge"), "the "
        case "church":
            value = Value(f"{names.root(tongue)} {rng.choice(('Cathedral', 'Abbey', 'Church', 'Chapel'))}")
        case "museum":
            value, the = RECIPES["museum"].make(pools, country), "the "
        case "mountain":
            value = Value(rng.choice(("Mount {}", "{} Peak")).format(names.place(tongue)))
        case "lake":
            value = Value(f"Lake {names.place(tongue)}")
        case "island":
            value = Value(f"{names.place(tongue)} Island")
        case "animal":
            value, the = Value(pools.word("coat", "creature").lower()), "the "
        case "noble family":
            value, the = RECIPES["house"].make(pools, country), "the "
        case _:
            value, the = RECIPES[kind.name].make(pools, country), "the " if kind.name in ("ship", "order") else ""
    pool = {"city": "settlement", "town": "settlement", "noble family": "house"}.get(kind.name, kind.name)
    if pool in RECIPES:
        pools.add(pool, country, value)
    if kind.name == "city":
        pools.add("city", country, value)
    title = value.text[0].upper() + value.text[1:] + (" (ship)" if kind.name == "ship" else "")
    start = rng.randint(*((1800, 1890) if kind.name in ("ship", "company", "museum") else (1650, 1880)))
    return Entity(
        number=-1, kind=kind, name=value.text, named=the + value.text, title=title, aliases=value.aliases, country=country,
        start=start, end=rng.randint(1920, 1960),
    )  # fmt: skip


def _picture(entity: Entity, rng: random.Random, identity: int) -> int:
    """Give an entity its images; returns the next free identity."""
    options = list(entity.kind.images.items())
    present = [(key, picture) for key, (picture, share) in options if rng.random() < share]
    present = present or [(options[-1][0], options[-1][1][0])]
    present.sort(key=lambda pair: PROPERTIES.index(pair[0]))
    drawn = present[0][1]
    while not _fits(entity, drawn, identity):
        identity += 1
    entity.picture = drawn, identity
    words = {"person": "portrait", "coat_of_arms": "arms"}
    entity.images = {key: f"{entity.name} {words.get(picture, picture)}.jpg" for key, picture in present}
    return identity + 1


def _fits(entity: Entity, drawn: str, identity: int) -> bool:
    if drawn == "person":
        return is_woman(identity) == (entity.gender == "female")
    if entity.kind.looks and drawn in ("building", "landscape"):
        return thing_of(drawn, identity).category() in entity.kind.looks
    return True


def _succession(entities: list[Entity]) -> None:
    """A prime minister is followed by the next one of the country, in the order of birth."""
    heads = sorted((entity for entity in entities if entity.kind.name == "prime minister"), key=lambda entity: entity.start)
    for position, head in enumerate(heads):
        following = next((later for later in heads[position + 1 :] if later.country == head.country), None)
        if following is not None:
            head.facts["successor"] = Value(following.name, following.aliases)


def _tell(entity: Entity, pools: Pools) -> None:
    """Draw the facts of an entity; no answer twice, none is its own name."""
    relations = relations_of(entity.kind.name)
    own = [relation for relation in relations if len(relation.kinds) < 9]
    chosen = [
        relation
        for relation in relations
        if pools.rng.random() < (_OWN_RELATIONS if relation in own else _COMMON_RELATIONS)
    ] or list(relations[:1])
    for relation in chosen:
        if relation.name in entity.facts or (relation.name == "successor"):
            continue
        if relation.pool == "spouse":
            value = person(pools, entity.country, "male" if entity.gender == "female" else "female")
            pools.add("spouse", entity.country, value)
        else:
            taken = [entity.name, *(fact.text for fact in entity.facts.values())]
            value = pools.draw(relation.pool, entity.country, but=taken)
        entity.facts[relation.name] = value
