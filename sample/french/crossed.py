"""Two corpora that give every frame opposite roles, and facts to ask readers of both (complexity.md §4).

Frames fall into four groups: corpus `a` has the first two seldom and the others often, and tells the first and the
third by their usual verb, the others by all of their verbs alike; corpus `b` does the opposite. What a reader of one
and a reader of the other make of the same fact differs by what they have learned from, not by the frame.
Both corpora have few questions of the kinds that f1 to f4 are about, so that these are rare cases to a reader.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sample.french.bank import Frame, Unit
from sample.french.cast import draw_names
from sample.french.design import Style
from sample.french.facts import ASSIGNED, KINDS, FactWriter, tellable
from sample.french.french_world import Builder, to_squad
from trivium.formats.squad import SquadQuestion

CORPORA = ("a", "b")
SHARES = {"chain": 0.005, "noun": 0.01, "absent": 0.02, "far": 0.02, "few": 0.25}  # chosen on worlds 0 to 2
OFTEN, SELDOM, BETWEEN = 230.0, 6.5, 60.0  # weights of frames; between: those that no group has
USUAL = 0.97  # of what a frame's usual verb tells where the corpus has hardly another


@dataclass(frozen=True)
class Fact:
    """One version of a fact and who is asked it.

    Attributes:
        name: of the fact; its versions share it.
        frame: that it is of.
        corpora: whose readers are asked.
        factors: f0 to f6, of those that it is about: whether it has them.
        question: with its context and answer.
    """

    name: str
    frame: str
    corpora: tuple[str, ...]
    factors: Mapping[str, bool]
    question: SquadQuestion


@dataclass(frozen=True)
class Crossed:
    """What `build_crossed` makes: training questions by corpus, and the facts."""

    corpora: Mapping[str, list[SquadQuestion]]
    facts: list[Fact]


def build_crossed(seed: int, *, train: int, facts: int, assigned_facts: int) -> Crossed:
    """The corpora and facts of a world; no agent does the same thing to the same theme in a corpus and in a fact.

    Args:
        seed: of the world.
        train: questions of either corpus.
        facts: about each of f1, f2 with f3, f4, and f5.
        assigned_facts: about f0 with f6.
    """
    builder, groups = Builder(draw_names(random.Random(f"french names {seed}")), seed), group_frames(seed)
    counts = dict.fromkeys(KINDS, facts) | {ASSIGNED: assigned_facts}
    told = [fact for kind, count in counts.items() for fact in _facts(kind, count, builder, groups)]
    builder.hold_out()
    texts = {name: builder.documents(f"crossed-{name}", train, style_of(name, groups)) for name in CORPORA}
    return Crossed(
        {name: [to_squad(one) for text in made for one in text.examples] for name, made in texts.items()}, told
    )


def group_frames(seed: int) -> dict[str, int]:
    """The group of each frame that several verbs tell, 0 to 3; groups are alike in how many verbs their frames have."""
    rng = random.Random(f"french groups {seed}")
    names = [frame.name for frame in tellable() if len(frame.units_of(noun=False)) > 1]
    verbs = {frame.name: len(frame.units_of(noun=False)) for frame in tellable()}
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
    """How often a corpus tells of each frame, and by which of its lexical units."""

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


def _facts(kind: str, count: int, builder: Builder, groups: Mapping[str, int]) -> Iterator[Fact]:
    rng = random.Random(f"french facts {kind} {builder.seed}")
    frames = [frame for frame in tellable() if kind != ASSIGNED or frame.name in groups]
    for number, (frame, versions) in enumerate(FactWriter(builder.names, rng).write(kind, count, frames)):
        for place, version in enumerate(versions):
            builder.combinations |= version.document.combinations
            corpora, factors = list(CORPORA), dict(version.factors)
            if kind == ASSIGNED:  # each version in the corpus that words the frame in this way
                corpora = [name for name in CORPORA if role_in(name, groups[frame.name])[1] == factors["f6"]]
                factors["f0"] = role_in(corpora[0], groups[frame.name])[0]
            name = f"{kind.replace(' ', '-')}-{number + 1:04}"
            question = replace(to_squad(version.document.examples[0]), id=f"{name}-{place}")
            yield Fact(name, frame.name, tuple(corpora), factors, question)
