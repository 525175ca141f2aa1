"""What is asked how often: the factors of complexity.md §4 as cells with exact shares, and the frames by weight.

The factors are drawn independently of one another, each with its share within every frame, and the element that is
asked for independently of them all, so that no factor stands for another, for a frame or for a mix of elements; where a
cell cannot be put into French (nothing but two core elements in Origin), it changes places with another.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sample.french.bank import Frame, Unit, frames

# Shares of complexity.md §4: f1, f2, f3, f4, f5. f0 and f6 follow from the weights of the frames.
SHARES = {"chain": 0.06, "noun": 0.37, "absent": 0.45, "far": 0.12, "few": 0.59}


@dataclass(frozen=True)
class Style:
    """How often a corpus tells and asks of what.

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
T = TypeVar("T")


@dataclass(frozen=True)
class Cell:
    """What one question is to be like.

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


def exact(shares: Sequence[tuple[T, float]], count: int, rng: random.Random) -> list[T]:
    """`count` values in random order, by their shares as exactly as whole numbers allow."""
    total = sum(share for _, share in shares)
    wanted = [share * count / total for _, share in shares]
    counts = [int(number) for number in wanted]
    by_remainder = sorted(range(len(shares)), key=lambda place: counts[place] - wanted[place])
    for place in by_remainder[: count - sum(counts)]:
        counts[place] += 1
    values = [value for (value, _), times in zip(shares, counts, strict=True) for _ in range(times)]
    rng.shuffle(values)
    return values


def balanced(groups: Sequence[str], share: float, rng: random.Random) -> list[bool]:
    """Which places are true: `share` of all and of every group, to less than two places; random within the groups.

    Systematic sampling: groups one after the other, their places in random order, every (1 / share)-th from a random
    start. Drawn without regard to groups, a factor goes along with frames of a few questions each by chance, and so
    with their elements.
    """
    order = [*range(len(groups))]
    rng.shuffle(order)
    order.sort(key=groups.__getitem__)
    start, found = rng.random(), [False] * len(groups)
    for number, place in enumerate(order):
        found[place] = int(start + (number + 1) * share) > int(start + number * share)
    return found


def cells(count: int, style: Style, rng: random.Random) -> list[Cell]:
    """The cells of a corpus in a style."""
    drawn = exact([(frame, style.frame(frame)) for frame in frames().values()], count, rng)
    names = [frame.name for frame in drawn]
    flags = {name: balanced(names, share, rng) for name, share in style.shares.items()}
    found = [Cell(frame, **{name: flags[name][place] for name in SHARES}) for place, frame in enumerate(drawn)]
    for place, cell in enumerate(found):
        if "time" not in cell.frame.elements:
            for name, value in (("far", False), ("few", True), ("chain", False)):
                _swap(found, place, name, value, rng)
        if cell.chain and cell.noun and "theme" not in cell.frame.elements:  # no one asks "who did the death"
            _swap(found, place, "chain", False, rng)
    return found


def _swap(found: list[Cell], place: int, name: str, value: bool, rng: random.Random) -> None:
    """Give a cell a value by exchange with a cell of another frame that has it."""
    while getattr(found[place], name) != value:
        other = rng.randrange(len(found))
        if {"time", "theme"} <= {*found[other].frame.elements} and getattr(found[other], name) == value:
            found[other] = _with(found[other], name, not value)
            found[place] = _with(found[place], name, value)


def _with(cell: Cell, name: str, value: bool) -> Cell:
    flags = {each: getattr(cell, each) for each in SHARES}
    return Cell(cell.frame, **{**flags, name: value})


def asked_role(frame: Frame, focus: str, rng: random.Random) -> str:
    """The element that is asked for: seldom the text's focus, which would have the same answer in every event."""
    roles = [role for role in ASKED if role in frame.elements]
    return rng.choices(roles, [ASKED[role] * (_SHARED if role == focus else 1) for role in roles])[0]


def chosen_roles(frame: Frame, asked: str, *, few: bool, focus: str, rng: random.Random) -> list[str]:
    """The elements of an instance, two or more, in the frame's order: the one asked for, mostly the focus, others."""
    most = len(frame.elements)
    sizes = {size: weight for size, weight in SIZES.items() if size <= most} or {most: 1.0}
    size = 2 if few else rng.choices(list(sizes), list(sizes.values()))[0]
    rest = [role for role in frame.elements if role != asked]
    weights = {"agent": 4.0, "theme": 4.0, "third": 1.5} | {focus: _FOCUS}
    roles = {asked}
    while len(roles) < min(size, most):
        left = [role for role in rest if role not in roles]
        roles.add(rng.choices(left, [weights.get(role, 1.0) for role in left])[0])
    return [role for role in frame.elements if role in roles]
