"""Invented names and answers: words of syllables, templates filled with them, and pools whose values are reused."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sample.kvqae.bank import read

_REPEATED = re.compile(r"([aiu])\1+|(.)\2{2,}")
_LOCAL = re.compile(r"\{(place|root|stem|man|woman|person|given)\}")  # what differs from country to country
_ATTEMPTS = 400


@dataclass(frozen=True)
class Value:
    """Answer: its usual form and other accepted forms."""

    text: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Country:
    """Country, which need not have an article, and the number of its language."""

    name: str
    demonym: str
    tongue: int


class Pools:
    """All names and answers of one world; all invented names are different. `bank/pools.yaml` says how they are made.

    Given and family names are few, so that many people share one.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._taken: set[str] = set()
        self._values: defaultdict[tuple[str, str], list[Value]] = defaultdict(list)
        tongues = range(len(read("tongues")))
        self.given = {
            (tongue, gender): [self.word(tongue, gender, middle=0.15) for _ in range(40)]
            for tongue in tongues
            for gender in ("male", "female")
        }
        self._families = {tongue: [self.word(tongue, "family", middle=0.6) for _ in range(110)] for tongue in tongues}

    def _claim(self, name: str) -> bool:
        """Whether a name is new, ignoring case, and allowed; from now on it is taken."""
        key = name.lower()
        fits = key not in self._taken and not any(word in key for word in read("lexicon")["avoided"])
        if fits:
            self._taken.add(key)
        return fits

    def _new(self, make: Callable[[], str]) -> str:
        for name in (make() for _ in range(_ATTEMPTS)):
            if self._claim(name):
                return name
        raise RuntimeError(f"no new name left of the kind {make()!r}")

    def word(self, tongue: int, *endings: str, middle: float) -> str:
        """Make a capitalised word, of three parts with probability `middle`; `endings` are keys of tongues.yaml."""
        sounds = read("tongues")[tongue]
        ends = [end for key in endings for end in sounds[key].split()]

        def draw() -> str:
            parts = [self.rng.choice(sounds["heads"].split()), self.rng.choice(ends)]
            if self.rng.random() < middle:
                parts.insert(1, self.rng.choice(sounds["middles"].split()))
            return _REPEATED.sub(lambda match: match[1] or match[2] * 2, "".join(parts))

        return self._new(draw)

    def country(self, tongue: int) -> Country:
        """Make a new country."""
        ending = self.rng.choice(read("lexicon")["country_endings"])
        stem = self.word(tongue, "country", middle=1.0)
        return Country(stem + ending, stem + ending.removesuffix("a") + ("ian" if ending == "ar" else "an"), tongue)

    def person(self, country: Country, gender: str) -> Value:
        """Make a pair of given and family name, which both recur, but not together; `J. Family` is its short form."""
        given, families = self.given[country.tongue, gender], self._families[country.tongue]
        name = self._new(lambda: f"{self.rng.choice(given)} {self.rng.choice(families)}")
        return Value(name, (f"{name[0]}. {name.split(' ', 1)[1]}",))

    def make(self, pool: str, country: Country) -> Value:
        """Make a value of a pool and add it; it is new unless the world is very large."""
        recipe = read("pools")[pool]
        for _ in range(_ATTEMPTS):
            slots = _Slots(self, country)
            text = self.rng.choice(recipe["make"]).format_map(slots)
            if slots.has_new_word or self._claim(text):
                break
        aliases = (*slots.short_forms, *(alias.format_map(slots) for alias in recipe.get("aliases", ())))
        return self.add(pool, country, Value(text, aliases))

    def add(self, pool: str, country: Country, value: Value) -> Value:
        """Add a value to a pool, from which `draw` takes."""
        self._known(pool, country).append(value)
        return value

    def _known(self, pool: str, country: Country) -> list[Value]:
        return self._values[pool, country.name if _LOCAL.search(read("pools")[pool]["make"][0]) else ""]

    def draw(self, pool: str, country: Country, *, but: Sequence[str] = ()) -> Value:
        """Draw an answer for an entity of that country, none of the texts in `but`."""
        if pool not in read("pools"):
            return Value(self.rng.choice([word for word in read("lexicon")[pool] if word not in but]))
        free = [value for value in self._known(pool, country) if value.text not in but]
        reused = free and self.rng.random() < read("pools")[pool].get("reuse", 0.0)
        return self.rng.choice(free) if reused else self.make(pool, country)

    def decoy(self, pool: str, country: Country, *, but: Sequence[str] = ()) -> str:
        """Draw a plausible value of the pool that is not the answer."""
        if pool not in read("pools"):
            return self.draw(pool, country, but=but).text
        free = [value.text for value in self._known(pool, country) if value.text not in but]
        return self.rng.choice(free) if free else self.make(pool, country).text


class _Slots(dict[str, str]):
    """Values for the placeholders of a template, each drawn once, when it is needed.

    Attributes:
        has_new_word: whether a drawn word makes the whole text new.
        short_forms: short forms of the person's name in it.
    """

    def __init__(self, pools: Pools, country: Country) -> None:
        super().__init__()
        self.pools, self.home = pools, country
        self.has_new_word = False
        self.short_forms: tuple[str, ...] = ()

    def __missing__(self, key: str) -> str:
        pools, tongue = self.pools, self.home.tongue
        self.has_new_word |= key not in read("lexicon")
        if key == "place":
            text = pools.word(tongue, "place", middle=0.8)
        elif key in ("root", "other_root"):
            text = pools.word((tongue + (key != "root")) % 4, "male", "female", middle=1.0)
        elif key == "stem":
            text = pools.word(tongue, "male", "female", middle=1.0).rstrip("aeiou").lower()
        elif key == "country":
            text = self.home.name
        elif key == "given":
            text = pools.rng.choice(pools.given[tongue, pools.rng.choice(("male", "female"))])
        elif key in _GENDERS:
            person = pools.person(self.home, pools.rng.choice(_GENDERS[key]))
            text, self.short_forms = person.text, person.aliases
            self["full"] = text
        else:
            text = pools.rng.choice(read("lexicon")[key])
        self[key] = text
        return text


_GENDERS = {"man": ("male",), "woman": ("female",), "person": ("male", "female")}
