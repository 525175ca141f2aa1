"""Buildings: churches, castles, towers, temples, town houses and domes."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Colour, Dice, jitter, shade
from sample.render.things.thing import draw_ground, draw_sky

TYPES = ("church", "castle", "tower block", "temple", "town house", "domed hall")
WALLS: dict[str, Colour] = {
    "white": (232, 228, 216),
    "grey": (158, 156, 152),
    "brick": (166, 84, 64),
    "sandy": (210, 182, 138),
    "pink": (222, 168, 156),
    "blue": (130, 156, 186),
}
ROOFS: dict[str, Colour] = {
    "red": (164, 64, 48),
    "slate": (84, 92, 104),
    "green": (86, 134, 112),
    "golden": (206, 166, 70),
    "brown": (112, 80, 58),
}


@dataclass(frozen=True)
class Building:
    """A building seen from the street."""

    graphic: ClassVar[bool] = False
    fill: ClassVar[float] = 0.84

    type: str
    wall: Colour
    wall_name: str
    roof: Colour
    roof_name: str
    width: float
    height: float
    floors: int
    columns: int
    towers: int
    tower_height: float
    side: int

    @classmethod
    def of(cls, dice: Dice) -> "Building":
        """The traits that these dice decide."""
        wall, roof = dice.choice(tuple(WALLS)), dice.choice(tuple(ROOFS))
        return cls(
            dice.choice(TYPES),
            jitter(WALLS[wall], dice, 14),
            wall,
            jitter(ROOFS[roof], dice, 12),
            roof,
            dice.uniform(0.5, 0.95),
            dice.uniform(0.55, 1.2),
            dice.integer(2, 6),
            dice.integer(3, 8),
            dice.integer(1, 4),
            dice.uniform(0.3, 0.7),
            dice.choice((-1, 1)),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.type

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        return f"a {self.wall_name} {self.type} with a {self.roof_name} roof"

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """Walls, openings and roofs, standing on y = 0.8."""
        w, ground = self.width, 0.8
        top = ground - self.height * (0.75 if self.type in ("church", "castle") else 1.0)
        if self.type == "tower block":
            w, top = w * 0.5, ground - self.height * 1.45
        side_wall = shade(self.wall, 0.8)
        match self.type:
            case "castle":
                for tower in range(self.towers + 1):
                    x = -w + 2 * w * tower / max(1, self.towers)
                    self._draw_tower(
                        canvas,
                        x,
                        0.17,
                        top - self.tower_height * (0.4 + 0.6 * ((tower * 7 + self.floors) % 3) / 2),
                        ground,
                    )
                self._draw_wall(canvas, -w, top, w, ground, battlements=True)
                canvas.ellipse(0, ground, 0.16, 0.34, (60, 48, 40), start=180, stop=360)
            case "church":
                x = self.side * w * 0.7
                canvas.polygon([(-w, top), (w, top), (w * 0.8, top - 0.3), (-w * 0.8, top - 0.3)], self.roof)
                self._draw_wall(canvas, -w, top, w, ground, battlements=False)
                spire = top - 0.2 - self.tower_height * 0.6
                canvas.rectangle(x - 0.2, spire, x + 0.2, ground, side_wall)
                canvas.polygon(
                    [(x - 0.23, spire), (x, spire - 0.25 - self.tower_height * 0.6), (x + 0.23, spire)], self.roof
                )
                canvas.ellipse(x, spire + 0.18, 0.08, 0.08, (238, 232, 214))
                canvas.ellipse(x, ground, 0.1, 0.24, (66, 48, 38), start=180, stop=360)
            case "temple":
                canvas.rectangle(-w - 0.08, ground - 0.1, w + 0.08, ground, shade(self.wall, 0.9))
                canvas.rectangle(-w, top + 0.25, w, ground - 0.1, shade(self.wall, 0.62))
                for column in range(self.columns + 1):
                    x = -w + 0.07 + (2 * w - 0.14) * column / self.columns
                    canvas.rectangle(x - 0.055, top + 0.25, x + 0.055, ground - 0.1, self.wall)
                canvas.rectangle(-w - 0.05, top + 0.12, w + 0.05, top + 0.26, shade(self.wall, 0.92))
                canvas.polygon(
                    [(-w - 0.1, top + 0.12), (0, top - 0.14 - 0.3 * self.tower_height), (w + 0.1, top + 0.12)],
                    self.roof,
                )
            case "domed hall":
                radius = w * (0.4 + 0.3 * self.tower_height)
                canvas.rectangle(-radius, top - 0.12, radius, top, side_wall)
                canvas.ellipse(
                    0, top - 0.1, radius, radius * (0.8 + 0.5 * self.tower_height), self.roof, start=180, stop=360
                )
                canvas.line([(0, top - 0.1 - radius), (0, top - 0.3 - radius * 1.2)], shade(self.roof, 0.7), 0.04)
                self._draw_wall(canvas, -w, top, w, ground, battlements=False)
            case "town house":
                if self.towers % 2:
                    canvas.polygon([(-w - 0.06, top), (0, top - self.tower_height * 0.9), (w + 0.06, top)], self.roof)
                else:
                    canvas.polygon(
                        [(-w - 0.06, top), (-w * 0.7, top - 0.35), (w * 0.7, top - 0.35), (w + 0.06, top)], self.roof
                    )
                self._draw_wall(canvas, -w, top, w, ground, battlements=False)
                canvas.rectangle(-0.1, ground - 0.28, 0.1, ground, shade(self.roof, 0.7))
            case _:
                canvas.polygon(
                    [(w, top), (w + 0.22, top + 0.1), (w + 0.22, ground), (w, ground)], shade(self.wall, 0.7)
                )
                if self.towers > 2:
                    canvas.polygon([(-w, top), (0, top - self.tower_height * 0.5), (w, top)], self.roof)
                self._draw_wall(canvas, -w, top, w, ground, battlements=False, floors=self.floors + 4)

    def _draw_wall(
        self,
        canvas: Canvas,
        left: float,
        top: float,
        right: float,
        bottom: float,
        *,
        battlements: bool,
        floors: int | None = None,
    ) -> None:
        """A wall with windows."""
        canvas.rectangle(left, top, right, bottom, self.wall)
        width, floors = right - left, floors or max(1, self.floors - 1)
        if battlements:
            for merlon in range(9):
                x = left + width * merlon / 9
                canvas.rectangle(x, top - 0.08, x + width / 18, top, self.wall)
        glass = (70, 84, 104) if not battlements else (54, 46, 42)
        for floor in range(floors):
            y = top + (bottom - top) * (floor + 0.25) / floors
            for column in range(self.columns):
                x = left + width * (column + 0.5) / self.columns
                half, height = width * 0.22 / self.columns, (bottom - top) * 0.5 / floors
                canvas.rectangle(x - half, y, x + half, y + min(height, 0.28), glass)

    def _draw_tower(self, canvas: Canvas, x: float, half: float, top: float, bottom: float) -> None:
        canvas.rectangle(x - half, top, x + half, bottom, shade(self.wall, 0.84))
        if self.side > 0:
            canvas.polygon([(x - half * 1.2, top), (x, top - 0.4), (x + half * 1.2, top)], self.roof)
        else:
            for merlon in (-1.0, -0.3, 0.4):
                canvas.rectangle(x + merlon * half, top - 0.09, x + (merlon + 0.5) * half, top, shade(self.wall, 0.84))
        canvas.rectangle(x - half * 0.2, top + 0.12, x + half * 0.2, top + 0.28, (54, 46, 42))

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """Sky and ground."""
        horizon = dice.uniform(0.66, 0.78)
        draw_sky(canvas, dice, horizon)
        draw_ground(canvas, dice, horizon)
