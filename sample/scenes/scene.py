"""Scenes: which objects stand where, before which background; and the picture of one."""

import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from PIL import Image

from sample.render.canvas import Dice
from sample.scenes.backgrounds import BACKGROUNDS, background, horizon_of
from sample.scenes.catalogue import KINDS, MOUNTS, Cast, Mount
from sample.scenes.sprites import sprite

_CLOTHES = ("white", "green", "orange")  # which captions do not mention
_TWINS, _MOUNTED, _CROWDED = 0.12, 0.6, 0.15


@dataclass(frozen=True)
class Thing:
    """One object in a scene; `left`, `top`, `width`, `height` are those of what is visible of it, in pixels."""

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
        """(left, top, width, height)."""
        return self.left, self.top, self.width, self.height

    def picture(self) -> Image.Image:
        """The object alone, RGBA."""
        return sprite(self.kind, self.look, self.colour, self.side, self.flip)


@dataclass(frozen=True)
class Scene:
    """A scene.

    Attributes:
        seed: what the details of the background depend on.
        background: one of `BACKGROUNDS`.
        size: side of the picture in pixels.
        horizon: the row where the ground begins.
        things: from back to front.
        mounted: (rider, carrier, how) where one thing is on another, as indices into `things`.
    """

    seed: str
    background: str
    size: int
    horizon: int
    things: tuple[Thing, ...]
    mounted: tuple[int, int, Mount] | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of objects in it, sorted."""
        return tuple(sorted({thing.kind for thing in self.things}))

    def fingerprint(self) -> str:
        """Same objects at the same places before the same background: same fingerprint."""
        things = sorted((thing.kind, *thing.box) for thing in self.things)
        return hashlib.sha256(repr((self.background, things)).encode()).hexdigest()

    def render(self, without: Collection[str] = ()) -> Image.Image:
        """The picture, on request without the objects of some kinds; all other pixels stay as they are."""
        image = background(self.background, self.seed, self.size, self.horizon).copy()
        for thing in self.things:
            if thing.kind not in without:
                drawn = thing.picture()
                image.paste(drawn, (thing.left, thing.top), drawn)
        return image


def make_scene(seed: str, cast: Cast, *, size: int, co_occurrence: float, colour: float) -> Scene:
    """Draw a scene of two to four objects.

    Args:
        seed: every scene has its own.
        cast: which kinds there are, and which are planted together.
        size: side of the picture in pixels.
        co_occurrence: probability that an object of a planted pair has its partner beside it.
        colour: probability that an object has its kind's usual colour.
    """
    dice = Dice(seed)
    horizon = horizon_of(dice, size)
    things = [_make_thing(dice, kind, size, colour) for kind in _choose_kinds(dice, cast, co_occurrence)]
    placed, mount = _place(dice, things, size, horizon)
    riders = set() if mount is None else {mount[0]}
    # What stands lower is nearer and hides what is behind; who rides is before what carries them.
    front = sorted(range(len(placed)), key=lambda index: (index in riders, placed[index].top + placed[index].height))
    mounted = None if mount is None else (front.index(mount[0]), front.index(mount[1]), mount[2])
    kind = dice.choice(tuple(BACKGROUNDS))
    return Scene(seed, kind, size, horizon, tuple(placed[index] for index in front), mounted)


def _choose_kinds(dice: Dice, cast: Cast, co_occurrence: float) -> list[str]:
    """Kinds of the objects, with repetitions: planted pairs come together, at most four objects."""
    wanted = dice.integer(2, 4)
    # Pairs are entered twice, so that most scenes hold one.
    units: list[tuple[tuple[str, ...], ...]] = [*cast.pairs, *cast.pairs, *(((name,),) for name in cast.free)]
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
    """An object with its looks and size, not placed yet."""
    kind = KINDS[name]
    side = round(dice.integer(14, 20) * kind.scale * size / 48)
    usual = bool(kind.colours) and dice.chance(colour)
    hue = kind.colours[0] if usual else dice.choice(kind.colours[1:] or _CLOTHES)
    thing = Thing(name, dice.integer(0, len(kind.looks) - 1), hue, side, dice.chance(0.5))
    return _measured(thing)


def _measured(thing: Thing) -> Thing:
    width, height = thing.picture().size
    return replace(thing, width=width, height=height)


def _place(
    dice: Dice, things: list[Thing], size: int, horizon: int
) -> tuple[list[Thing], tuple[int, int, Mount] | None]:
    """Find places: riders on what carries them, the others apart, now and then a crowd."""
    mount = _choose_mount(dice, things)
    crowded = dice.chance(_CROWDED)
    placed: dict[int, Thing] = {}
    for index in sorted(range(len(things)), key=lambda index: mount is not None and index == mount[0]):
        if mount is not None and index == mount[0]:
            placed[index] = _mounted(dice, things[index], placed[mount[1]], mount[2], size)
        else:
            placed[index] = _apart(dice, things[index], list(placed.values()), size, horizon, crowded)
    return [placed[index] for index in range(len(things))], mount


def _choose_mount(dice: Dice, things: list[Thing]) -> tuple[int, int, Mount] | None:
    counts = Counter(thing.kind for thing in things)
    names = [thing.kind for thing in things]
    fitting = [mount for mount in MOUNTS if counts[mount[0]] == counts[mount[1]] == 1]
    if not fitting or not dice.chance(_MOUNTED):
        return None
    mount = dice.choice(fitting)
    return names.index(mount[0]), names.index(mount[1]), mount


def _mounted(dice: Dice, rider: Thing, carrier: Thing, mount: Mount, size: int) -> Thing:
    """The rider, scaled, with its foot inside the carrier's box."""
    rider = _measured(replace(rider, side=round(carrier.side * mount[3])))
    left = carrier.left + (carrier.width - rider.width) // 2 + dice.integer(-1, 1)
    top = carrier.top + round(carrier.height * mount[2]) - rider.height
    return replace(rider, left=_inside(left, size - rider.width), top=_inside(top, size - rider.height))


def _apart(dice: Dice, thing: Thing, others: list[Thing], size: int, horizon: int, crowded: bool) -> Thing:
    """A place on the ground that hides at most a little of the others (in a crowd: up to half)."""
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
    """Area of the boxes' intersection over the smaller box's area."""
    wide = min(first.left + first.width, second.left + second.width) - max(first.left, second.left)
    high = min(first.top + first.height, second.top + second.height) - max(first.top, second.top)
    smaller = min(first.width * first.height, second.width * second.height)
    return max(0, wide) * max(0, high) / smaller


def _inside(value: int, limit: int) -> int:
    return max(0, min(limit, value))
