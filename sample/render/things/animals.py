"""Animals: four-legged ones, birds and fish, with coat, pattern and proportions of their own."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, jitter, shade, smooth
from sample.render.things.thing import PAINTS, draw_ground, draw_sky, draw_water, paint_names

BODIES = ("beast", "bird", "fish")
COATS: dict[str, Colour] = {
    "brown": (132, 92, 58),
    "grey": (134, 132, 130),
    "sandy": (212, 176, 120),
    "black": (52, 48, 50),
    "white": (232, 228, 220),
    "red": (178, 88, 48),
}
PATTERNS = ("plain", "spotted", "striped", "belted", "pale-bellied")


@dataclass(frozen=True)
class Animal:
    """An animal of an invented species, seen from the side."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.8

    body: str
    coat: Colour
    coat_name: str
    marks: Colour
    pattern: str
    length: float
    girth: float
    legs: float
    neck: float
    head: float
    tail: float
    ears: float
    horns: int

    @classmethod
    def of(cls, dice: Dice) -> "Animal":
        """The traits that these dice decide."""
        body = dice.choice(("beast", *BODIES))
        name = dice.choice(tuple(COATS)) if body == "beast" else paint_names(dice, 1)[0]
        coat = jitter(COATS[name] if body == "beast" else PAINTS[name], dice, 18)
        marks = shade(coat, 0.45) if sum(coat) > 330 else shade((220, 200, 160), dice.uniform(0.8, 1.1))
        return cls(
            body,
            coat,
            name,
            marks,
            dice.choice(PATTERNS),
            dice.uniform(0.42, 0.68),
            dice.uniform(0.17, 0.34),
            dice.uniform(0.25, 0.6),
            dice.uniform(0.1, 0.55),
            dice.uniform(0.13, 0.22),
            dice.uniform(0.1, 0.6),
            dice.uniform(0.06, 0.22),
            dice.integer(0, 3),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.body

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        horns = " with horns" if self.body == "beast" and self.horns > 1 else ""
        return f"a {self.pattern} {self.coat_name} {self.body}{horns}"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """The animal, walking, standing or swimming."""
        {"beast": self._draw_beast, "bird": self._draw_bird, "fish": self._draw_fish}[self.body](canvas, dice)

    def _draw_pattern(self, canvas: Canvas, x: float, y: float, rx: float, ry: float) -> None:
        """The coat's pattern on an elliptical flank."""
        match self.pattern:
            case "spotted":
                for spot in range(11):
                    dx, dy = ((spot * 37) % 17 / 8 - 1) * 0.75, ((spot * 53) % 13 / 6 - 1) * 0.6
                    canvas.ellipse(x + rx * dx, y + ry * dy, 0.05, 0.045, self.marks)
            case "striped":
                for stripe in range(-3, 4):
                    half = ry * (1 - (stripe / 4.2) ** 2) ** 0.5
                    canvas.line(
                        [(x + rx * stripe / 4, y - half), (x + rx * stripe / 4 - 0.04, y + half * 0.6)],
                        self.marks,
                        0.045,
                    )
            case "belted":
                canvas.polygon(
                    [
                        (x - rx * 0.3, y - ry * 0.95),
                        (x + rx * 0.3, y - ry * 0.95),
                        (x + rx * 0.3, y + ry * 0.95),
                        (x - rx * 0.3, y + ry * 0.95),
                    ],
                    self.marks,
                )
            case "pale-bellied":
                canvas.ellipse(x, y + ry * 0.5, rx * 0.75, ry * 0.42, self.marks)

    def _draw_beast(self, canvas: Canvas, dice: Dice) -> None:
        coat, x0, y0 = self.coat, self.length, 0.15
        foot, stride = y0 + self.girth * 0.6 + self.legs, dice.bell(0.07)
        for index, (x, far) in enumerate(((-0.7, 1), (0.6, 1), (-0.85, 0), (0.75, 0))):
            step = stride * (1 if index % 2 else -1)
            leg = [(x * x0 - 0.08, y0), (x * x0 + 0.08, y0), (x * x0 + 0.05 + step, foot), (x * x0 - 0.05 + step, foot)]
            canvas.polygon(leg, shade(coat, 0.7 if far else 0.88))
        tail = smooth(
            [
                (-x0, y0 - 0.08),
                (-x0 - 0.5 * self.tail, y0 + dice.bell(0.08)),
                (-x0 - 0.6 * self.tail, y0 + self.tail * 0.7),
            ],
            4,
            closed=False,
        )
        canvas.line(tail, shade(coat, 0.8), 0.055)
        canvas.ellipse(0, y0, x0, self.girth, coat)
        self._draw_pattern(canvas, 0, y0, x0 * 0.85, self.girth * 0.9)
        hx, hy = x0 + 0.16 + 0.1 * self.neck, y0 - self.girth * 0.5 - self.neck + dice.bell(0.04)
        canvas.polygon(
            [
                (x0 * 0.5, y0 - self.girth * 0.7),
                (hx - 0.1, hy),
                (hx + 0.1, hy + 0.1),
                (x0 * 0.95, y0 + self.girth * 0.3),
            ],
            coat,
        )
        for horn in range(self.horns if self.horns > 1 else 0):
            canvas.line(
                smooth(
                    [
                        (hx - 0.03, hy - self.head * 0.6),
                        (hx - 0.08 - 0.06 * horn, hy - self.head - 0.16),
                        (hx + 0.05, hy - self.head - 0.3),
                    ],
                    4,
                    closed=False,
                ),
                (226, 214, 186),
                0.04,
            )
        canvas.polygon(
            [
                (hx - 0.1, hy - 0.05),
                (hx - 0.12 - self.ears * 0.4, hy - self.head - self.ears),
                (hx + 0.02, hy - self.head * 0.7),
            ],
            shade(coat, 0.72),
        )
        canvas.ellipse(hx, hy, self.head, self.head * 0.85, coat)
        canvas.ellipse(
            hx + self.head * 0.9, hy + self.head * 0.3, self.head * 0.55, self.head * 0.42, shade(coat, 0.86)
        )
        canvas.ellipse(hx + self.head * 0.3, hy - self.head * 0.15, 0.03, 0.03, (20, 16, 16))

    def _draw_bird(self, canvas: Canvas, dice: Dice) -> None:
        coat, dark = self.coat, shade(self.coat, 0.7)
        foot = 0.2 + self.girth + self.legs * 0.6
        for x in (-0.06, 0.1):
            canvas.line([(x, 0.2), (x + dice.bell(0.03), foot)], (206, 140, 60), 0.035)
        canvas.polygon(
            [(-0.3, 0.1), (-0.4 - self.tail, 0.25 + dice.bell(0.05)), (-0.35 - self.tail, 0.4), (-0.2, 0.3)], dark
        )
        canvas.ellipse(0, 0.12, 0.28 + self.length * 0.3, self.girth + 0.05, coat)
        self._draw_pattern(canvas, 0.05, 0.16, 0.35, self.girth * 0.8)
        wing = [(0.2, 0.0), (-0.1, -0.05 - 0.2 * dice.uniform(0, 1)), (-0.45, 0.2), (-0.1, 0.26)]
        canvas.blob(wing, dark)
        hx, hy = 0.3 + 0.1 * self.length, -0.15 - self.neck * 0.9
        canvas.polygon([(0.1, 0.0), (hx - 0.08, hy), (hx + 0.09, hy + 0.05), (0.42, 0.12)], coat)
        canvas.polygon(
            [(hx + 0.1, hy - 0.07), (hx + 0.18 + self.ears * 1.6, hy + 0.02), (hx + 0.1, hy + 0.07)], (226, 166, 60)
        )
        canvas.ellipse(hx, hy, self.head * 0.9, self.head * 0.85, coat if self.horns % 2 else self.marks)
        canvas.ellipse(hx + 0.05, hy - 0.03, 0.028, 0.028, (16, 14, 14))

    def _draw_fish(self, canvas: Canvas, dice: Dice) -> None:
        coat, dark, sway = self.coat, shade(self.coat, 0.7), dice.bell(0.06)
        long, high = self.length + 0.15, self.girth * 1.2
        canvas.polygon(
            [
                (-long * 0.8, 0),
                (-long - 0.1 - self.tail * 0.5, -0.1 - self.ears * 1.5 + sway),
                (-long - self.tail * 0.2, sway),
                (-long - 0.1 - self.tail * 0.5, 0.1 + self.ears * 1.5 + sway),
            ],
            dark,
        )
        canvas.polygon([(-long * 0.4, -high * 0.7), (0.0, -high - self.legs * 0.5), (long * 0.4, -high * 0.7)], dark)
        canvas.ellipse(0, 0, long, high, coat)
        self._draw_pattern(canvas, -0.05, 0, long * 0.7, high * 0.85)
        canvas.polygon([(0.05, 0.05), (-0.2, 0.2 + sway), (0.12, 0.18)], dark)
        canvas.ellipse(long * 0.66, -high * 0.2, 0.06, 0.06, (240, 240, 236))
        canvas.ellipse(long * 0.68, -high * 0.2, 0.03, 0.03, (14, 14, 16))

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """Grassland, or water all around."""
        if self.body == "fish":
            draw_water(canvas, dice, 0.0)
            return
        horizon = dice.uniform(0.5, 0.7)
        draw_sky(canvas, dice, horizon)
        draw_ground(canvas, dice, horizon)
