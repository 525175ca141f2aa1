"""Scenes: which objects are where, on which background, and the picture of a scene.

Objects are small transparent pictures whose kinds are recognisable at a height of 14 pixels.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from PIL import Image

from sample.render.canvas import OVERSAMPLING, Canvas, Colour, Dice, Frame, shade, smooth
from sample.scenes.backgrounds import BACKGROUNDS, background
from sample.scenes.catalogue import COLOURS, KINDS, MOUNTS, PAINTS, Cast, Mount


@cache
def sprite(kind: str, look: int, colour: str, side: int, flip: bool) -> Image.Image:
    """Draw an object that fits a square of `side` pixels, cropped to its visible part; RGBA."""
    canvas = Canvas(OVERSAMPLING * side, (0, 0, 0, 0), Frame(a=-1.0, c=1.0) if flip else Frame())
    for part in KINDS[kind].looks[look].drawing:
        _draw_part(canvas, part, COLOURS[colour])
    drawn = canvas.finish().reduce(OVERSAMPLING)
    return drawn.crop(drawn.getchannel("A").getbbox())


def _draw_part(canvas: Canvas, part: list[Any], own: Colour) -> None:
    """Draw a part, as `bank/kinds.yaml` describes them; `own` is the object's colour."""
    shape, paint, *rest = part
    fill = own if paint == "own" else PAINTS[paint] if isinstance(paint, str) else shade(own, paint)
    if shape == "line":
        canvas.line(rest[1:], fill, rest[0])
    elif shape in ("polygon", "blob"):
        canvas.polygon(smooth(rest) if shape == "blob" else rest, fill)
    else:
        (wide, high), *places = rest
        for x, y in places:
            if shape == "box":
                canvas.rectangle(x, y, x + wide, y + high, fill)
            else:
                canvas.ellipse(x, y, wide, high, fill, start=180 if shape == "dome" else 0)


_CLOTHES = ("white", "green", "orange")  # colours that captions do not mention
_TWINS, _MOUNTED, _CROWDED = 0.12, 0.6, 0.15


@dataclass(frozen=True)
class Thing:
    """Object in a scene; `left`, `top`, `width`, `height` are those of its visible part, in pixels."""

    kind: str
    look: int
    colour: str
    side: int
    flip: bool
    left: int = 0
    top: int = 0
    width: int = 0
    height: int = 0

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Bounding box (left, top, width, height)."""
        return self.left, self.top, self.width, self.height

    def picture(self) -> Image.Image:
        """Draw the object alone, RGBA."""
        return sprite(self.kind, self.look, self.colour, self.side, self.flip)

    def resized(self, side: int) -> "Thing":
        """Return the same object, not placed yet, fitting a square of `side` pixels."""
        width, height = sprite(self.kind, self.look, self.colour, side, self.flip).size
        return replace(self, side=side, width=width, height=height)


@dataclass(frozen=True)
class Scene:
    """Objects and their places on a background.

    Attributes:
        seed: seed of the background's details.
        background: one of `BACKGROUNDS`.
        size: side of the picture in pixels.
        horizon: the row where the ground begins.
        things: from back to front.
        mounted: (rider, carrier, mount) where one thing rides on another, as indices into `things`; else None.
    """

    seed: str
    background: str
    size: int
    horizon: int
    things: tuple[Thing, ...]
    mounted: tuple[int, int, Mount] | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its objects, sorted."""
        return tuple(sorted({thing.kind for thing in self.things}))

    def fingerprint(self) -> tuple[object, ...]:
        """Return a value that is equal for the same objects at the same places on the same background."""
        return self.background, *sorted((thing.kind, *thing.box) for thing in self.things)

    def render(self, without: Collection[str] = ()) -> Image.Image:
        """Draw the picture, optionally without the objects of some kinds; all other pixels are unchanged."""
        image = background(self.background, self.seed, self.size, self.horizon).copy()
        for thing in self.things:
            if thing.kind not in without:
                drawn = thing.picture()
                image.paste(drawn, (thing.left, thing.top), drawn)
        return image


