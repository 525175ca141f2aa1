"""Landscapes: mountains, volcanoes, islands, waterfalls and desert rocks."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, Point, jitter, mix, shade, smooth
from sample.render.things.thing import draw_ground, draw_sky, draw_water

TYPES = ("mountain", "volcano", "island", "waterfall", "rock arch", "lake")
ROCKS: dict[str, Colour] = {
    "grey": (120, 120, 124),
    "red": (176, 96, 68),
    "brown": (124, 96, 70),
    "dark": (74, 76, 84),
    "green": (92, 124, 78),
}


@dataclass(frozen=True)
class Landscape:
    """A natural sight."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.92

    type: str
    rock: Colour
    rock_name: str
    ridge: tuple[float, ...]
    peak: float
    height: float
    snow: float
    trees: tuple[tuple[float, float], ...]
    spread: float

    @classmethod
    def of(cls, dice: Dice) -> "Landscape":
        """The traits that these dice decide."""
        rock = dice.choice(tuple(ROCKS))
        return cls(
            dice.choice(TYPES),
            jitter(ROCKS[rock], dice, 16),
            rock,
            tuple(dice.uniform(0, 1) for _ in range(9)),
            dice.uniform(-0.5, 0.5),
            dice.uniform(0.7, 1.3),
            max(0.0, dice.uniform(-0.3, 0.5)),
            tuple((dice.uniform(-1, 1), dice.uniform(0.06, 0.18)) for _ in range(dice.integer(0, 9))),
            dice.uniform(0.3, 0.6),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.type

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        snow = " with snow" if self.snow > 0.05 and self.type in ("mountain", "volcano", "lake") else ""
        trees = " behind trees" if len(self.trees) > 4 else ""
        return f"a {self.rock_name} {self.type}{snow}{trees}"

    def _ridge(self, roughness: float) -> list[Point]:
        """The skyline from left to right, highest at the peak."""
        count = len(self.ridge)
        line = []
        for index, bump in enumerate(self.ridge):
            x = -1.3 + 2.6 * index / (count - 1)
            slope = max(0.0, 1 - abs(x - self.peak) / (0.6 + self.spread))
            line.append((x, 0.55 - self.height * slope * (1 - roughness * (1 - bump)) - 0.12 * bump))
        return line

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """The sight, then trees before it."""
        match self.type:
            case "volcano":
                self._draw_volcano(canvas, dice)
            case "island":
                hill = [(x * 0.75, y * 0.6 + 0.2) for x, y in self._ridge(0.5)]
                canvas.polygon([*smooth(hill, 4, closed=False), (1.1, 0.56), (-1.1, 0.56)], self.rock)
                canvas.ellipse(0, 0.56, 1.08, 0.08, (222, 204, 160))
            case "waterfall":
                canvas.polygon(
                    [
                        (-1.5, -0.5 - 0.3 * self.ridge[0]),
                        *smooth([(-0.6, -0.6), (self.peak, -0.5), (0.6, -0.62)], 4, closed=False),
                        (1.5, -0.5 - 0.3 * self.ridge[1]),
                        (1.5, 0.7),
                        (-1.5, 0.7),
                    ],
                    self.rock,
                )
                for index, bump in enumerate(self.ridge):
                    x = -1.4 + 0.35 * index
                    canvas.line([(x, -0.45), (x + 0.1 * bump, 0.6)], shade(self.rock, 0.8 + 0.3 * bump), 0.05)
                half = 0.12 + 0.25 * self.spread
                canvas.polygon(
                    [
                        (self.peak - half * 0.8, -0.52),
                        (self.peak + half * 0.8, -0.52),
                        (self.peak + half, 0.68),
                        (self.peak - half, 0.68),
                    ],
                    (226, 238, 246),
                )
                canvas.ellipse(self.peak, 0.68, half * 2, 0.12, (240, 246, 250))
            case "rock arch":
                w = 0.5 + 0.6 * self.spread
                canvas.blob(
                    [
                        (-w, 0.7),
                        (-w - 0.1, -0.2),
                        (-0.3 + self.peak * 0.5, -0.3 - 0.4 * self.height),
                        (w, -0.3),
                        (w + 0.12, 0.7),
                        (w - 0.3, 0.7),
                        (w - 0.34, 0.1),
                        (0, -0.15),
                        (-w + 0.4, 0.1),
                        (-w + 0.3, 0.7),
                    ],
                    self.rock,
                )
                for band in range(3):
                    canvas.line([(-w, 0.1 + 0.15 * band), (-w + 0.33, 0.12 + 0.15 * band)], shade(self.rock, 0.8), 0.03)
            case _:
                self._draw_mountain(canvas)
        for x, height in self.trees:
            dark = mix((44, 84, 50), self.rock, 0.15)
            canvas.polygon(
                [(x - height * 0.35, 0.72), (x, 0.72 - height * 2), (x + height * 0.35, 0.72)],
                shade(dark, 0.8 + 2 * height),
            )

    def _draw_mountain(self, canvas: Canvas) -> None:
        ridge = self._ridge(0.45)
        canvas.polygon([*ridge, (1.3, 0.75), (-1.3, 0.75)], self.rock)
        for (x, y), bump in zip(ridge, self.ridge, strict=True):
            canvas.polygon(
                [(x, y), (x + 0.16 + 0.1 * bump, y + 0.3 + 0.4 * bump), (x - 0.02, 0.72)], shade(self.rock, 0.78)
            )
            if self.snow > 0.05 and y < 0.2:
                depth = self.snow * (0.2 - y)
                canvas.polygon(
                    [
                        (x, y),
                        (x + 0.14, y + depth),
                        (x + 0.05, y + depth * 0.7),
                        (x - 0.03, y + depth),
                        (x - 0.14, y + depth * 0.8),
                    ],
                    (244, 246, 250),
                )
        if self.type == "lake":
            canvas.ellipse(self.peak * 0.4, 0.75, 1.25, 0.2 + 0.15 * self.spread, (74, 124, 160))
            canvas.ellipse(self.peak * 0.4, 0.72, 0.9, 0.1, (120, 164, 190))

    def _draw_volcano(self, canvas: Canvas, dice: Dice) -> None:
        top, x, lip = 0.5 - self.height, self.peak * 0.5, 0.12 + 0.2 * self.spread
        if self.ridge[0] > 0.4:
            for puff in range(5):
                canvas.ellipse(
                    x + 0.1 * puff + dice.bell(0.03),
                    top - 0.08 - 0.07 * puff,
                    0.1 + 0.03 * puff,
                    0.08 + 0.02 * puff,
                    (150, 146, 146),
                )
        canvas.polygon(
            [(x - lip, top), (x + lip, top), (x + 0.6 + lip, 0.3), (1.4, 0.75), (-1.4, 0.75), (x - 0.6 - lip, 0.3)],
            self.rock,
        )
        canvas.polygon(
            [(x + lip * 0.2, top), (x + lip, top), (x + 0.6 + lip, 0.3), (1.4, 0.75), (x + 0.4, 0.75)],
            shade(self.rock, 0.8),
        )
        canvas.ellipse(x, top, lip, 0.05, (206, 84, 40) if self.ridge[1] > 0.5 else shade(self.rock, 0.5))
        if self.snow > 0.05:
            canvas.polygon(
                [
                    (x - lip, top),
                    (x + lip, top),
                    (x + lip + self.snow * 0.6, top + self.snow),
                    (x, top + self.snow * 0.7),
                    (x - lip - self.snow * 0.6, top + self.snow),
                ],
                (244, 246, 250),
            )

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """Sky, and land or sea."""
        horizon = dice.uniform(0.68, 0.78)
        draw_sky(canvas, dice, horizon)
        (draw_water if self.type in ("island", "waterfall") else draw_ground)(canvas, dice, horizon)
