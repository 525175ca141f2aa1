"""How often what is asked: the factors of complexity.md §4 as cells with exact shares, and the frames by weight.

The factors are drawn independently of one another, each with its share within every frame, and the element that is
asked for independently of them all, so that no factor stands for another, for a frame or for a mix of elements; where a
cell cannot be put into French (nothing but two core elements in Origin), it changes places with another.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sample.french.bank import Frame, Unit, frames

# Shares of complexity.md §4: f1, f2, f3, f4, f5. f0 and f6 follow from the weights of the frames.
SHARES = {"chain": 0.06, "noun": 0.37, "absent": 0.45, "far": 0.12, "few": 0.59}


@dataclass(frozen=True)
class Style:
    """How often a corpus tells of each frame and has each factor, and in which words.

    Attributes:
        shares: of the factors, by their names in `Cell`.
        frame: the weight of a frame.
        unit: the weight of a lexical unit among those of its frame and part of speech.
    """

    shares: Mapping[str, float]
    frame: Callable[[Frame], float]
    unit: Callable[[Frame, Unit], float] = lambda _, unit: unit.weight


CALOR = Style(SHARES, lambda frame: frame.evaluation)
FQUAD = Style(SHARES, lambda frame: frame.adaptation)
# How often an element is asked for, by its role: mostly core ones, which tell frames apart.
ASKED = {"agent": 0.22, "theme": 0.42, "time": 0.09, "place": 0.06, "reason": 0.05, "third": 0.16}
# Among elements to tell, the weight of what the text's events share; how much more seldom it is asked for.
_FOCUS, _SHARED = 30.0, 0.3
SIZES = {3: 0.6, 4: 0.27, 5: 0.1, 6: 0.03}


@dataclass(frozen=True)
class Cell:
    """The factors that one question must have.

    Attributes:
        chain: f1, the answer is reached through a pronoun or a possessive.
        noun: f2, the trigger is a noun.
        absent: f3, the trigger does not stand in the question.
        far: f4, two arcs and more lie between trigger and answer.
        few: f5, the frame has two elements.
    """

    frame: Frame
    chain: bool
    noun: bool
    absent: bool
    far: bool
    few: bool


def allot(frames: Sequence[Frame], weights: Sequence[float], count: int, rng: random.Random) -> list[Frame]:
    """`count` frames in random order, by their weights as exactly as whole numbers allow."""
    wanted = [weight * count / sum(weights) for weight in weights]
    counts = [int(number) for number in wanted]
    by_remainder = sorted(range(len(frames)), key=lambda place: counts[place] - wanted[place])
    for place in by_remainder[: count - sum(counts)]:
        counts[place] += 1
    drawn = [frame for frame, times in zip(frames, counts, strict=True) for _ in range(times)]
    rng.shuffle(drawn)
    return drawn


def balance(groups: Sequence[str], share: float, rng: random.Random) -> list[bool]:
    """Which places are true: `share` of all and of every group, to less than two places; random within the groups.

    Systematic sampling: groups one after the other, their places in random order, every (1 / share)-th from a random
    start. Drawn without regard to groups, a factor goes along with frames of a few questions each by chance, and so
    with their elements.
    """
    order = [*range(len(groups))]
    rng.shuffle(order)
    order.sort(key=groups.__getitem__)
    start, drawn = rng.random(), [False] * len(groups)
    for number, place in enumerate(order):
        drawn[place] = int(start + (number + 1) * share) > int(start + number * share)
    return drawn


def draw_cells(count: int, style: Style, rng: random.Random) -> list[Cell]:
    """The cells of a corpus in a style."""
    every = list(frames().values())
    drawn = allot(every, [style.frame(frame) for frame in every], count, rng)
    names = [frame.name for frame in drawn]
    flags = {name: balance(names, share, rng) for name, share in style.shares.items()}
    made = [Cell(frame, **{name: flags[name][place] for name in SHARES}) for place, frame in enumerate(drawn)]
    for place, cell in enumerate(made):
        if "time" not in cell.frame.elements:
            for name, value in (("far", False), ("few", True), ("chain", False)):
                _swap(made, place, name, value, rng)
        if cell.chain and cell.noun and "theme" not in cell.frame.elements:  # no one asks "who did the death"
            _swap(made, place, "chain", False, rng)
    return made


def _swap(made: list[Cell], place: int, name: str, value: bool, rng: random.Random) -> None:
    """Give a cell a value by exchange with a cell of another frame that has it."""
    while getattr(made[place], name) != value:
        other = rng.randrange(len(made))
        if {"time", "theme"} <= {*made[other].frame.elements} and getattr(made[other], name) == value:
            for where, own in ((other, not value), (place, value)):
                changed: dict[str, Any] = {name: own}
                made[where] = replace(made[where], **changed)


def draw_role(frame: Frame, focus: str, rng: random.Random) -> str:
    """The element that is asked for: seldom the text's focus, which would have the same answer in every event."""
    roles = [role for role in ASKED if role in frame.elements]
    return rng.choices(roles, [ASKED[role] * (_SHARED if role == focus else 1) for role in roles])[0]


def choose_roles(frame: Frame, answer_role: str, *, few: bool, focus: str, rng: random.Random) -> list[str]:
    """The elements of an instance, two or more, in the frame's order: the one asked for, mostly the focus, others."""
    most = len(frame.elements)
    sizes = {size: weight for size, weight in SIZES.items() if size <= most} or {most: 1.0}
    size = 2 if few else rng.choices(list(sizes), list(sizes.values()))[0]
    rest = [role for role in frame.elements if role != answer_role]
    weights = {"agent": 4.0, "theme": 4.0, "third": 1.5} | {focus: _FOCUS}
    roles = {answer_role}
    while len(roles) < min(size, most):
        left = [role for role in rest if role not in roles]
        roles.add(rng.choices(left, [weights.get(role, 1.0) for role in left])[0])
    return [role for role in frame.elements if role in roles]
