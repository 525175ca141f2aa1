"""Facts that are told and asked with a factor of complexity.md §4 and without it, everything else alike.

f1, f4 and f5 are told twice and asked once: the agent as a pronoun or by name, the answer two arcs from the trigger or
one, two elements or four. f2 and f3 are told by a verb and by a noun, and each of the two is asked by both. f0 and f6
depend on what a reader has learned from: of the two corpora of `crossed.py` one has a frame often, the other seldom,
and one tells it by its usual verb, the other by several; each reader is asked in the words of its own corpus.

A fact counts only where all of its versions have the same answer, letter by letter but for the first capital.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sample.french.asking import Asked, Told, aside_frames, draw_unit, is_mistakable, pronoun_for, tell_aside
from sample.french.bank import Frame, Unit, frames
from sample.french.cast import Cast, Names
from sample.french.clauses import Verbal
from sample.french.design import Cell, asked_role, chosen_roles
from sample.french.events import Event, Filler, Telling, Wording
from sample.french.nominals import Nominal
from sample.french.questions import Question
from sample.french.texts import Document, make_document, make_title
from sample.french.tree import Line, Node, write

ATTEMPTS = 400
ASIDES = 2
NOUN = 0.12  # of the facts of f1, f4 and f5; f2's own are crossed
FEW = 0.59


@dataclass(frozen=True)
class Version:
    """One telling and question of a fact; `factors` says of those that it is about whether they are there."""

    factors: Mapping[str, bool]
    document: Document

    @property
    def answer(self) -> str:
        """What is right, as versions are compared by it."""
        text = self.document.examples[0].answer_text
        return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Scene:
    """What stands around a fact: its cast, the events before and after it, the year; `agent` acts just before it."""

    cast: Cast
    title: str
    before: tuple[Told, ...]
    after: tuple[Told, ...]
    year: int
    agent: Filler | None


class FactWriter:
    """Writes facts about the people and places of a world.

    Args:
        names: of the world.
        rng: of all draws.
    """

    def __init__(self, names: Names, rng: random.Random) -> None:
        self.names, self.rng = names, rng

    def write(self, kind: str, count: int, frames: Sequence[Frame]) -> Iterator[tuple[Frame, list[Version]]]:
        """So many facts of a kind (`KINDS`), with their versions, of these frames in turn.

        A frame that cannot tell such a fact is left out from then on.
        """
        able, made = list(frames), 0
        while made < count:
            frame = able[made % len(able)]
            versions = self._versions(KINDS[kind], frame)
            if versions is None:
                able.remove(frame)
            else:
                made += 1
                yield frame, versions

    def _versions(self, make: "Maker", frame: Frame) -> list[Version] | None:
        for _ in range(ATTEMPTS):
            scene = self._scene(frame, chain=make is FactWriter.chained)
            versions = make(self, frame, scene) if scene is not None else None
            if versions and len({version.answer for version in versions}) == 1:
                return versions
        return None

    def _scene(self, frame: Frame, *, chain: bool) -> Scene | None:
        """Two events that nobody asks about; the fact comes last where a chain leads to its agent."""
        rng = self.rng
        cast = Cast(rng.choice(frame.domains), self.names, rng)
        years = sorted(rng.sample(list(self.names.years[cast.domain]), ASIDES + 1))
        agent = rng.choice([each for each in cast.agents if each.is_people]) if chain else None
        place, taken, told = ASIDES if chain else rng.randrange(ASIDES + 1), {"death", frame.near}, []
        for position in range(ASIDES):
            other = rng.choice(aside_frames(cast.domain, taken))
            taken.add(other.near)
            acts = agent if position == place - 1 else None
            one = tell_aside(cast, other, years[position + (position >= place)], acts)
            if one is None:
                return None
            told.append(one)
        for one in told[:place]:
            cast.mentioned.update(one.event.fillers.values())
        title = make_title(cast.domain, rng.choice(self.names.towns))
        return Scene(cast, title, tuple(told[:place]), tuple(told[place:]), years[place], agent)

    def chained(self, frame: Frame, scene: Scene) -> list[Version] | None:
        """f1: the agent, who acted in the sentence before, as a pronoun or a possessive, and by name."""
        unit, agent = self._unit(frame), scene.agent
        roles = chosen_roles(frame, "agent", few=self.rng.random() < FEW, focus=scene.cast.focus, rng=self.rng)
        event = self._event(frame, unit, roles, scene)
        assert agent is not None
        if event.fillers.get("agent") != agent or is_mistakable(event, agent):
            return None
        seed, given = self.rng.random(), self._given(event, "agent")
        line = self._ask(event, unit, "agent", given)
        tellings = {
            True: self._tell(event, "agent", seed, scene, stand_in=pronoun_for(agent)),
            False: self._tell(event, "agent", seed, scene, stand_in=None if unit.is_noun else agent.tree()),
        }
        return self._both("f1", scene, "agent", given, line, {there: (event, told) for there, told in tellings.items()})

    def turned(self, frame: Frame, scene: Scene) -> list[Version] | None:
        """f2 and f3: told by a verb and by a noun, each of them asked by both."""
        units = {noun: draw_unit(frame, noun=noun, rng=self.rng) for noun in (False, True)}
        role, event = self._drawn(frame, units[bool(units[True].kinds)], scene)
        if not all(_takes(unit, event) for unit in units.values()):
            return None
        given, versions = self._given(event, role), []
        lines = {noun: self._ask(event, unit, role, given) for noun, unit in units.items()}
        for noun, unit in units.items():
            own = Event(frame, unit, event.fillers)
            told = self._tell(own, role, self.rng.random(), scene)
            for asked_by_noun, line in lines.items():
                if told is None or line is None:
                    return None
                factors = {"f2": noun, "f3": noun != asked_by_noun}
                versions.append(self._version(factors, scene, own, told, role, given, line))
        return versions

    def distant(self, frame: Frame, scene: Scene) -> list[Version] | None:
        """f4: the answer two arcs and more from the trigger, and one."""
        unit = self._unit(frame)
        role, event = self._drawn(frame, unit, scene)
        given = self._given(event, role)
        line = self._ask(event, unit, role, given)
        tellings = {far: (event, self._tell(event, role, self.rng.random(), scene, far=far)) for far in (True, False)}
        return self._both("f4", scene, role, given, line, tellings)

    def sparse(self, frame: Frame, scene: Scene) -> list[Version] | None:
        """f5: two elements, and four, of which the question names the same one."""
        rng, unit = self.rng, self._unit(frame)
        role = asked_role(frame, scene.cast.focus, rng)
        others = [each for each in frame.elements if each != role]
        if len(others) < 3:
            return None
        named = rng.choice([each for each in others if each in ("agent", "theme")] or others)
        more = {role, named, *rng.sample([each for each in others if each != named], 2)}
        event = self._event(frame, unit, [each for each in frame.elements if each in more], scene)
        few = event.only({role, named})
        line = self._ask(few, unit, role, (named,))
        tellings = {
            there: (own, self._tell(own, role, rng.random(), scene)) for there, own in ((True, few), (False, event))
        }
        return self._both("f5", scene, role, (named,), line, tellings)

    def reworded(self, frame: Frame, scene: Scene) -> list[Version] | None:
        """f6 (and f0, which `crossed.py` adds): told and asked by another verb than the usual one, and by that."""
        usual = usual_unit(frame)
        other = self.rng.choice([unit for unit in frame.units_of(noun=False) if unit != usual])
        role, event = self._drawn(frame, usual if usual.kinds else other, scene)
        given, versions, seed, asking = self._given(event, role), [], self.rng.random(), self.rng.random()
        for varied, unit in ((True, other), (False, usual)):
            own = Event(frame, unit, event.fillers)
            told = self._tell(own, role, seed, scene) if _takes(unit, event) else None
            line = make_question(event, unit, role, given, random.Random(asking))
            if told is None or line is None:
                return None
            versions.append(self._version({"f6": varied}, scene, own, told, role, given, line))
        return versions

    def _unit(self, frame: Frame) -> Unit:
        return draw_unit(frame, noun=self.rng.random() < NOUN, rng=self.rng)

    def _event(self, frame: Frame, unit: Unit, roles: list[str], scene: Scene) -> Event:
        return Event(frame, unit, scene.cast.fill(frame, unit, roles, scene.year, scene.agent))

    def _drawn(self, frame: Frame, unit: Unit, scene: Scene) -> tuple[str, Event]:
        """An element to ask for, and an event that has it."""
        role = asked_role(frame, scene.cast.focus, self.rng)
        roles = chosen_roles(frame, role, few=self.rng.random() < FEW, focus=scene.cast.focus, rng=self.rng)
        return role, self._event(frame, unit, roles, scene)

    def _given(self, event: Event, role: str) -> tuple[str, ...]:
        """The elements that the question names: a core one at least, where there is one."""
        others = [each for each in event.fillers if each != role]
        core = [each for each in others if each in ("agent", "theme")]
        given = {each for each in others if self.rng.random() < 0.65} or {self.rng.choice(others)}
        if core and not given & {*core}:
            given.add(self.rng.choice(core))
        return tuple(each for each in event.frame.elements if each in given)

    def _tell(
        self, event: Event, role: str, seed: float, scene: Scene, *, far: bool = False, stand_in: Node | None = None
    ) -> Telling | None:
        """A sentence with the element `far` from the trigger or not; with the same seed by the same choices."""
        wording = Wording(frozenset(scene.cast.mentioned), frozenset(), "afin_de")
        kind = Nominal if event.unit.is_noun else Verbal
        writer = kind(event, wording, random.Random(seed), stand_in)
        told = writer.tell(role, far=far) if writer.possible else None
        return told if told is not None and (told.arcs(role) >= 2) == far else None

    def _ask(self, event: Event, unit: Unit, role: str, given: Sequence[str]) -> Line | None:
        lines = (make_question(event, unit, role, given, self.rng) for _ in range(4))
        return next((line for line in lines if line is not None), None)

    def _both(
        self,
        factor: str,
        scene: Scene,
        role: str,
        given: Sequence[str],
        line: Line | None,
        tellings: Mapping[bool, tuple[Event, Telling | None]],
    ) -> list[Version] | None:
        """The two versions of a fact that is asked once, with the factor and without."""
        versions = []
        for there, (event, told) in tellings.items():
            if told is None or line is None:
                return None
            versions.append(self._version({factor: there}, scene, event, told, role, given, line))
        return versions

    def _version(
        self,
        factors: Mapping[str, bool],
        scene: Scene,
        event: Event,
        told: Telling,
        role: str,
        given: Sequence[str],
        line: Line,
    ) -> Version:
        is_pronoun = factors.get("f1", False)
        cell = Cell(event.frame, is_pronoun, event.unit.is_noun, factors.get("f3", False), told.arcs(role) >= 2,
                    len(event.fillers) == 2)  # fmt: skip
        fact = Told(event, told, Asked(cell, role, tuple(given), line), is_pronoun)
        return Version(factors, make_document("", scene.title, [*scene.before, fact, *scene.after]))


Maker = Callable[[FactWriter, Frame, Scene], list[Version] | None]
KINDS: Mapping[str, Maker] = {
    "f1": FactWriter.chained,
    "f2 f3": FactWriter.turned,
    "f4": FactWriter.distant,
    "f5": FactWriter.sparse,
    (ASSIGNED := "f0 f6"): FactWriter.reworded,
}


def usual_unit(frame: Frame) -> Unit:
    """The verb that tells a frame most often."""
    return max(frame.units_of(noun=False), key=lambda unit: unit.weight)


def tellable() -> list[Frame]:
    """The frames of which something happens; an origin only is."""
    return [frame for frame in frames().values() if frame.name != "Origin"]


def make_question(event: Event, unit: Unit, role: str, given: Sequence[str], rng: random.Random) -> Line | None:
    """The question for an element by a lexical unit, which names others; None where the unit does not lend itself."""
    named = frozenset(event.fillers[each] for each in given)
    asked = Question(event.only({*given}, unit), role, event.fillers[role], Wording(named), rng)
    tree = asked.tree()
    return None if tree is None else write(tree)


def _takes(unit: Unit, event: Event) -> bool:
    theme = event.fillers.get("theme")
    return theme is None or not unit.kinds or theme.kind in unit.kinds
