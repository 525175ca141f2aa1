"""Photographs of people and things, by `render`.

A thing is its design alone, or is in front of a sky, ground, water or a wall; `faces.py` draws people.
"""

from collections.abc import Callable
from dataclasses import replace

from PIL import Image

from sample.render.canvas import Canvas, Dice, Frame, jitter, mix, shade, smooth
from sample.render.faces import faceless, portrait, shows_face
from sample.render.kit import draw_shapes
from sample.render.photo import Difficulty, develop, occlude, pose
from sample.render.things import THINGS, thing_of


def draw_sky(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """Draw a sky of the day or of the evening down to the horizon, with clouds."""
    zenith, haze = dice.choice(
        (((92, 148, 212), (206, 224, 236)), ((150, 164, 178), (214, 216, 216)), ((74, 88, 140), (244, 176, 120)))
    )
    zenith = jitter(zenith, dice, 14)
    for row in range(12):
        canvas.rectangle(0, horizon * row / 12, 1, horizon * (row + 1) / 12 + 0.01, mix(zenith, haze, row / 11))
    cloud = mix(haze, (255, 255, 255), 0.5)
    for _ in range(dice.integer(0, 4)):
        x, y = dice.uniform(0, 1), dice.uniform(0.02, horizon * 0.7)
        for puff in range(4):
            canvas.ellipse(x + 0.05 * puff, y + dice.uniform(-0.015, 0.015), 0.06, 0.025, cloud)


def draw_ground(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """Draw grass, sand or pavement below the horizon, and a ridge at it."""
    ground = jitter(dice.choice(((104, 140, 80), (186, 168, 124), (150, 146, 140))), dice, 18)
    ridge = [(x / 6, horizon - dice.uniform(0.0, 0.1)) for x in range(7)]
    canvas.polygon([*smooth(ridge, 4, closed=False), (1, 1), (0, 1)], mix(ground, (120, 140, 150), 0.5))
    for row in range(5):
        canvas.rectangle(0, horizon + (1 - horizon) * row / 5, 1, 1, shade(ground, 1.06 - 0.05 * row))


def draw_water(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """Draw a sea below the horizon."""
    water = jitter(dice.choice(((58, 104, 140), (86, 128, 132), (60, 78, 104))), dice, 16)
    for row in range(6):
        top = horizon + (1 - horizon) * row / 6
        canvas.rectangle(0, top, 1, 1, mix(water, (200, 216, 226), 0.36 - 0.06 * row))
    for _ in range(18):
        x, y = dice.uniform(0, 1), dice.uniform(horizon + 0.03, 1)
        canvas.line([(x, y), (x + dice.uniform(0.03, 0.1), y)], mix(water, (230, 240, 246), 0.35), 0.006)


def draw_wall(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """Draw plaster, planks or bricks from top to bottom."""
    wall = jitter(dice.choice(((190, 182, 168), (142, 98, 74), (120, 124, 130), (222, 218, 208))), dice, 22)
    canvas.rectangle(0, 0, 1, 1, wall)
    lines, seam = dice.integer(0, 9), shade(wall, 0.88)
    for row in range(1, lines):
        canvas.line([(0, row / lines), (1, row / lines)], seam, 0.008)
        for column in range(4 if lines > 5 else 0):
            x = (column + 0.5 * (row % 2)) / 3.5
            canvas.line([(x, row / lines), (x, (row + 1) / lines)], seam, 0.008)


BACKDROPS: dict[str, Callable[[Canvas, Dice, float], None]] = {
    "sky": draw_sky,
    "ground": draw_ground,
    "water": draw_water,
    "river": lambda canvas, dice, horizon: draw_water(canvas, dice, horizon + 0.1),
    "sea": lambda canvas, dice, horizon: draw_water(canvas, dice, 0.0),
    "wall": draw_wall,
    "table": lambda canvas, dice, horizon: canvas.rectangle(0, horizon + 0.2, 1, 1, jitter((110, 92, 76), dice, 30)),
}


def photograph(kind: str, identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """Draw a photograph of a thing; view 0 of a flag, a coat of arms or a logo is the design alone."""
    thing, dice = thing_of(kind, identity), Dice("photograph", kind, identity, view)
    canvas = Canvas(size, (250, 250, 250))
    if thing.kind.graphic and view == 0:
        canvas.frame = Frame.placed(0.5, 0.5, 0.44)
        draw_shapes(canvas, thing.shapes)
        return canvas.finish()
    frame = pose(dice, difficulty, fill=thing.kind.fill)
    horizon = dice.uniform(0.52, 0.68)
    for backdrop in thing.backdrop:  # from far to near, in the frame of the whole picture
        BACKDROPS[backdrop](canvas, dice, horizon)
    canvas.frame = frame
    if kind == "flag":  # on its pole, and in the wind
        canvas.rectangle(-1.08, -0.95, -1.0, 4, (120, 116, 110))
        canvas.ellipse(-1.04, -0.98, 0.08, 0.08, (214, 180, 84))
        canvas.frame = replace(frame, wave=dice.uniform(0.03, 0.12), phase=dice.uniform(0, 360))
    draw_shapes(canvas, thing.shapes)
    if dice.chance(difficulty.occlusion):
        occlude(canvas, dice)
    return develop(canvas.finish(), dice, difficulty)


KINDS: tuple[str, ...] = ("person", *THINGS)

# Identities of worlds are below this number, those of the stand-in encoders' training at or above it.
ENCODER_IDENTITIES = 10**9


def render(kind: str, identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """Draw one photograph of one entity in RGB, `size` × `size` pixels.

    Args:
        kind: one of `KINDS`.
        identity: number that determines the entity's looks; people with an even one look like women (`is_woman`).
        view: 0 is the knowledge base's reference photograph, others are different photographs of the same entity.

    Raises:
        ValueError: unknown kind.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r} (choices: {', '.join(KINDS)})")
    if kind != "person":
        return photograph(kind, identity, view, size=size, difficulty=difficulty)
    if not shows_face(identity, view, difficulty):
        return faceless(identity, view, size=size, difficulty=difficulty)
    return portrait(identity, view, size=size, difficulty=difficulty)[0]
