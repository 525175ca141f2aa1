"""Facts told and asked with and without a factor of complexity.md §4, and two corpora for readers of both versions.

Facts for f1, f4 and f5 are told twice and asked once: the agent is a pronoun or a name, the answer is two arcs from the
trigger or one, there are two elements or four. For f2 and f3 a fact is told by a verb and by a noun, and each text is
asked by both. f0 and f6 depend on the training corpus: a frame is frequent in one corpus and rare in the other, and is
told by its usual verb in one and by several in the other. Each reader is asked in the words of its own corpus.

A fact counts only if all of its versions have the same answer, ignoring the case of the first letter.

The corpora give every frame opposite roles. Frames fall into four groups: in corpus `a` the first two are rare and the
others frequent, and the first and the third are told by their usual verb, the others by all their verbs equally often;
corpus `b` does the opposite. So on the same fact readers of the two corpora differ by their training, not by the frame.
Both corpora have few questions with f1 to f4, so that these are rare cases to a reader.
"""

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sample.french.asking import (
    Query,
    Statement,
    aside_frames,
    ask,
    draw_given,
    draw_unit,
    is_mistakable,
    pronoun_for,
    tell,
    tell_aside,
)
from sample.french.bank import Frame, Unit, frames
from sample.french.cast import Cast, Names
from sample.french.design import Style, choose_roles, draw_role
from sample.french.events import Event, Filler, Wording
from sample.french.french_world import Builder
from sample.french.texts import LAST, Document, draw_title, make_document
from sample.french.tree import Node
from trivium.formats.squad import SquadQuestion

ATTEMPTS = 400
ASIDES = 2
NOUN = 0.12  # share of facts of f1, f4 and f5 whose trigger is a noun; those of f2 have both
FEW = 0.59


@dataclass(frozen=True)
class Version:
    """One telling of a fact with its question; `factors` says which of the fact's factors it has."""

    factors: Mapping[str, bool]
    document: Document

    @property
    def answer(self) -> str:
        """The answer, in the form in which versions are compared."""
        text = self.document.examples[0].answer_text
        return text[:1].lower() + text[1:]


@dataclass(frozen=True)
class Scene:
    """Surroundings of a fact: its cast, the events before and after it, the year; `agent` acts just before it."""

    frame: Frame
    cast: Cast
    title: str
    before: Sequence[Statement]
    after: Sequence[Statement]
    year: int
    agent: Filler | None

    def draw_unit(self) -> Unit:
        """Draw a lexical unit of the frame, mostly a verb."""
        return draw_unit(self.frame, noun=self.cast.rng.random() < NOUN, rng=self.cast.rng)

    def draw_event(self, unit: Unit, role: str = "") -> tuple[str, Event]:
        """Draw an event and an element to ask for: `role`, if it is given."""
        cast = self.cast
        role = role or draw_role(self.frame, cast.focus, cast.rng)
        roles = choose_roles(self.frame, role, few=cast.rng.random() < FEW, focus=cast.focus, rng=cast.rng)
        return role, cast.make_event(self.frame, unit, roles, self.year, self.agent)

    def ask(self, event: Event, unit: Unit, role: str, given: tuple[str, ...]) -> Query | None:
        """Make the question by a lexical unit; None where the unit cannot ask for it."""
        questions = (ask(event, unit, role, given, _word_given(event, given), self.cast.rng) for _ in range(4))
        return next((question for question in questions if question is not None), None)

    def tell(
        self, factors: Mapping[str, bool], event: Event, query: Query | None, seed: float, stand_in: Node | None = None
    ) -> Version | None:
        """Make the version with these factors; the same seed makes the same choices. None when there is no way."""
        if query is None:
            return None
        wording, far = Wording(frozenset(self.cast.mentioned), marker="afin_de"), factors.get("f4", False)
        telling = tell(event, query.role, wording, random.Random(seed), far=far, stand_in=stand_in)
        if telling is None or (telling.arcs(query.role) >= 2) != far:
            return None
        statement = Statement(event, telling, query, pronoun=factors.get("f1", False))
        return Version(factors, make_document("", self.title, [*self.before, statement, *self.after]))


def write_facts(
    kind: str, count: int, frames: Sequence[Frame], names: Names, rng: random.Random
) -> Iterator[tuple[Frame, list[Version]]]:
    """Make `count` facts of a kind (`KINDS`) about the people and places of a world, of these frames in turn.

    A frame with which no such fact can be told is not tried again.
    """
    able, made = list(frames), 0
    while made < count:
        frame = able[made % len(able)]
        versions = _write_fact(kind, frame, names, rng)
        if versions is None:
            able.remove(frame)
        else:
            made += 1
            yield frame, versions


