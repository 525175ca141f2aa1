"""Pools of answers: towns, parties, novels, patron saints. A value may be handed out again, so that answers recur."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from sample.kvqae.names import ExhaustedError, Names

LEXICON: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "bank" / "lexicon.yaml").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class Value:
    """An answer: its usual form and other accepted forms."""

    text: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Country:
    """A country that need not have an article of its own."""

    name: str
    demonym: str
    tongue: int


@dataclass(frozen=True)
class Recipe:
    """How a pool fills: `make(country)` a new value; an old one with probability `reuse`, `most` times each."""

    make: Callable[["Pools", Country], Value]
    reuse: float = 0.5
    most: int = 4
    everywhere: bool = False


@dataclass
class Pools:
    """All pools of one world; values of entities (towns, ships, painters) are put in beforehand."""

    names: Names
    rng: random.Random
    values: dict[tuple[str, str], list[Value]] = field(default_factory=dict)
    uses: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, pool: str, country: Country, value: Value) -> Value:
        """Put a value where `draw` may find it."""
        self.values.setdefault((pool, self._scope(pool, country)), []).append(value)
        return value

    def draw(self, pool: str, country: Country, *, but: Sequence[str] = ()) -> Value:
        """An answer for an entity of that country; none of the texts in `but`."""
        recipe = RECIPES[pool]
        old = self.values.get((pool, self._scope(pool, country)), [])
        free = [value for value in old if value.text not in but and self.uses.get((pool, value.text), 0) < recipe.most]
        value = self.rng.choice(free) if free and self.rng.random() < recipe.reuse else None
        if value is None:
            try:
                value = self.add(pool, country, recipe.make(self, country))
            except ExhaustedError:  # in a very large world some titles must come twice
                value = self.rng.choice([value for value in old if value.text not in but])
        self.uses[pool, value.text] = self.uses.get((pool, value.text), 0) + 1
        return value

    def decoy(self, pool: str, country: Country, *, but: Sequence[str]) -> str:
        """A plausible value of the pool that is not the answer."""
        old = self.values.get((pool, self._scope(pool, country)), [])
        free = [value.text for value in old if value.text not in but]
        return self.rng.choice(free) if free else self.add(pool, country, RECIPES[pool].make(self, country)).text

    def _scope(self, pool: str, country: Country) -> str:
        return "" if RECIPES[pool].everywhere else country.name

    def word(self, *lists: str) -> str:
        """A new phrase with one entry of each list of the lexicon."""
        return self.names.phrase(*(tuple(LEXICON[name]) for name in lists))

    def place(self, country: Country) -> str:
        """A new invented place name of the country's tongue."""
        return self.names.place(country.tongue)


def person(pools: Pools, country: Country, gender: str | None = None, title: str = "") -> Value:
    """An invented person; `J. Family` is an accepted short form."""
    name = pools.names.person(country.tongue, gender or pools.rng.choice(("male", "female")))
    first, family = name.split(" ", 1)
    return Value(f"{title} {name}".strip(), (f"{first[0]}. {family}", *((name,) if title else ())))


def _patron(pools: Pools, country: Country) -> Value:
    gender, title = pools.rng.choice(
        (("male", "Count"), ("female", "Countess"), ("male", "Prince"), ("female", "Duchess"))
    )
    return person(pools, country, gender, title)


def _settlement(pools: Pools, country: Country) -> Value:
    name = pools.place(country)
    return Value(name, (f"{name}, {country.name}",) if pools.rng.random() < 0.5 else ())


def _school(pools: Pools, country: Country) -> Value:
    root = pools.names.root(country.tongue)
    kind = pools.rng.choice(("College", "Grammar School", "Academy"))
    return Value(f"{root} {kind}", (root,))


def _club(pools: Pools, country: Country) -> Value:
    root = pools.names.root(country.tongue)
    suffix = pools.rng.choice(("Rovers", "Athletic", "Wanderers", "Albion", "Sporting", "United"))
    return Value(f"{root} {suffix}", (f"{root} {suffix} FC", f"FC {root}"))


def _company(pools: Pools, country: Country) -> Value:
    root = pools.names.root(country.tongue)
    suffix = pools.rng.choice(("& Sons", "Brothers", "Works", "Union", "House"))
    return Value(f"{root} {suffix}", (f"{root} {suffix} Ltd",))


def _year(pools: Pools, country: Country) -> Value:
    return Value(str(pools.rng.randint(1781, 1959)))


def _rooted(kinds: tuple[str, ...], alias: str = "") -> Callable[[Pools, Country], Value]:
    def make(pools: Pools, country: Country) -> Value:
        root, kind = pools.names.root(country.tongue), pools.rng.choice(kinds)
        return Value(f"{root} {kind}", (alias.format(root=root, kind=kind),) if alias else ())

    return make


def _phrase(*lists: str) -> Callable[[Pools, Country], Value]:
    """A phrase with a word of each list of the lexicon."""
    return lambda pools, country: Value(pools.word(*lists))


def _stock(name: str) -> Recipe:
    """A closed list of the lexicon: common words that recur."""
    return Recipe(lambda pools, country: Value(pools.rng.choice(LEXICON[name])), reuse=0, most=10**9, everywhere=True)


