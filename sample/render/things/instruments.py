"""Musical instruments: lutes, drums, horns and harps."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, Frame, jitter, shade, smooth
from sample.render.things.thing import PAINTS, draw_wall, paint_names

FAMILIES = ("lute", "drum", "horn", "harp")
WOODS: dict[str, Colour] = {
    "pale": (222, 180, 120),
    "brown": (146, 92, 52),
    "dark": (84, 52, 38),
    "golden": (212, 168, 64),
}


@dataclass(frozen=True)
class Instrument:
    """A musical instrument."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.8

    family: str
    wood: Colour
    wood_name: str
    trim: str
    body: float
    waist: float
    neck: float
    strings: int

    @classmethod
    def of(cls, dice: Dice) -> "Instrument":
        """The traits that these dice decide."""
        name = dice.choice(tuple(WOODS))
        return cls(
            dice.choice(FAMILIES),
            jitter(WOODS[name], dice, 16),
            name,
            paint_names(dice, 1)[0],
            dice.uniform(0.3, 0.5),
            dice.uniform(0.4, 1.0),
            dice.uniform(0.5, 0.9),
            dice.integer(3, 9),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.family

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        return f"a {self.wood_name} {self.family} with {self.strings} strings and {self.trim} trim"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """The instrument, upright."""
        wood, dark, trim, b = self.wood, shade(self.wood, 0.6), PAINTS[self.trim], self.body
        match self.family:
            case "lute":
                canvas.rectangle(-0.06, -self.neck, 0.06, 0.4, dark)
                canvas.rectangle(-0.1, -self.neck - 0.18, 0.1, -self.neck, trim)
                canvas.blob(
                    [
                        (0, 0.0),
                        (b * 0.85, 0.12),
                        (b * self.waist, 0.38),
                        (b * 1.1, 0.68),
                        (0, 0.95),
                        (-b * 1.1, 0.68),
                        (-b * self.waist, 0.38),
                        (-b * 0.85, 0.12),
                    ],
                    wood,
                )
                canvas.ellipse(0, 0.4, 0.12, 0.12, (40, 26, 20))
                for string in range(min(self.strings, 6)):
                    x = (string - (min(self.strings, 6) - 1) / 2) * 0.022
                    canvas.line([(x, -self.neck), (x, 0.78)], (236, 230, 214), 0.008)
            case "drum":
                half, height = b * 1.5, self.neck
                canvas.ellipse(0, height * 0.6, half * self.waist, 0.16, dark)
                canvas.polygon(
                    [
                        (-half, -height * 0.6),
                        (half, -height * 0.6),
                        (half * self.waist, height * 0.6),
                        (-half * self.waist, height * 0.6),
                    ],
                    wood,
                )
                for lace in range(self.strings):
                    x = -1 + 2 * lace / self.strings
                    canvas.line(
                        [
                            (half * x, -height * 0.6),
                            (half * self.waist * (x + 1 / self.strings), height * 0.6),
                            (half * (x + 2 / self.strings), -height * 0.6),
                        ],
                        trim,
                        0.03,
                    )
                canvas.ellipse(0, -height * 0.6, half, 0.2, trim)
                canvas.ellipse(0, -height * 0.6, half * 0.9, 0.16, (238, 226, 202))
            case "horn":
                tube = smooth(
                    [
                        (-0.9, 0.3),
                        (-0.3, 0.4 * self.waist),
                        (0.2, 0.1),
                        (0.5, -0.3),
                        (0.2, -0.6),
                        (-0.2, -0.3),
                        (0.1, 0.0),
                    ][: 3 + self.strings % 5],
                    5,
                    closed=False,
                )
                canvas.line(tube, wood, 0.12)
                x, y = tube[-1]
                canvas.ellipse(x, y, b * 0.8, b * 0.8, trim)
                canvas.ellipse(x, y, b * 0.6, b * 0.6, dark)
                canvas.line([(-0.95, 0.3), (-0.85, 0.3)], trim, 0.18)
            case _:
                canvas.line(
                    smooth(
                        [(-0.55, 0.85), (-0.5, -0.5 * self.neck), (-0.1, -0.9), (0.6, -0.6 * self.waist)],
                        5,
                        closed=False,
                    ),
                    wood,
                    0.12,
                )
                canvas.line([(-0.55, 0.85), (0.6, -0.6 * self.waist)], dark, 0.13)
                for string in range(1, self.strings + 2):
                    share = string / (self.strings + 2)
                    canvas.line(
                        [
                            (-0.5 + 1.0 * share, -0.75 * self.neck * (1 - 0.2 * share)),
                            (-0.55 + 1.15 * share, 0.85 - (0.85 + 0.6 * self.waist) * share),
                        ],
                        (240, 234, 214),
                        0.014,
                    )
                canvas.ellipse(-0.55, 0.85, 0.16, 0.08, trim)

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """A wall, and the floor or table before it."""
        draw_wall(canvas, dice)
        canvas.frame = Frame()
        canvas.rectangle(0, dice.uniform(0.75, 0.9), 1, 1, jitter((110, 92, 76), dice, 30))