def make_scene(seed: str, cast: Cast, *, size: int, co_occurrence: float, colour: float) -> Scene:
    """Draw a scene of two to four objects.

    Args:
        seed: seed of this scene.
        cast: kinds of objects, and which are planted together.
        size: side of the picture in pixels.
        co_occurrence: probability that an object of a planted pair has its partner in the scene.
        colour: probability that an object has its kind's usual colour.
    """
    dice = Dice(seed)
    horizon = dice.integer(size * 22 // 100, size * 36 // 100)
    things = [_make_thing(dice, kind, size, colour) for kind in _choose_kinds(dice, cast, co_occurrence)]
    mounted = _choose_mount(dice, [thing.kind for thing in things])
    rider = mounted[0] if mounted else None
    crowded = dice.chance(_CROWDED)
    placed: dict[int, Thing] = {}
    for index in sorted(range(len(things)), key=lambda index: index == rider):  # riders after what carries them
        if mounted and index == rider:
            placed[index] = _mount(dice, things[index], placed[mounted[1]], mounted[2], size)
        else:
            placed[index] = _place_apart(dice, things[index], list(placed.values()), size, horizon, crowded)
    # Lower objects are nearer and hide those behind them; a rider is in front of its carrier.
    front = sorted(sorted(placed), key=lambda index: (index == rider, placed[index].top + placed[index].height))
    if mounted:
        mounted = front.index(mounted[0]), front.index(mounted[1]), mounted[2]
    kind = dice.choice(tuple(BACKGROUNDS))
    return Scene(seed, kind, size, horizon, tuple(placed[index] for index in front), mounted)


def _choose_kinds(dice: Dice, cast: Cast, co_occurrence: float) -> list[str]:
    """Draw the kinds of at most four objects, with repetitions; planted pairs come together."""
    wanted = dice.integer(2, 4)
    # Pairs are entered twice, so that most scenes hold one.
    units = [*cast.pairs, *cast.pairs, *([[name]] for name in cast.free)]
    chosen: list[str] = []
    while units and len(chosen) < wanted:
        unit = dice.choice(units)
        units = [other for other in units if other != unit]
        sides = list(unit)
        if len(sides) == 2 and not dice.chance(co_occurrence):
            sides = [dice.choice(sides)]
        if len(chosen) + len(sides) <= 4:
            chosen += [dice.choice(side) for side in sides]
    if len(chosen) < 4 and dice.chance(_TWINS):
        chosen.append(dice.choice(chosen))
    return chosen


def _make_thing(dice: Dice, name: str, size: int, colour: float) -> Thing:
    """Draw an object's look, colour and size; it is not placed yet."""
    kind = KINDS[name]
    side = round(dice.integer(14, 20) * kind.scale * size / 48)
    usual = bool(kind.colours) and dice.chance(colour)
    hue = kind.colours[0] if usual else dice.choice(kind.colours[1:] or _CLOTHES)
    return Thing(name, dice.integer(0, len(kind.looks) - 1), hue, side, dice.chance(0.5)).resized(side)


def _choose_mount(dice: Dice, names: list[str]) -> tuple[int, int, Mount] | None:
    """Draw which object rides on which, as indices, among kinds that occur once."""
    fitting = [mount for mount in MOUNTS if names.count(mount.rider) == names.count(mount.carrier) == 1]
    if not fitting or not dice.chance(_MOUNTED):
        return None
    mount = dice.choice(fitting)
    return names.index(mount.rider), names.index(mount.carrier), mount


def _mount(dice: Dice, rider: Thing, carrier: Thing, mount: Mount, size: int) -> Thing:
    """Scale the rider and place it with its foot inside the carrier's box."""
    rider = rider.resized(round(carrier.side * mount.scale))
    left = carrier.left + (carrier.width - rider.width) // 2 + dice.integer(-1, 1)
    top = carrier.top + round(carrier.height * mount.foot) - rider.height
    left, top = max(0, min(size - rider.width, left)), max(0, min(size - rider.height, top))
    return replace(rider, left=left, top=top)


def _place_apart(dice: Dice, thing: Thing, others: list[Thing], size: int, horizon: int, crowded: bool) -> Thing:
    """Find a place on the ground that hides little of the other objects (in a crowd: up to half)."""
    best, least = thing, 2.0
    for _ in range(24):
        top = dice.integer(max(0, horizon - thing.height), size - thing.height)
        tried = replace(thing, left=dice.integer(0, size - thing.width), top=top)
        hidden = max((_covered(tried, other) for other in others), default=0.0)
        if crowded and others and not 0.2 <= hidden <= 0.5:
            hidden += 1.0
        if hidden < least:
            best, least = tried, hidden
        if hidden <= (0.5 if crowded else 0.02):
            break
    return best


def _covered(first: Thing, second: Thing) -> float:
    """Compute the area of the boxes' intersection over the smaller box's area."""
    wide = min(first.left + first.width, second.left + second.width) - max(first.left, second.left)
    high = min(first.top + first.height, second.top + second.height) - max(first.top, second.top)
    smaller = min(first.width * first.height, second.width * second.height)
    return max(0, wide) * max(0, high) / smaller
