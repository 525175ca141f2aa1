"""Flags: a division of the field in two to four paints, often with a charge."""

from dataclasses import dataclass, replace
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice
from sample.render.things.charges import CHARGES, draw_charge
from sample.render.things.thing import PAINTS, draw_ground, draw_sky, paint_names

LAYOUTS = (
    "horizontal stripes",
    "vertical stripes",
    "a cross",
    "a diagonal cross",
    "a canton",
    "a triangle",
    "a border",
    "quarters",
    "a diagonal band",
    "many stripes",
)


@dataclass(frozen=True)
class Flag:
    """A flag of proportions 2:3."""

    graphic: ClassVar[bool] = True
    fill: ClassVar[float] = 0.72

    layout: str
    paints: tuple[str, str, str]
    charge: str | None
    charge_paint: str
    charge_size: float
    share: float

    @classmethod
    def of(cls, dice: Dice) -> "Flag":
        """The traits that these dice decide."""
        first, second, third, fourth = paint_names(dice, 4)
        charge = dice.choice(CHARGES) if dice.chance(0.55) else None
        return cls(
            dice.choice(LAYOUTS),
            (first, second, third),
            charge,
            fourth,
            dice.uniform(0.16, 0.32),
            dice.uniform(0.2, 0.42),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.layout

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        charge = f" and a {self.charge_paint} {self.charge}" if self.charge else ""
        return f"a flag with {self.layout} in {self.paints[0]}, {self.paints[1]} and {self.paints[2]}{charge}"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """The field, its division, then the charge."""
        first, second, third = (PAINTS[name] for name in self.paints)
        h, s = 0.667, self.share
        canvas.rectangle(-1, -h, 1, h, first)
        x, y, ground = self._draw_division(canvas, first, second, third, h, s)
        if self.charge:
            draw_charge(canvas, self.charge, x, y, self.charge_size, PAINTS[self.charge_paint], ground)

    def _draw_division(
        self, canvas: Canvas, first: Colour, second: Colour, third: Colour, h: float, s: float
    ) -> tuple[float, float, Colour]:
        """Divide the field; returns where a charge stands and on which colour."""
        match self.layout:
            case "horizontal stripes":
                canvas.rectangle(-1, -h * s, 1, h, second)
                canvas.rectangle(-1, h * s, 1, h, third)
                return 0.0, 0.0, second
            case "vertical stripes":
                canvas.rectangle(-s, -h, 1, h, second)
                canvas.rectangle(s, -h, 1, h, third)
                return 0.0, 0.0, second
            case "a cross":
                for width, colour in ((s * 0.5, second), (s * 0.25, third)):
                    canvas.rectangle(-0.3 - width, -h, -0.3 + width, h, colour)
                    canvas.rectangle(-1, -width, 1, width, colour)
                return 0.5, -0.36, first
            case "a diagonal cross":
                for a, b in (((-1, -h), (1, h)), ((-1, h), (1, -h))):
                    canvas.line([a, b], second, s * 0.7)
                return 0.0, 0.0, second
            case "a canton":
                for row in range(3):
                    canvas.rectangle(-1, -h + (2 * row + 1) * h / 3.5, 1, -h + (2 * row + 2) * h / 3.5, third)
                canvas.rectangle(-1, -h, -0.5 + s, h * 0.14, second)
                return -0.75 + s / 2, -h * 0.43, second
            case "a triangle":
                canvas.rectangle(-1, 0, 1, h, second)
                canvas.polygon([(-1, -h), (-0.3 + s, 0), (-1, h)], third)
                return -0.7, 0.0, third
            case "a border":
                canvas.rectangle(-1 + s * 0.5, -h + s * 0.5, 1 - s * 0.5, h - s * 0.5, second)
                return 0.0, 0.0, second
            case "quarters":
                canvas.rectangle(0, -h, 1, 0, second)
                canvas.rectangle(-1, 0, 0, h, third)
                return -0.5, -h / 2, first
            case "a diagonal band":
                canvas.polygon([(-1, h), (1, -h), (1, h)], second)
                canvas.line([(-1, h), (1, -h)], third, s * 0.7)
                return -0.5, -0.25, first
            case _:
                count = 5 + 2 * int(s * 8)
                for row in range(1, count, 2):
                    canvas.rectangle(-1, -h + 2 * h * row / count, 1, -h + 2 * h * (row + 1) / count, second)
                return 0.0, 0.0, third

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """The sky, and the pole in the flag's own frame."""
        flag, horizon = canvas.frame, dice.uniform(0.75, 1.1)
        draw_sky(canvas, dice, min(1.0, horizon))
        if horizon < 1:
            draw_ground(canvas, dice, horizon)
        canvas.frame = replace(flag, wave=0.0)
        canvas.rectangle(-1.08, -0.95, -1.0, 4, (120, 116, 110))
        canvas.ellipse(-1.04, -0.98, 0.08, 0.08, (214, 180, 84))
