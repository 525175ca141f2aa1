"""Names of a world, and the cast of a text (its people and things) drawn from them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sample.french.bank import Frame, Unit, read
from sample.french.events import Event, Filler

_YEARS = 22  # years that events of a domain may have
_INDEFINITE = ("object", "document", "text", "building", "supply", "art", "component", "tool", "demand", "workers")
_BARE = ("post", "site", "hideout", "purpose", "cause")
_LANDS = ("town", "region", "monument", "battle", "works", "site", "hideout")
_SINGLE_TOWN = 0.5
_PROTAGONIST, _FAMILIAR = 0.9, 0.95


@dataclass(frozen=True)
class Names:
    """Invented names of a world; the list is limited, so that each name occurs often.

    Attributes:
        persons: (title, gender, name) of each person, by domain.
        years: years of events, by domain.
    """

    towns: Sequence[str]
    peoples: Sequence[str]
    rivers: Sequence[str]
    persons: dict[str, Sequence[tuple[str, str, str]]]
    years: dict[str, Sequence[int]]


def draw_names(rng: random.Random) -> Names:
    """Draw the names of a world, all of them different."""
    bank = read("words")
    taken = {*bank["real"]}

    def draw(kind: str, count: int) -> list[str]:
        possible = [head + ending for head, ending in product(bank["name_heads"], bank["name_endings"][kind])]
        rng.shuffle(possible)
        drawn = [name for name in possible if name not in taken][:count]
        taken.update(drawn)
        return drawn

    persons: dict[str, Sequence[tuple[str, str, str]]] = {}
    for domain, titles in read("fillers")["titles"].items():
        male = [(rng.choice(titles["m"]), "m", name) for name in draw("male", 9)]
        female = [(rng.choice(titles["f"]), "f", name) for name in draw("female", 7)]
        persons[domain] = male + female
    years: dict[str, Sequence[int]] = {
        domain: sorted(rng.sample(range(*era), _YEARS)) for domain, era in bank["eras"].items()
    }
    peoples = [name.lower() for name in draw("people", 10)]
    return Names(draw("town", 26), peoples, draw("river", 6), persons, years)


class Cast:
    """People and things that a text is about: fillers by kind, which recur.

    Attributes:
        agents: agents of the events, the protagonist first.
        focus: role of the filler that most of its events share: `agent` or `theme`.
        known: fillers that the text may mention again, by kind.
        mentioned: fillers mentioned so far.
    """

    def __init__(self, domain: str, names: Names, rng: random.Random) -> None:
        self.domain, self.names, self.rng = domain, names, rng
        self.agents: list[Filler] = []
        self.known: dict[str, list[Filler]] = {}
        self.mentioned: set[Filler] = set()
        while len(self.agents) < 4:
            person = self.make("person" if len(self.agents) % 2 == 0 else "band")
            if not any(person.names & agent.names for agent in self.agents):
                self.agents.append(person)
                self.known.setdefault(person.kind, []).append(person)
        rng.shuffle(self.agents)
        self.focus = rng.choice(("agent", "theme"))

    def make(self, kind: str) -> Filler:
        """Make a new filler of a kind."""
        rng, names = self.rng, self.names
        if kind == "person":
            title, gender, name = rng.choice(names.persons[self.domain])
            return Filler(kind, f"{title}:{gender} {name}:P{gender}", "le", f"{name}:P{gender}", frozenset({name}))
        town, people, river = (rng.choice(drawn) for drawn in (names.towns, names.peoples, names.rivers))
        if kind == "town" and rng.random() < _SINGLE_TOWN:
            return Filler(kind, f"{town}:Pf", names=frozenset({town}))
        options = read("fillers")[f"{kind}s" if kind == "band" else kind]
        template = rng.choice(options[self.domain] if kind in ("band", "purpose") else options)
        slots = {"town": town, "people": people, "river": river}
        held = frozenset(name for slot, name in slots.items() if f"{{{slot}}}" in template.lower())
        notation = template.format(**slots, People=people.capitalize())
        determiner = "" if kind in _BARE else "un" if kind in _INDEFINITE else "le"
        return Filler(kind, notation, determiner, f"{town}:Pf" if kind == "town" else "", held)

    def time(self, year: int) -> Filler:
        """Draw a date in a year."""
        notation = self.rng.choice(read("fillers")["time"]).format(year=year)
        other = f"à le:d cours:m de le:d année:f {year}:Y" if notation.startswith("en ") else ""
        return Filler("time", notation, other=other)

    def place(self) -> Filler:
        """Draw where something happens: a landscape, or a town."""
        river, town = self.rng.choice(self.names.rivers), self.rng.choice(self.names.towns)
        kind, name = ("place", river) if self.rng.random() < 0.6 else ("city_place", town)
        template = self.rng.choice(read("fillers")[kind])
        names = frozenset({name} if "{" in template else ())
        return Filler("place", template.format(river=river, town=town), names=names)

    def make_event(self, frame: Frame, unit: Unit, roles: list[str], year: int, agent: Filler | None) -> Event:
        """Make an event with fillers for the roles of its frame, no name twice; the agent may be given.

        Frames share fillers: the same people act, and the same things are acted on, in several events of a text.
        """
        filled: dict[str, Filler] = {}
        for role in roles:
            for _ in range(30):
                filler = self._candidate(frame, unit, role, year, agent)
                repeated = any(other.names & filler.names or other == filler for other in filled.values())
                lands = role == "place" and filler.names and any(other.kind in _LANDS for other in filled.values())
                if not repeated and not lands:
                    break
            filled[role] = filler
        return Event(frame, unit, filled)

    def _candidate(self, frame: Frame, unit: Unit, role: str, year: int, agent: Filler | None) -> Filler:
        rng = self.rng
        if role == "time":
            return self.time(year)
        if role == "place":
            return self.place()
        kinds = frame.kinds[role]
        if role == "agent" and agent is not None and (not kinds or agent.kind in kinds):
            return agent
        if role == "agent" and not kinds:
            return self.agents[0] if rng.random() < _PROTAGONIST else rng.choice(self.agents[1:])
        if role == "theme" and unit.kinds:
            kinds = unit.kinds
        met = [filler for kind in kinds for filler in self.known.get(kind, ())]
        if met and rng.random() < _FAMILIAR:
            return rng.choice(met)
        kind = rng.choice(kinds)
        filler = self.make(kind)
        if role == "third" and kind == "town":
            return Filler(kind, filler.other or filler.notation, names=filler.names)
        if role != "reason":
            self.known.setdefault(kind, []).append(filler)
        return filler
