"""Who and what there is: the names of a world, and the cast of a text drawn from them."""

import random
from dataclasses import dataclass, field
from itertools import product

from sample.french.bank import Frame, Unit, fillers
from sample.french.events import Filler

_HEADS = (
    "Bel",
    "Dur",
    "Val",
    "Mor",
    "Sar",
    "Tal",
    "Ker",
    "Lor",
    "Nor",
    "Ol",
    "Ar",
    "Es",
    "Or",
    "Al",
    "Cor",
    "Fal",
    "Gal",
)
_TOWN = ("mar", "dun", "vane", "gis", "lac", "nay", "tère", "sine", "ville", "zac")
_MALE = ("dric", "mond", "vin", "do", "gan", "tor", "bec", "nel")
_FEMALE = ("mine", "dine", "lise", "rane", "via", "essa", "nelle", "ga")
_PEOPLE = ("vien", "désien", "gonien", "mérien", "tasien", "binien")
_RIVER = ("ne", "se", "ve", "ge", "ze")
_REAL = ("Alvin", "Morgan", "Mordor", "Norvin", "Valvin", "Alville", "Corse", "Sarde", "Orge", "Orne", "Olga", "Valdo")
_ERAS = {"war": range(1203, 1499, 7), "city": range(1105, 1399, 7), "dig": range(1823, 1989, 4)}
_COUNTS = {"towns": 26, "peoples": 10, "rivers": 6, "persons": 14}
_INDEFINITE = ("object", "document", "text", "building", "supply", "art", "component", "tool", "demand", "workers")
_BARE = ("post", "site", "hideout", "purpose", "cause")
_SINGLE_TOWN = 0.5
_PROTAGONIST, _FAMILIAR = 0.9, 0.95


@dataclass(frozen=True)
class Names:
    """The invented names of a world; a limited list, so that each is met often.

    Attributes:
        persons: (title, gender, name) a domain.
        years: what a domain's events may be dated to.
    """

    towns: tuple[str, ...]
    peoples: tuple[str, ...]
    rivers: tuple[str, ...]
    persons: dict[str, tuple[tuple[str, str, str], ...]]
    years: dict[str, tuple[int, ...]]