def _write_fact(kind: str, frame: Frame, names: Names, rng: random.Random) -> list[Version] | None:
    for _ in range(ATTEMPTS):
        scene = _draw_scene(frame, names, rng, chain=kind == "f1")
        versions: list[Version] = []
        for version in KINDS[kind](scene) if scene is not None else ():
            if version is None:
                break
            versions.append(version)
        else:
            if len({version.answer for version in versions}) == 1:
                return versions
    return None


def _draw_scene(frame: Frame, names: Names, rng: random.Random, *, chain: bool) -> Scene | None:
    """Draw two events without questions; the fact comes last where a chain leads to its agent."""
    cast = Cast(rng.choice(frame.domains), names, rng)
    years = sorted(rng.sample(cast.names.years[cast.domain], ASIDES + 1))
    agent = rng.choice([agent for agent in cast.agents if agent.is_people]) if chain else None
    place = ASIDES if chain else rng.randrange(ASIDES + 1)
    used, asides = {LAST, frame.near}, []
    for position, year in enumerate(years[:place] + years[place + 1 :]):
        other = rng.choice(aside_frames(cast.domain, used))
        used.add(other.near)
        statement = tell_aside(cast, other, year, agent if position == place - 1 else None)
        if statement is None:
            return None
        asides.append(statement)
    for statement in asides[:place]:
        cast.mentioned.update(statement.event.fillers.values())
    return Scene(frame, cast, draw_title(cast), asides[:place], asides[place:], years[place], agent)


def _write_chained(scene: Scene) -> Iterator[Version | None]:
    """f1: the agent acted in the sentence before; it is a pronoun or possessive in one version, a name in the other."""
    unit, agent, rng = scene.draw_unit(), scene.agent, scene.cast.rng
    role, event = scene.draw_event(unit, "agent")
    if agent is None or event.fillers.get("agent") != agent or is_mistakable(event, agent):
        return
    seed, given = rng.random(), draw_given(event, role, rng)
    query = scene.ask(event, unit, role, given)
    named = None if unit.is_noun else Wording().tree(agent)
    for is_there, stand_in in ((True, pronoun_for(agent)), (False, named)):
        yield scene.tell({"f1": is_there}, event, query, seed, stand_in)


def _write_turned(scene: Scene) -> Iterator[Version | None]:
    """f2 and f3: told by a verb and by a noun, each of them asked by both."""
    rng = scene.cast.rng
    units = {noun: draw_unit(scene.frame, noun=noun, rng=rng) for noun in (False, True)}
    role, event = scene.draw_event(units[bool(units[True].kinds)])
    if not all(event.suits(unit) for unit in units.values()):
        return
    given = draw_given(event, role, rng)
    questions = {noun: scene.ask(event, unit, role, given) for noun, unit in units.items()}
    for noun, unit in units.items():
        seed = rng.random()
        for by_noun, query in questions.items():
            yield scene.tell({"f2": noun, "f3": noun != by_noun}, replace(event, unit=unit), query, seed)


def _write_distant(scene: Scene) -> Iterator[Version | None]:
    """f4: the answer is two or more arcs from the trigger, or one."""
    unit, rng = scene.draw_unit(), scene.cast.rng
    role, event = scene.draw_event(unit)
    query = scene.ask(event, unit, role, draw_given(event, role, rng))
    seeds = {True: rng.random(), False: rng.random()}
    for is_far, seed in seeds.items():
        yield scene.tell({"f4": is_far}, event, query, seed)


def _write_sparse(scene: Scene) -> Iterator[Version | None]:
    """f5: the event has two elements, or four; the question names the same one of them."""
    frame, rng, unit = scene.frame, scene.cast.rng, scene.draw_unit()
    role = draw_role(frame, scene.cast.focus, rng)
    others = [other for other in frame.elements if other != role]
    if len(others) < 3:
        return
    named = rng.choice([other for other in others if other in ("agent", "theme")] or others)
    more = {role, named, *rng.sample([other for other in others if other != named], 2)}
    roles = [role for role in frame.elements if role in more]
    event = scene.cast.make_event(frame, unit, roles, scene.year, scene.agent)
    few = event.only((role, named))
    query = scene.ask(few, unit, role, (named,))
    seeds = {True: rng.random(), False: rng.random()}
    for is_few, seed in seeds.items():
        yield scene.tell({"f5": is_few}, few if is_few else event, query, seed)


def _write_reworded(scene: Scene) -> Iterator[Version | None]:
    """f6 (and f0, which the corpora add): told and asked by another verb than the usual one, and by the usual one."""
    rng, verbs = scene.cast.rng, scene.frame.units_of(noun=False)
    usual = max(verbs, key=lambda unit: unit.weight)
    other = rng.choice([unit for unit in verbs if unit != usual])
    role, event = scene.draw_event(usual if usual.kinds else other)
    given, seed, asking = draw_given(event, role, rng), rng.random(), rng.random()
    for is_varied, unit in ((True, other), (False, usual)):
        query = ask(event, unit, role, given, _word_given(event, given), random.Random(asking))
        reworded = replace(event, unit=unit)
        yield scene.tell({"f6": is_varied}, reworded, query, seed) if event.suits(unit) else None


