"""Coats of arms: a divided shield with charges, sometimes crowned, sometimes with a motto."""

from dataclasses import dataclass
from typing import ClassVar

from sample.render.canvas import Canvas, Dice, Point, clip, mix, smooth
from sample.render.things.charges import CHARGES, draw_charge
from sample.render.things.thing import PAINTS, draw_wall, paint_names

DIVISIONS = (
    "plain",
    "per pale",
    "per fess",
    "quarterly",
    "with a bend",
    "with a chevron",
    "with a chief",
    "barry",
    "with a pale",
    "with a saltire",
)


@dataclass(frozen=True)
class Arms:
    """A coat of arms."""

    graphic: ClassVar[bool] = True
    fill: ClassVar[float] = 0.78

    division: str
    paints: tuple[str, str]
    charge: str
    charge_paint: str
    charges: int
    crown: bool
    motto: str | None
    pointed: bool

    @classmethod
    def of(cls, dice: Dice) -> "Arms":
        """The traits that these dice decide."""
        first, second, third, fourth = paint_names(dice, 4)
        motto = fourth if dice.chance(0.5) else None
        return cls(
            dice.choice(DIVISIONS),
            (first, second),
            dice.choice(CHARGES),
            third,
            dice.integer(1, 3),
            dice.chance(0.45),
            motto,
            dice.chance(0.5),
        )

    def category(self) -> str:
        """Which sort of its kind."""
        return self.division

    def caption(self) -> str:
        """What is to be seen, in a few words."""
        count = ("one", "two", "three")[self.charges - 1]
        field = f"{self.paints[0]} and {self.paints[1]}"
        return f"a coat of arms, {self.division}, {field}, {count} {self.charge_paint} {self.charge}"

    def _shield(self, grow: float = 0.0) -> list[Point]:
        w = 0.62 + grow
        if self.pointed:
            return [
                (-w, -0.7 - grow),
                (w, -0.7 - grow),
                *smooth([(w, 0.1), (w * 0.8, 0.5), (0, 0.85 + 1.4 * grow)], 4, closed=False),
                *smooth([(0, 0.85 + 1.4 * grow), (-w * 0.8, 0.5), (-w, 0.1)], 4, closed=False),
            ]
        return [(-w, -0.7 - grow), (w, -0.7 - grow), *((w * px, 0.2 + (0.6 + grow) * py) for px, py in _ROUND)]

    def draw(self, canvas: Canvas, dice: Dice) -> None:
        """Rim, field, division, charges, crown, motto."""
        first, second = (PAINTS[name] for name in self.paints)
        canvas.polygon(self._shield(0.05), mix(second, (40, 34, 30), 0.7))
        inside = self._shield()
        canvas.polygon(inside, first)
        places = (((0, 0),), ((-0.28, -0.2), (0.28, -0.2)), ((-0.3, -0.3), (0.3, -0.3), (0, 0.3)))[self.charges - 1]
        match self.division:
            case "per pale" | "with a pale":
                left = 0.0 if self.division == "per pale" else -0.18
                right = 1.0 if self.division == "per pale" else 0.18
                canvas.polygon(clip(inside, left, -1, right, 1), second)
            case "per fess":
                canvas.polygon(clip(inside, -1, 0, 1, 1), second)
            case "quarterly":
                canvas.polygon(clip(inside, 0, -1, 1, 0), second)
                canvas.polygon(clip(inside, -1, 0, 0, 1), second)
            case "with a bend":
                canvas.polygon([(-0.62, -0.7), (-0.3, -0.7), (0.62, 0.24), (0.5, 0.5), (-0.62, -0.42)], second)
            case "with a chevron":
                canvas.polygon([(0, -0.3), (0.6, 0.25), (0.54, 0.5), (0, 0.0), (-0.54, 0.5), (-0.6, 0.25)], second)
            case "with a chief":
                canvas.polygon(clip(inside, -1, -1, 1, -0.3), second)
            case "barry":
                for row in range(3):
                    canvas.polygon(clip(inside, -1, -0.5 + 0.42 * row, 1, -0.29 + 0.42 * row), second)
            case "with a saltire":
                canvas.line([(-0.6, -0.68), (0.45, 0.5)], second, 0.2)
                canvas.line([(0.6, -0.68), (-0.45, 0.5)], second, 0.2)
        radius = (0.36, 0.24, 0.21)[self.charges - 1]
        for x, y in places:
            draw_charge(canvas, self.charge, x, y, radius, PAINTS[self.charge_paint], first)
        if self.crown:
            draw_charge(canvas, "crown", 0, -0.92, 0.26, (214, 172, 60), first)
        if self.motto:
            canvas.blob(
                [(-0.8, 0.82), (0, 0.98), (0.8, 0.82), (0.84, 1.0), (0, 1.18), (-0.84, 1.0)], PAINTS[self.motto]
            )

    def draw_backdrop(self, canvas: Canvas, dice: Dice) -> None:
        """The wall that it hangs on."""
        draw_wall(canvas, dice)


_ROUND = (
    (1.0, 0.0),
    (0.97, 0.4),
    (0.82, 0.75),
    (0.5, 0.97),
    (0.0, 1.05),
    (-0.5, 0.97),
    (-0.82, 0.75),
    (-0.97, 0.4),
    (-1.0, 0.0),
)
