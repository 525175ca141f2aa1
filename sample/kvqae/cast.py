"""Who and what there is: entities of every kind, with names, years and countries."""

import random
from collections.abc import Callable

from sample.kvqae.bank import Kind, kinds
from sample.kvqae.entities import Entity
from sample.kvqae.pools import LEXICON, RECIPES, Country, Pools, Value, person

_SECOND_OCCUPATION = 0.12
_RECENT = ("film director", "footballer", "ship", "company", "museum")
# Kind → (article before the name in a sentence, how a name is made).
_NAMING: dict[str, tuple[str, Callable[[Pools, Country], Value]]] = {
    "country": ("", lambda pools, country: Value(country.name, (f"Republic of {country.name}",))),
    "city": ("", RECIPES["settlement"].make),
    "town": ("", RECIPES["settlement"].make),
    "noble family": ("the ", RECIPES["house"].make),
    "company": ("", RECIPES["company"].make),
    "ship": ("the ", RECIPES["ship"].make),
    "bridge": ("the ", lambda pools, country: Value(f"{pools.names.root(country.tongue)} Bridge")),
    "castle": ("", RECIPES["castle"].make),
    "church": (
        "",
        lambda pools, country: Value(
            f"{pools.names.root(country.tongue)} {pools.rng.choice(('Cathedral', 'Abbey', 'Church', 'Chapel'))}"
        ),
    ),
    "museum": ("the ", RECIPES["museum"].make),
    "mountain": (
        "",
        lambda pools, country: Value(pools.rng.choice(("Mount {}", "{} Peak")).format(pools.place(country))),
    ),
    "lake": ("", lambda pools, country: Value(f"Lake {pools.place(country)}")),
    "island": ("", lambda pools, country: Value(f"{pools.place(country)} Island")),
    "animal": ("the ", lambda pools, country: Value(pools.word("coat", "creature").lower())),
    "order": ("the ", RECIPES["order"].make),
}
# Which pools of answers an entity's name belongs to.
_POOLS = {
    "city": ("settlement", "city"), "town": ("settlement",), "noble family": ("house",), "company": ("company",),
    "ship": ("ship",), "castle": ("castle",), "museum": ("museum",), "order": ("order",),
}  # fmt: skip


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


def create_entities(rng: random.Random, pools: Pools, count: int) -> list[Entity]:
    """Create `count` entities, numbered in random order, without pictures and facts; their names go to the pools."""
    counts = count_by_kind(count)
    countries = [Country(*pools.names.country(index % 4), index % 4) for index in range(counts["country"])]
    entities = []
    for kind in kinds().values():
        for index in range(counts[kind.name]):
            country = countries[index] if kind.name == "country" else rng.choice(countries)
            entities.append(_person(kind, country, pools) if kind.is_person else _thing(kind, country, pools))
    rng.shuffle(entities)
    for number, entity in enumerate(entities):
        entity.number = number
    return entities


def _person(kind: Kind, country: Country, pools: Pools) -> Entity:
    rng = pools.rng
    gender = rng.choice(("male", "female"))
    name = person(pools, country, gender)
    start = rng.randint(*((1866, 1905) if kind.name in _RECENT else (1790, 1895)))
    occupations = [rng.choice(kind.types)]
    if rng.random() < _SECOND_OCCUPATION:
        second = rng.choice([other.types[0] for other in kinds().values() if other.is_person])
        occupations += [second] if second not in kind.types else []
    return Entity(
        number=-1,
        kind=kind,
        name=name.text,
        named=name.text,
        title=name.text,
        aliases=name.aliases,
        country=country,
        start=start,
        end=start + rng.randint(44, 90),
        gender=gender,
        occupations=tuple(occupations),
        animal=rng.choice(LEXICON["animal"]),
    )


def _thing(kind: Kind, country: Country, pools: Pools) -> Entity:
    the, make = _NAMING[kind.name]
    name = make(pools, country)
    for pool in _POOLS.get(kind.name, ()):
        pools.add(pool, country, name)
    return Entity(
        number=-1,
        kind=kind,
        name=name.text,
        named=the + name.text,
        title=name.text[0].upper() + name.text[1:] + (" (ship)" if kind.name == "ship" else ""),
        aliases=name.aliases,
        country=country,
        start=pools.rng.randint(*((1800, 1890) if kind.name in _RECENT else (1650, 1880))),
        end=pools.rng.randint(1920, 1960),
    )