KINDS: Mapping[str, Callable[[Scene], Iterator[Version | None]]] = {
    "f1": _write_chained,
    "f2 f3": _write_turned,
    "f4": _write_distant,
    "f5": _write_sparse,
    (ASSIGNED := "f0 f6"): _write_reworded,
}


def get_tellable() -> list[Frame]:
    """Return the frames that describe something happening: all but Origin."""
    return [frame for frame in frames().values() if frame.name != "Origin"]


def _word_given(event: Event, given: Collection[str]) -> Wording:
    return Wording(frozenset(event.fillers[role] for role in given))


CORPORA = ("a", "b")
SHARES = {"chain": 0.005, "noun": 0.01, "absent": 0.02, "far": 0.02, "few": 0.25}  # chosen on worlds 0 to 2
OFTEN, SELDOM, BETWEEN = 230.0, 6.5, 60.0  # weights of frames; BETWEEN: of frames in no group
USUAL = 0.97  # share of a frame's usual verb where the corpus has few others


def build_crossed(
    seed: int, *, train: int, facts: int, assigned_facts: int
) -> tuple[dict[str, list[SquadQuestion]], list[dict[str, Any]]]:
    """Build the corpora and facts of a world; no agent does the same to the same theme in a corpus and in a fact.

    Args:
        seed: seed of the world.
        train: number of questions of each corpus.
        facts: number of facts about each of f1, f2 with f3, f4, and f5.
        assigned_facts: number of facts about f0 with f6.

    Returns:
        Training questions by corpus; and rows of `trivium.formats.facts.FACTS`, one for each version of a fact.
    """
    builder, groups = Builder(seed), group_frames(seed)
    counts = dict.fromkeys(KINDS, facts) | {ASSIGNED: assigned_facts}
    rows = [row for kind, count in counts.items() for row in _rows(kind, count, builder, groups)]
    builder.hold_out()
    return {name: builder.questions(f"crossed-{name}", train, style_of(name, groups)) for name in CORPORA}, rows


def group_frames(seed: int) -> dict[str, int]:
    """Return the group, 0 to 3, of each frame with several verbs; groups are alike in how many verbs frames have."""
    rng = random.Random(f"french groups {seed}")
    verbs = {frame.name: len(frame.units_of(noun=False)) for frame in get_tellable()}
    names = [name for name, count in verbs.items() if count > 1]
    names.sort(key=lambda name: (-verbs[name], rng.random()))
    groups: dict[str, int] = {}
    for start in range(0, len(names) - len(names) % 4, 4):
        groups |= dict(zip(rng.sample(names[start : start + 4], 4), range(4), strict=True))
    return groups


def role_in(corpus: str, group: int) -> tuple[bool, bool]:
    """Whether a corpus has the frames of a group seldom (f0), and whether it tells them by several verbs (f6)."""
    seldom, varied = group < 2, group % 2 == 1
    return (seldom, varied) if corpus == "a" else (not seldom, not varied)


def style_of(corpus: str, groups: Mapping[str, int]) -> Style:
    """Return the style of a corpus: the weights of frames, and of the lexical units of each."""

    def weigh_frame(frame: Frame) -> float:
        if frame.name not in groups:
            return BETWEEN
        return SELDOM if role_in(corpus, groups[frame.name])[0] else OFTEN

    def weigh_unit(frame: Frame, unit: Unit) -> float:
        if frame.name not in groups:
            return unit.weight
        if role_in(corpus, groups[frame.name])[1]:
            return 1.0
        same = frame.units_of(noun=unit.is_noun)
        return USUAL if unit == max(same, key=lambda other: other.weight) else (1 - USUAL) / len(same)

    return Style(SHARES, weigh_frame, weigh_unit)


def _rows(kind: str, count: int, builder: Builder, groups: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Make facts of a kind, as rows; the builder remembers what they tell."""
    rng = random.Random(f"french facts {kind} {builder.seed}")
    frames = [frame for frame in get_tellable() if kind != ASSIGNED or frame.name in groups]
    for number, (frame, versions) in enumerate(write_facts(kind, count, frames, builder.names, rng), 1):
        name = f"{kind.replace(' ', '-')}-{number:04}"
        for place, version in enumerate(versions):
            builder.combinations |= version.document.combinations
            corpora, factors = list(CORPORA), dict(version.factors)
            if kind == ASSIGNED:  # each version in the corpus that words the frame in this way
                corpora = [name for name in CORPORA if role_in(name, groups[frame.name])[1] == factors["f6"]]
                factors["f0"] = role_in(corpora[0], groups[frame.name])[0]
            (example,) = version.document.examples
            row = {"id": f"{name}-{place}", "fact": name, "frame": frame.name, "corpora": corpora, **factors}
            query = {"context": example.text.text, "question": example.question, "answer": example.answer_text}
            yield {**row, **query}