def draw_names(rng: random.Random) -> Names:
    """Draw the names of a world; no two of them begin with the same five letters."""
    taken: set[str] = set()

    def draw(endings: tuple[str, ...], count: int) -> tuple[str, ...]:
        possible = [head + ending for head, ending in product(_HEADS, endings)]
        rng.shuffle(possible)
        drawn: list[str] = []
        for name in possible:
            if len(drawn) < count and name not in _REAL and name not in taken:
                taken.add(name)
                drawn.append(name)
        return tuple(drawn)

    persons = {}
    for domain, titles in fillers()["titles"].items():
        male = [(rng.choice(titles["m"]), "m", name) for name in draw(_MALE, _COUNTS["persons"] * 2 // 3)]
        female = [(rng.choice(titles["f"]), "f", name) for name in draw(_FEMALE, _COUNTS["persons"] // 2)]
        persons[domain] = (*male, *female)
    years = {domain: tuple(sorted(rng.sample(list(era), 22))) for domain, era in _ERAS.items()}
    peoples = tuple(name.lower() for name in draw(_PEOPLE, _COUNTS["peoples"]))
    return Names(draw(_TOWN, _COUNTS["towns"]), peoples, draw(_RIVER, _COUNTS["rivers"]), persons, years)


@dataclass
class Cast:
    """Who and what a text is about: fillers by kind, met again and again.

    Attributes:
        agents: who acts, the protagonist first.
        focus: the role of what most of its events have in common: who acts, or what is acted on.
        known: what the text may come back to, by kind.
        mentioned: what it has spoken of so far.
    """

    domain: str
    names: Names
    rng: random.Random
    agents: list[Filler] = field(default_factory=list)
    focus: str = ""
    known: dict[str, list[Filler]] = field(default_factory=dict)
    mentioned: set[Filler] = field(default_factory=set)

    def __post_init__(self) -> None:
        while len(self.agents) < 4:
            person = self.make("person" if len(self.agents) % 2 == 0 else "band")
            if not any(person.names & agent.names for agent in self.agents):
                self.agents.append(person)
                self.known.setdefault(person.kind, []).append(person)
        self.rng.shuffle(self.agents)
        self.focus = self.rng.choice(("agent", "theme"))

    def make(self, kind: str) -> Filler:
        """A new filler of a kind."""
        rng, bank = self.rng, fillers()
        if kind == "person":
            title, gender, name = rng.choice(self.names.persons[self.domain])
            notation = f"{title}:{gender} {name}:P{gender}"
            return Filler(kind, notation, "le", f"{name}:P{gender}", frozenset({name}))
        town, people, river = (rng.choice(each) for each in (self.names.towns, self.names.peoples, self.names.rivers))
        if kind == "town" and rng.random() < _SINGLE_TOWN:
            return Filler(kind, f"{town}:Pf", "", "", frozenset({town}))
        options = bank[f"{kind}s"][self.domain] if kind == "band" else bank[kind]
        options = options[self.domain] if kind == "purpose" else options
        template = rng.choice(options)
        notation = template.format(town=town, people=people, People=people.capitalize(), river=river)
        slots = {"{town}": town, "{people}": people, "{People}": people, "{river}": river}
        names = frozenset(name for slot, name in slots.items() if slot in template)
        determiner = "" if kind in _BARE else "un" if kind in _INDEFINITE else "le"
        return Filler(kind, notation, determiner, f"{town}:Pf" if kind == "town" else "", names)

    def time(self, year: int) -> Filler:
        """A date in a year."""
        notation = self.rng.choice(fillers()["time"]).format(year=year)
        other = f"à le:d cours:m de le:d année:f {year}:Y" if notation.startswith("en ") else ""
        return Filler("time", notation, "", other)

    def place(self) -> Filler:
        """Where something happens: a landscape, or a town."""
        bank, river, town = fillers(), self.rng.choice(self.names.rivers), self.rng.choice(self.names.towns)
        if self.rng.random() < 0.6:
            notation = self.rng.choice(bank["place"])
            return Filler("place", notation.format(river=river), "", "", frozenset({river} if "{" in notation else ()))
        return Filler("place", self.rng.choice(bank["city_place"]).format(town=town), "", "", frozenset({town}))

    def fill(self, frame: Frame, unit: Unit, roles: list[str], year: int, agent: Filler | None) -> dict[str, Filler]:
        """Fillers for the roles of a frame, no name twice; the agent may be given.

        Frames share their fillers: who acts here acts elsewhere in the text, and what is acted on comes back.
        """
        filled: dict[str, Filler] = {}
        for role in roles:
            for _ in range(30):
                filler = self._candidate(frame, unit, role, year, agent)
                others = [each for each in filled.values() if each.names & filler.names or each == filler]
                lands = role == "place" and filler.names and any(each.kind in _LANDS for each in filled.values())
                if not others and not lands:
                    break
            filled[role] = filler
        return filled

    def _candidate(self, frame: Frame, unit: Unit, role: str, year: int, agent: Filler | None) -> Filler:
        rng = self.rng
        if role == "time":
            return self.time(year)
        if role == "place":
            return self.place()
        kinds = frame.kinds[role]
        if role == "agent" and not kinds:
            if agent is not None:
                return agent
            return self.agents[0] if rng.random() < _PROTAGONIST else rng.choice(self.agents[1:])
        if role == "agent" and agent is not None and agent.kind in kinds:
            return agent
        if role == "theme" and unit.kinds:
            kinds = unit.kinds
        met = [filler for kind in kinds for filler in self.known.get(kind, ())]
        if met and rng.random() < _FAMILIAR:
            return rng.choice(met)
        kind = rng.choice(kinds)
        filler = self.make(kind)
        if role == "third" and kind == "town":
            filler = Filler(kind, filler.other or filler.notation, "", "", filler.names)
        elif role != "reason":
            self.known.setdefault(kind, []).append(filler)
        return filler


_LANDS = ("town", "region", "monument", "battle", "works", "site", "hideout")
