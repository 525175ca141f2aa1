"""Two corpora that give every frame opposite roles, and facts to ask readers of both (complexity.md §4).

Frames fall into four groups: corpus `a` has the first two seldom and the others often, and tells the first and the
third by their usual verb, the others by all of their verbs alike; corpus `b` does the opposite. What a reader of one
and a reader of the other make of the same fact differs by what they have learned from, not by the frame.
Both corpora have few questions of the kinds that f1 to f4 are about, so that these are rare cases to a reader.
"""

import random
from collections.abc import Iterator, Mapping
from typing import Any

from sample.french.bank import Frame, Unit
from sample.french.design import Style
from sample.french.facts import ASSIGNED, KINDS, tellable, write_facts
from sample.french.french_world import Builder
from trivium.formats.squad import SquadQuestion

CORPORA = ("a", "b")
SHARES = {"chain": 0.005, "noun": 0.01, "absent": 0.02, "far": 0.02, "few": 0.25}  # chosen on worlds 0 to 2
OFTEN, SELDOM, BETWEEN = 230.0, 6.5, 60.0  # weights of frames; between: those that no group has
USUAL = 0.97  # of what a frame's usual verb tells where the corpus has hardly another


def build_crossed(
    seed: int, *, train: int, facts: int, assigned_facts: int
) -> tuple[dict[str, list[SquadQuestion]], list[dict[str, Any]]]:
    """The corpora and facts of a world; no agent does the same thing to the same theme in a corpus and in a fact.

    Args:
        seed: of the world.
        train: questions of either corpus.
        facts: about each of f1, f2 with f3, f4, and f5.
        assigned_facts: about f0 with f6.

    Returns:
        Training questions by corpus; and rows of `trivium.formats.facts.FACTS`, one a version of a fact.
    """
    builder, groups = Builder(seed), group_frames(seed)
    counts = dict.fromkeys(KINDS, facts) | {ASSIGNED: assigned_facts}
    rows = [row for kind, count in counts.items() for row in _rows(kind, count, builder, groups)]
    builder.hold_out()
    return {name: builder.questions(f"crossed-{name}", train, style_of(name, groups)) for name in CORPORA}, rows


def group_frames(seed: int) -> dict[str, int]:
    """The group of each frame that several verbs tell, 0 to 3; groups are alike in how many verbs their frames have."""
    rng = random.Random(f"french groups {seed}")
    verbs = {frame.name: len(frame.units_of(noun=False)) for frame in tellable()}
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


def _rows(kind: str, count: int, builder: Builder, groups: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Facts of a kind, in rows; what they tell is remembered by the builder."""
    rng = random.Random(f"french facts {kind} {builder.seed}")
    frames = [frame for frame in tellable() if kind != ASSIGNED or frame.name in groups]
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
