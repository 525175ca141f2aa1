"""Bridges: arches, suspension, cable-stayed, truss and covered bridges."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, jitter, shade
from sample.render.things.thing import PAINTS, draw_ground, draw_sky, draw_water, paint_names

BUILDS = ("stone arch", "suspension", "cable-stayed", "truss", "steel arch")
_STONES: dict[str, Colour] = {
    "grey": (140, 136, 130),
    "sandy": (196, 172, 132),
    "brown": (128, 100, 80),
    "white": (216, 212, 204),
}


@dataclass(frozen=True)
class Bridge:
    """A bridge seen from the bank."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.96

    build: str
    colour: Colour
    colour_name: str
    spans: int
    deck: float
    rise: float
    inset: float
    thickness: float
    cables: int

    @classmethod
    def of(cls, dice: Dice) -> "Bridge":
        """The traits that these dice decide."""
        build = dice.choice(BUILDS)
        name = dice.choice(tuple(_STONES)) if build == "stone arch" else paint_names(dice, 1)[0]
        colour = jitter({**PAINTS, **_STONES}[name] if build == "stone arch" else PAINTS[name], dice, 16)
        return cls(
            build,
            colour,
            name,
            dice.integer(1, 6),
            dice.uniform(-0.05, 0.2),
            dice.uniform(0.4, 0.9),
            dice.uniform(0.3, 0.6),
            dice.uniform(0.05, 0.12),
            dice.integer(4, 11),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.build

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        return f"a {self.colour_name} {self.build} bridge with {self.spans} spans"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """Piers, what carries the deck, and the deck."""
        colour, deck, foot, t = self.colour, self.deck, 0.62, self.thickness
        dark = shade(colour, 0.72)
        if self.build == "stone arch":
            self._draw_arches(canvas, deck, foot)
            return
        canvas.rectangle(-1.5, deck, 1.5, deck + t, colour)
        canvas.rectangle(-1.5, deck + t, 1.5, deck + t + 0.03, dark)
        match self.build:
            case "suspension":
                top = deck - self.rise
                for side in (-1, 1):
                    x = side * self.inset
                    canvas.rectangle(x - 0.05, top - 0.04, x + 0.05, foot, colour)
                    canvas.line([(x, top), (side * 1.5, deck)], dark, 0.03)
                for step in range(-self.cables, self.cables + 1):
                    x = step / self.cables
                    y = deck - 0.05 - (self.rise - 0.05) * x * x
                    canvas.line([(x * self.inset, y), (x * self.inset, deck)], dark, 0.014)
                curve = [(s / 8 * self.inset, deck - 0.05 - (self.rise - 0.05) * (s / 8) ** 2) for s in range(-8, 9)]
                canvas.line(curve, dark, 0.03)
            case "cable-stayed":
                towers = 1 + self.spans % 2
                for tower in range(towers):
                    x = 0.0 if towers == 1 else (tower * 2 - 1) * self.inset
                    reach = 0.9 if towers == 1 else self.inset
                    canvas.polygon(
                        [
                            (x - 0.07, foot),
                            (x - 0.02, deck - self.rise),
                            (x + 0.02, deck - self.rise),
                            (x + 0.07, foot),
                        ],
                        colour,
                    )
                    for cable in range(1, self.cables):
                        share = cable / self.cables
                        for side in (-1, 1):
                            canvas.line(
                                [(x, deck - self.rise * (0.4 + 0.6 * share)), (x + side * reach * share, deck)],
                                dark,
                                0.014,
                            )
            case "truss":
                height, count = 0.25 + 0.2 * self.rise, self.cables + 3
                canvas.line([(-1.2, deck - height), (1.2, deck - height)], colour, 0.045)
                for panel in range(count):
                    left, right = -1.2 + 2.4 * panel / count, -1.2 + 2.4 * (panel + 1) / count
                    slant = (
                        [(left, deck), (right, deck - height)] if panel % 2 else [(left, deck - height), (right, deck)]
                    )
                    canvas.line(slant, colour, 0.035)
                    canvas.line([(left, deck - height), (left, deck)], dark, 0.025)
                for pier in range(self.spans + 1):
                    x = -1 + 2 * pier / max(1, self.spans)
                    canvas.rectangle(x - 0.05, deck + t, x + 0.05, foot, (134, 130, 124))
            case _:
                arch = [(s / 10 * 0.95, foot - 0.1 - (self.rise + 0.3) * (1 - (s / 10) ** 2)) for s in range(-10, 11)]
                canvas.line(arch, colour, 0.07)
                for x, y in arch[2:-2:2]:
                    canvas.line([(x, y), (x, deck)], dark, 0.022)

    def _draw_arches(self, canvas: Canvas, deck: float, foot: float) -> None:
        """A wall of stone with round openings left between the piers."""
        width, radius = 2.2 / self.spans, 0.92 / self.spans
        top, springing = (
            deck + self.thickness,
            min(foot - 0.05, deck + self.thickness + 0.04 + radius * (0.5 + 0.5 * self.rise)),
        )
        canvas.rectangle(-1.6, deck - 0.04, 1.6, top + 0.03, self.colour)
        for span in range(self.spans):
            x = -1.1 + width * (span + 0.5)
            rise = springing - top - 0.03
            curve = [(x + radius * s / 8, springing - rise * _half_circle(s / 8)) for s in range(-8, 9)]
            left, right = x - width / 2, x + width / 2
            canvas.polygon(
                [
                    (left, foot),
                    (left, top),
                    (right, top),
                    (right, foot),
                    (x + radius, foot),
                    *reversed(curve),
                    (x - radius, foot),
                ],
                self.colour,
            )
            canvas.line(curve, shade(self.colour, 0.66), 0.035)
        canvas.line([(-1.6, deck - 0.05), (1.6, deck - 0.05)], shade(self.colour, 0.8), 0.03)

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """River, far bank and sky."""
        horizon = dice.uniform(0.5, 0.6)
        draw_sky(canvas, dice, horizon)
        draw_ground(canvas, dice, horizon)
        draw_water(canvas, dice, horizon + 0.1)


def _half_circle(x: float) -> float:
    """Height of the unit half circle over x in [-1, 1]; the square root is exact everywhere."""
    return float(max(0.0, 1 - x * x) ** 0.5)
