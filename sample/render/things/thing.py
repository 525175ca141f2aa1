"""What all things share: their interface, named paints, and backdrops."""

from typing import ClassVar, Protocol

from sample.render.canvas import Canvas, Colour, Dice, Frame, jitter, mix, shade, smooth

PAINTS: dict[str, Colour] = {
    "red": (200, 38, 46),
    "blue": (36, 72, 160),
    "green": (36, 124, 70),
    "yellow": (240, 196, 48),
    "white": (244, 242, 236),
    "black": (32, 32, 36),
    "orange": (230, 120, 40),
    "purple": (112, 52, 128),
    "turquoise": (48, 158, 166),
    "brown": (120, 78, 48),
}


class Thing(Protocol):
    """A kind of thing, with the traits of one of them; drawn in [-1, 1]², y down."""

    # A graphic's reference picture is the clean design on white, not a photograph.
    graphic: ClassVar[bool]
    # Share of a picture's side that the drawing usually fills.
    fill: ClassVar[float]

    @classmethod
    def of(cls, dice: Dice) -> "Thing":
        """The traits that these dice decide."""

    def category(self) -> str:
        """Which sort of its kind."""

    def caption(self) -> str:
        """What is to be seen, in a few words."""

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """Draw in the canvas's frame; `dice` decide what changes from photograph to photograph."""

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """Draw what stands behind; it fills the picture whatever the canvas's frame."""


def paint_names(dice: Dice, count: int) -> list[str]:
    """Different paints."""
    names = list(PAINTS)
    return [names.pop(dice.integer(0, len(names) - 1)) for _ in range(count)]


def draw_sky(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """A sky of the day or of the evening down to the horizon, with clouds."""
    canvas.frame = Frame()
    zenith, haze = dice.choice(
        (((92, 148, 212), (206, 224, 236)), ((150, 164, 178), (214, 216, 216)), ((74, 88, 140), (244, 176, 120)))
    )
    zenith = jitter(zenith, dice, 14)
    for row in range(24):
        canvas.rectangle(0, horizon * row / 24, 1, horizon * (row + 1) / 24 + 0.01, mix(zenith, haze, row / 23))
    for _ in range(dice.integer(0, 4)):
        x, y = dice.uniform(0, 1), dice.uniform(0.02, horizon * 0.7)
        for puff in range(4):
            canvas.ellipse(
                x + 0.05 * puff, y + dice.uniform(-0.015, 0.015), 0.06, 0.025, mix(haze, (255, 255, 255), 0.5)
            )


def draw_ground(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """Grass, sand or pavement below the horizon, and what closes the view."""
    canvas.frame = Frame()
    ground = jitter(dice.choice(((104, 140, 80), (186, 168, 124), (150, 146, 140))), dice, 18)
    far = mix(ground, (120, 140, 150), 0.5)
    ridge = [(x / 6, horizon - dice.uniform(0.0, 0.1)) for x in range(7)]
    canvas.polygon([*smooth(ridge, 4, closed=False), (1, 1), (0, 1)], far)
    for row in range(5):
        top = horizon + (1 - horizon) * row / 5
        canvas.rectangle(0, top, 1, 1, shade(ground, 1.06 - 0.05 * row))


def draw_water(canvas: Canvas, dice: Dice, horizon: float) -> None:
    """A sea or a river below the horizon."""
    canvas.frame = Frame()
    water = jitter(dice.choice(((58, 104, 140), (86, 128, 132), (60, 78, 104))), dice, 16)
    for row in range(6):
        top = horizon + (1 - horizon) * row / 6
        canvas.rectangle(0, top, 1, 1, mix(water, (200, 216, 226), 0.36 - 0.06 * row))
    for _ in range(18):
        x, y = dice.uniform(0, 1), dice.uniform(horizon + 0.03, 1)
        canvas.line([(x, y), (x + dice.uniform(0.03, 0.1), y)], mix(water, (230, 240, 246), 0.35), 0.006)


def draw_wall(canvas: Canvas, dice: Dice) -> None:
    """Plaster, planks, bricks or a table top: what emblems hang on."""
    canvas.frame = Frame()
    wall = jitter(dice.choice(((190, 182, 168), (142, 98, 74), (120, 124, 130), (222, 218, 208))), dice, 22)
    canvas.rectangle(0, 0, 1, 1, wall)
    lines, seam = dice.integer(0, 9), shade(wall, 0.88)
    for row in range(1, lines):
        canvas.line([(0, row / lines), (1, row / lines)], seam, 0.008)
        for column in range(4 if lines > 5 else 0):
            x = (column + 0.5 * (row % 2)) / 3.5
            canvas.line([(x, row / lines), (x, (row + 1) / lines)], seam, 0.008)
