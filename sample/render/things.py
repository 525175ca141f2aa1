"""Things: kinds are files of `kinds`, from which an entity's dice choose; drawings fill about [-1, 1]², y down."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sample.render.canvas import Colour, Dice
from sample.render.kit import Pen, Shape, choose_colour, read

THINGS = ("flag", "coat_of_arms", "logo", "ship", "bridge", "building", "landscape", "animal", "instrument")


@dataclass(frozen=True)
class Kind:
    """Kind of thing, as read from its file; `kit.py` explains how parts are written.

    Palettes, caption and backdrop may differ by sort, with "else" for the others. Finally
    the whole drawing is bent, so that no two entities have the same proportions.

    Attributes:
        fill: share of a picture's side that the drawing usually fills.
        backdrop: keys of `photographs.BACKDROPS`, from far to near.
        caption: caption of the picture, with the names of sort, figure, traits and colours in braces.
        sorts: the parts of each sort; `under` and `over` are drawn before and after.
        colours: the palette of each colour.
        traits: [lowest, highest] of a whole number; [probability, text] of an optional part; or choices.
        warp: how far points at -0.5 and 0.5 of both axes may move, as a share of 0.5.
        stretch: how much width and height may change, as a share.
        graphic: whether its reference picture is the design alone on white, not a photograph.
    """

    fill: float
    backdrop: Any
    caption: Any
    sorts: dict[str, list[Any]]
    colours: dict[str, Any]
    traits: dict[str, list[Any]] = field(default_factory=dict)
    under: list[Any] = field(default_factory=list)
    over: list[Any] = field(default_factory=list)
    warp: float = 0.0
    stretch: float = 0.0
    graphic: bool = False


@dataclass(frozen=True)
class Thing:
    """Looks of one thing: its kind and sort, its caption, its backdrop, and its shapes."""

    kind: Kind
    category: str
    caption: str
    backdrop: list[str]
    shapes: list[Shape]


@lru_cache(maxsize=1024)
def thing_of(name: str, identity: int) -> Thing:
    """Draw the looks of the thing of a kind with an identity."""
    kind, dice = Kind(**read(name)), Dice(name, identity)
    sort = dice.choice(tuple(kind.sorts))
    words: dict[str, Any] = {"sort": sort, "figure": dice.choice(tuple(read("charges")))}
    traits = {trait: _trait(choices, dice) for trait, choices in kind.traits.items()}
    names: dict[str, str] = {}
    colours: dict[str, Colour] = {}
    for slot, palettes in kind.colours.items():
        names[slot], colours[slot] = choose_colour(
            dice, _of_sort(palettes, sort), besides=list(names.values()), stray=0 if kind.graphic else 16
        )
    words |= traits | names
    shapes = Pen(dice, traits, colours, figure=words["figure"]).shapes([kind.under, kind.sorts[sort], kind.over])
    across, down = _bend(kind, dice), _bend(kind, dice)
    bent = [Shape([(across(x), down(y)) for x, y in shape.points], shape.fill, shape.width) for shape in shapes]
    # Twice, since the text of a trait may name other traits.
    caption = _of_sort(kind.caption, sort).format(**words).format(**words)
    return Thing(kind, sort, caption, _of_sort(kind.backdrop, sort), bent)


def _of_sort(choice: Any, sort: str) -> Any:
    return choice.get(sort, choice["else"]) if isinstance(choice, dict) else choice


def _trait(choices: Sequence[Any], dice: Dice) -> Any:
    first, last = choices[0], choices[-1]
    if isinstance(first, int):
        return dice.integer(first, last)
    if isinstance(first, float):
        return last if dice.chance(first) else ""
    return dice.choice(choices)


def _bend(kind: Kind, dice: Dice) -> Callable[[float], float]:
    """Draw a map of an axis that keeps 0: linear between -1, -0.5, 0, 0.5 and 1, and beyond."""
    scale = 1 + dice.uniform(-kind.stretch, kind.stretch)
    inner = {side: 0.5 + dice.uniform(-0.5, 0.5) * kind.warp for side in (-1, 1)}

    def bend(value: float) -> float:
        side = -1 if value < 0 else 1
        size, middle = abs(value), inner[side]
        bent = size * middle * 2 if size < 0.5 else middle + (size - 0.5) * (1 - middle) * 2
        return side * scale * bent

    return bend
