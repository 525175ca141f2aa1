"""Logos: an abstract mark on a badge, with bars that stand for the name."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, cosine, sine
from sample.render.things.charges import CHARGES, draw_charge, star
from sample.render.things.thing import PAINTS, draw_wall, paint_names

BADGES = ("round", "square", "hexagonal", "bare", "diamond")
MARKS = ("petals", "rings", "bars", "swoosh", "letter", "burst", "figure")
# Block letters on a 3 × 5 grid, row by row from the top, one bit a cell.
_LETTERS = (
    0b111101111101101,
    0b110101110101110,
    0b111100100100111,
    0b111100110100111,
    0b101101111101101,
    0b101110100110101,
    0b100100100100111,
    0b101111111101101,
    0b111101101101111,
    0b111101111100100,
    0b111100111001111,
    0b111010010010010,
    0b101101101101010,
    0b101101010101101,
    0b111001010100111,
)


@dataclass(frozen=True)
class Logo:
    """A company's or a club's logo."""

    graphic: ClassVar[bool] = True
    fill: ClassVar[float] = 0.7

    badge: str
    mark: str
    paints: tuple[str, str, str]
    count: int
    tilt: float
    slim: float
    figure: str
    name: tuple[float, ...]

    @classmethod
    def of(cls, dice: Dice) -> "Logo":
        """The traits that these dice decide."""
        first, second, third = paint_names(dice, 3)
        name = tuple(dice.uniform(0.06, 0.2) for _ in range(dice.integer(0, 5)))
        return cls(
            dice.choice(BADGES),
            dice.choice(MARKS),
            (first, second, third),
            dice.integer(3, 8),
            dice.uniform(0, 90),
            dice.uniform(0.3, 0.7),
            dice.choice(CHARGES),
            name,
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.mark

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        mark = self.figure if self.mark == "figure" else self.mark
        return f"a {self.badge} logo in {self.paints[0]} and {self.paints[1]} with {mark}"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """Badge, mark and name."""
        first, second, third = (PAINTS[name] for name in self.paints)
        ground = first
        match self.badge:
            case "round":
                canvas.ellipse(0, -0.1, 0.85, 0.85, first)
            case "square":
                canvas.rectangle(-0.8, -0.9, 0.8, 0.7, first)
            case "hexagonal":
                canvas.polygon([(0.9 * cosine(t), -0.1 + 0.9 * sine(t)) for t in range(0, 360, 60)], first)
            case "diamond":
                canvas.polygon([(0, -1), (0.95, -0.1), (0, 0.8), (-0.95, -0.1)], first)
            case _:
                ground = (250, 250, 250)
                canvas.rectangle(-0.9, -0.9, 0.9, 1.1, ground)
        self._draw_mark(canvas, second, third, ground)
        x = -0.55 * sum(self.name) - 0.02 * len(self.name)
        for width in self.name:
            canvas.rectangle(x, 0.85, x + width, 1.02, second if self.badge == "bare" else first)
            x += width + 0.05

    def _draw_mark(self, canvas: Canvas, colour: Colour, accent: Colour, ground: Colour) -> None:
        y = -0.1
        match self.mark:
            case "petals":
                for petal in range(self.count):
                    t = self.tilt + petal * 360 / self.count
                    reach = 0.34 * self.slim + 0.12
                    canvas.ellipse(reach * cosine(t), y + reach * sine(t), 0.2, 0.2, accent if petal % 2 else colour)
            case "rings":
                for ring in range(3):
                    radius = 0.55 - 0.17 * ring
                    canvas.ellipse(
                        0.12 * ring * cosine(self.tilt * 4), y, radius, radius, (colour, accent, ground)[ring]
                    )
            case "bars":
                for bar in range(self.count):
                    x, height = -0.5 + bar / self.count, 0.2 + 0.4 * abs(sine(self.tilt * 2 + bar * 40))
                    canvas.rectangle(
                        x,
                        y + 0.45 - 2 * height * 0.8,
                        x + 0.7 / self.count,
                        y + 0.45,
                        accent if bar % 3 == 2 else colour,
                    )
            case "swoosh":
                for turn, paint in ((0, colour), (180, accent)):
                    arc = [
                        (
                            (0.55 - 0.3 * self.slim * step / 10) * cosine(self.tilt * 4 + turn + 16 * step),
                            y + (0.55 - 0.3 * self.slim * step / 10) * sine(self.tilt * 4 + turn + 16 * step),
                        )
                        for step in range(11)
                    ]
                    canvas.line(arc, paint, 0.1 + 0.12 * self.slim)
            case "letter":
                bits = _LETTERS[int(self.tilt * 100) % len(_LETTERS)]
                for cell in range(15):
                    if bits >> (14 - cell) & 1:
                        left, top = -0.42 + 0.28 * (cell % 3), y - 0.55 + 0.22 * (cell // 3)
                        canvas.rectangle(left, top, left + 0.28, top + 0.22, colour)
            case "burst":
                canvas.polygon(star(0, y, 0.6, self.count + 3, self.slim), colour)
                canvas.ellipse(0, y, 0.2, 0.2, accent)
            case _:
                draw_charge(canvas, self.figure, 0, y, 0.5, colour, ground)

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """The wall that it hangs on."""
        draw_wall(canvas, dice)
