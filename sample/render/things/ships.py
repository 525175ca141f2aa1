"""Ships: sailing ships, steamers, freighters, warships and yachts."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, jitter, shade
from sample.render.things.thing import PAINTS, draw_sky, draw_water, paint_names

RIGS = ("sailing ship", "steamer", "freighter", "warship", "yacht")


@dataclass(frozen=True)
class Ship:
    """A ship seen from the side."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.86

    rig: str
    hull: Colour
    hull_name: str
    trim: str
    length: float
    height: float
    bow: float
    masts: int
    house: float
    shift: float
    stripes: int
    sail: Colour
    boxes: tuple[str, ...]

    @classmethod
    def of(cls, dice: Dice) -> "Ship":
        """The traits that these dice decide."""
        rig, names = dice.choice(RIGS), paint_names(dice, 2)
        hull = (118, 126, 132) if rig == "warship" else PAINTS[names[0]]
        return cls(
            rig,
            jitter(hull, dice, 20),
            "grey" if rig == "warship" else names[0],
            names[1],
            dice.uniform(0.68, 0.98),
            dice.uniform(0.16, 0.3),
            dice.uniform(0.05, 0.3),
            dice.integer(1, 4),
            dice.uniform(0.3, 0.75),
            dice.uniform(-0.35, 0.35),
            dice.integer(0, 2),
            jitter(dice.choice(((236, 228, 210), (214, 180, 140), (160, 60, 50), (240, 240, 244))), dice, 14),
            tuple(paint_names(dice, 6)),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.rig

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        part = {
            "sailing ship": "masts",
            "steamer": "funnels",
            "freighter": "rows of boxes",
            "warship": "turrets",
            "yacht": "sails",
        }[self.rig]
        return f"a {self.hull_name} {self.rig} with {self.masts} {part} and {self.trim} trim"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """What stands on deck, then the hull."""
        deck, length = 0.45, self.length
        match self.rig:
            case "sailing ship":
                self._draw_masts(canvas, deck)
            case "yacht":
                top, foot = -0.95, deck - 0.03
                x = self.shift * 0.4
                canvas.polygon([(x, top), (x, foot - 0.05), (x - 0.45 - 0.3 * self.house, foot - 0.05)], self.sail)
                if self.masts > 1:
                    canvas.polygon(
                        [(x + 0.05, top + 0.2), (length * 0.95, foot), (x + 0.05, foot - 0.05)], PAINTS[self.trim]
                    )
                canvas.line([(x, top - 0.04), (x, deck)], (90, 70, 50), 0.03)
            case "warship":
                self._draw_house(canvas, deck, (132, 140, 146), 3)
                for turret in range(self.masts):
                    x = -length * 0.75 + turret * length * 0.45
                    canvas.rectangle(x - 0.08, deck - 0.1, x + 0.08, deck, (104, 110, 116))
                    canvas.line([(x, deck - 0.07), (x + 0.2, deck - 0.12)], (84, 90, 96), 0.03)
            case "freighter":
                for row in range(self.masts):
                    for column in range(6):
                        x = -length * 0.55 + column * length * 0.22
                        paint = PAINTS[self.boxes[(row * 5 + column * 2) % 6]]
                        canvas.rectangle(x, deck - 0.14 * (row + 1), x + length * 0.2, deck - 0.14 * row - 0.012, paint)
                canvas.rectangle(-length * 0.85, deck - 0.62, -length * 0.6, deck, (236, 234, 228))
                canvas.rectangle(-length * 0.8, deck - 0.55, -length * 0.62, deck - 0.48, (50, 60, 70))
            case _:
                self._draw_house(canvas, deck, (240, 238, 230), 2)
                for funnel in range(self.masts):
                    x = self.shift * 0.4 + (funnel - (self.masts - 1) / 2) * 0.26
                    canvas.polygon(
                        [(x - 0.07, deck - 0.25), (x - 0.09, -0.35), (x + 0.05, -0.35), (x + 0.07, deck - 0.25)],
                        PAINTS[self.trim],
                    )
                    canvas.polygon(
                        [(x - 0.087, -0.25), (x - 0.09, -0.35), (x + 0.05, -0.35), (x + 0.055, -0.25)], (30, 30, 34)
                    )
        self._draw_hull(canvas, deck)

    def _draw_hull(self, canvas: Canvas, deck: float) -> None:
        length, keel = self.length, 0.45 + self.height
        prow = [(length, deck - 0.08), (length - self.bow * 0.4, deck + self.height * 0.5), (length - self.bow, keel)]
        hull = [(-length, deck - 0.05), (0, deck), *prow, (-length * 0.86, keel), (-length * 0.95, deck + 0.1)]
        canvas.polygon(hull, self.hull)
        for stripe in range(self.stripes):
            y = deck + 0.05 + 0.07 * stripe
            canvas.line([(-length * 0.95, y), (length * 0.93, y)], PAINTS[self.trim], 0.025)
        canvas.polygon(
            [
                (-length * 0.9, keel - 0.05),
                (length - self.bow * 0.8, keel - 0.05),
                (length - self.bow, keel),
                (-length * 0.86, keel),
            ],
            shade(self.hull, 0.6),
        )
        canvas.line([(-length, keel + 0.01), (length * 0.9, keel + 0.01)], (226, 236, 240), 0.03)

    def _draw_house(self, canvas: Canvas, deck: float, colour: Colour, floors: int) -> None:
        width, x = self.house * self.length, self.shift * 0.4
        for floor in range(floors):
            half, bottom = width * (1 - 0.22 * floor), deck - 0.15 * floor
            canvas.rectangle(x - half, bottom - 0.15, x + half, bottom, shade(colour, 1 - 0.05 * floor))
            for window in range(7):
                left = x - half * 0.9 + window * half * 0.26
                canvas.rectangle(left, bottom - 0.1, left + half * 0.12, bottom - 0.05, (60, 70, 84))

    def _draw_masts(self, canvas: Canvas, deck: float) -> None:
        for mast in range(self.masts):
            x = self.length * (-0.55 + 1.15 * (mast + 0.5) / self.masts)
            canvas.line([(x, -0.9 + 0.1 * (mast % 2)), (x, deck)], (84, 62, 44), 0.03)
            half = 0.62 * self.length / (self.masts + 0.4)
            for row in range(3):
                top, reach = -0.8 + 0.38 * row + 0.06 * (mast % 2), half * (0.62 + 0.16 * row)
                belly = [
                    (x - reach, top),
                    (x + reach, top),
                    (x + reach * 1.15, top + 0.2),
                    (x + reach, top + 0.34),
                    (x - reach, top + 0.34),
                ]
                canvas.polygon(belly, shade(self.sail, 1 - 0.05 * row))

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """Sea and sky."""
        horizon = dice.uniform(0.5, 0.66)
        draw_sky(canvas, dice, horizon)
        draw_water(canvas, dice, horizon)