RECIPES: dict[str, Recipe] = {
    "settlement": Recipe(_settlement, reuse=0.94, most=48),
    "city": Recipe(_settlement, reuse=1.0, most=12),
    "river": Recipe(lambda p, c: Value(p.place(c)), reuse=0.88, most=24),
    "water": Recipe(
        lambda p, c: Value(f"{p.names.root(c.tongue)} {p.rng.choice(('Sound', 'Strait', 'Gulf', 'Bank'))}"),
        reuse=0.9,
        most=30,
    ),
    "range": Recipe(_rooted(("Hills", "Mountains", "Alps", "Ridge")), reuse=0.9, most=30),
    "spouse": Recipe(lambda p, c: person(p, c), reuse=0.0),
    "person": Recipe(lambda p, c: person(p, c), reuse=0.0),
    "woman": Recipe(lambda p, c: person(p, c, "female"), reuse=0.83, most=24),
    "man": Recipe(lambda p, c: person(p, c, "male"), reuse=0.86, most=24),
    "founder": Recipe(lambda p, c: person(p, c, "male"), reuse=0.88, most=24),
    "architect": Recipe(lambda p, c: person(p, c, "male"), reuse=0.91, most=30),
    "teacher": Recipe(lambda p, c: person(p, c), reuse=0.91, most=30),
    "discoverer": Recipe(lambda p, c: person(p, c), reuse=0.9, most=24),
    "patron": Recipe(_patron, reuse=0.9, most=24),
    "monarch": Recipe(lambda p, c: person(p, c, "male", "King"), reuse=0.0),
    "successor": Recipe(lambda p, c: person(p, c), reuse=0.0),
    "saint": Recipe(lambda p, c: _saint(p, c), reuse=0.88, most=24),
    "school": Recipe(_school, reuse=0.93, most=36),
    "institute": Recipe(_rooted(("Institute", "Observatory", "Laboratory")), reuse=0.9, most=30),
    "orchestra": Recipe(_rooted(("Philharmonic", "Chamber Orchestra", "Symphony")), reuse=0.9, most=24),
    "museum": Recipe(_rooted(("Museum", "Gallery"), "{kind} of {root}"), reuse=0.91, most=30),
    "club": Recipe(_club, reuse=0.9, most=24),
    "company": Recipe(_company, reuse=0.9, most=24),
    "shipyard": Recipe(_rooted(("Dockyard", "Shipbuilders", "Yard")), reuse=0.91, most=30),
    "newspaper": Recipe(
        _rooted(("Courier", "Herald", "Gazette", "Observer", "Post"), "{kind} of {root}"), reuse=0.85, most=18
    ),
    "cemetery": Recipe(_rooted(("Cemetery", "Churchyard", "Memorial Park")), reuse=0.93, most=30),
    "constituency": Recipe(
        lambda p, c: Value(f"{p.names.root(c.tongue)} {p.rng.choice(LEXICON['district'])}"), reuse=0.91, most=30
    ),
    "party": Recipe(_phrase("political", "party"), reuse=0.94, most=42),
    "ministry": _stock("ministry"),
    "law": Recipe(_phrase("law", "act"), reuse=0.0, everywhere=True),
    "order": Recipe(_phrase("order", "colour", "bird"), reuse=0.94, most=36, everywhere=True),
    "prize": Recipe(_phrase("material", "bird", "trophy"), reuse=0.93, most=36, everywhere=True),
    "trade": _stock("trade"),
    "illness": _stock("illness"),
    "good": _stock("good"),
    "stone": _stock("stone"),
    "food": _stock("food"),
    "nickname": Recipe(_phrase("temper", "beast"), reuse=0.0, everywhere=True),
    "pet": _stock("pet"),
    "movement": _stock("movement"),
    "painting": Recipe(_phrase("the", "temper", "figure"), reuse=0.0, everywhere=True),
    "book": Recipe(_phrase("the", "scenery", "of", "matter"), reuse=0.0, everywhere=True),
    "opera": Recipe(lambda p, c: Value(f"{p.names.root(c.tongue)} and {p.names.root((c.tongue + 1) % 4)}"), reuse=0.0),
    "film": Recipe(_phrase("count", "days"), reuse=0.0, everywhere=True),
    "song": Recipe(_phrase("verb", "land"), reuse=0.0, everywhere=True),
    "mineral": Recipe(lambda p, c: Value(p.names.root(c.tongue).rstrip("aeiou").lower() + "ite"), reuse=0.0),
    "currency": Recipe(lambda p, c: Value(p.names.root(c.tongue).lower()), reuse=0.0),
    "motto": Recipe(_phrase("virtue", "than", "vice"), reuse=0.0, everywhere=True),
    "product": Recipe(_phrase("quality", "article"), reuse=0.0, everywhere=True),
    "treasure": Recipe(_phrase("material", "relic", "of", "saint"), reuse=0.85, most=18, everywhere=True),
    "legend": Recipe(_phrase("temper", "ghost"), reuse=0.85, most=18, everywhere=True),
    "ship": Recipe(_phrase("temper", "bird"), reuse=0.9, most=24, everywhere=True),
    "castle": Recipe(_rooted(("Castle",), "Castle {root}"), reuse=0.91, most=18),
    "house": Recipe(lambda p, c: Value(f"House of {p.names.root(c.tongue)}"), reuse=0.94, most=24),
    "year": Recipe(_year, reuse=0.0),
}


def _saint(pools: Pools, country: Country) -> Value:
    name = pools.rng.choice(pools.names.first[country.tongue, pools.rng.choice(("male", "female"))])
    return Value(f"Saint {name}", (f"St {name}", f"St. {name}"))
