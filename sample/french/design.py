"""Design of the questions: the factors of complexity.md §4 as cells with exact shares, and the frames by weight.

Factors are drawn independently of one another, each with the same share in every frame, and the element asked for is
independent of them all. So no factor is confounded with another, with a frame or with a mix of elements. A cell that
cannot be expressed in French (two core elements alone, in Origin) exchanges values with another.
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
    """Weights of frames and lexical units in a corpus, and the shares of its factors.

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
# Weight of each role as the element asked for: core elements have more, since they distinguish frames.
ASKED = {"agent": 0.22, "theme": 0.42, "time": 0.09, "place": 0.06, "reason": 0.05, "third": 0.16}
# Weight of the element that the text's events share, among elements to tell; the factor by which it is asked for less.
_FOCUS, _SHARED = 30.0, 0.3
SIZES = {3: 0.6, 4: 0.27, 5: 0.1, 6: 0.03}


@dataclass(frozen=True)
class Cell:
    """Factors that one question must have.

    Attributes:
        chain: f1, the answer is reached through a pronoun or a possessive.
        noun: f2, the trigger is a noun.
        absent: f3, the trigger is not in the question.
        far: f4, two or more arcs lie between trigger and answer.
        few: f5, the frame has two elements.
    """

    frame: Frame
    chain: bool
    noun: bool
    absent: bool
    far: bool
    few: bool


def allot(frames: Sequence[Frame], weights: Sequence[float], count: int, rng: random.Random) -> list[Frame]:
    """Return `count` frames in random order, with shares as close to their weights as whole numbers allow."""
    wanted = [weight * count / sum(weights) for weight in weights]
    counts = [int(number) for number in wanted]
    by_remainder = sorted(range(len(frames)), key=lambda place: counts[place] - wanted[place])
    for place in by_remainder[: count - sum(counts)]:
        counts[place] += 1
    drawn = [frame for frame, times in zip(frames, counts, strict=True) for _ in range(times)]
    rng.shuffle(drawn)
    return drawn


def balance(groups: Sequence[str], share: float, rng: random.Random) -> list[bool]:
    """Mark a `share` of all places, and of every group's to within two, at random within the groups.

    Systematic sampling: groups one after the other, their places in random order, every (1 / share)-th from a random
    start. Were groups ignored, a factor would by chance be correlated with frames that have few questions, and with
    their elements.
    """
    order = [*range(len(groups))]
    rng.shuffle(order)
    order.sort(key=groups.__getitem__)
    start, drawn = rng.random(), [False] * len(groups)
    for number, place in enumerate(order):
        drawn[place] = int(start + (number + 1) * share) > int(start + number * share)
    return drawn


def draw_cells(count: int, style: Style, rng: random.Random) -> list[Cell]:
    """Draw the cells of a corpus in a style."""
    every = list(frames().values())
    drawn = allot(every, [style.frame(frame) for frame in every], count, rng)
    names = [frame.name for frame in drawn]
    flags = {name: balance(names, share, rng) for name, share in style.shares.items()}
    made = [Cell(frame, **{name: flags[name][place] for name in SHARES}) for place, frame in enumerate(drawn)]
    for place, cell in enumerate(made):
        if "time" not in cell.frame.elements:
            for name, value in (("far", False), ("few", True), ("chain", False)):
                _swap(made, place, name, value, rng)
        if cell.chain and cell.noun and "theme" not in cell.frame.elements:  # "who did the death" is no question
            _swap(made, place, "chain", False, rng)
    return made


def _swap(made: list[Cell], place: int, name: str, value: bool, rng: random.Random) -> None:
    """Give a cell a value by exchanging it with a cell of another frame."""
    while getattr(made[place], name) != value:
        other = rng.randrange(len(made))
        if {"time", "theme"} <= {*made[other].frame.elements} and getattr(made[other], name) == value:
            for where, own in ((other, not value), (place, value)):
                changed: dict[str, Any] = {name: own}
                made[where] = replace(made[where], **changed)


def draw_role(frame: Frame, focus: str, rng: random.Random) -> str:
    """Draw the element asked for; seldom the text's focus, whose answer would be the same in every event."""
    roles = [role for role in ASKED if role in frame.elements]
    return rng.choices(roles, [ASKED[role] * (_SHARED if role == focus else 1) for role in roles])[0]


def choose_roles(frame: Frame, answer_role: str, *, few: bool, focus: str, rng: random.Random) -> list[str]:
    """Choose two or more elements of an instance, in the frame's order: the one asked for, mostly the focus, others."""
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
