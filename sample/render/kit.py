"""Drawing kit: a pen draws parts, which are data, with the dice, traits and colours of one entity.

A part is a line of text, `SHAPE FILL NUMBERS`, as in SVG's paths, or a mapping; `kinds/*.yaml` are made of them.

- Shapes: `rect x y x y`, `poly`, `blob` (smooth), `line`, `curve` (smooth) and `rough` (a polygon whose corners stray)
  with `x y x y ...`, `oval x y rx ry`, `dome x y rx ry` (its upper half), `charge x y r` (the entity's small figure),
  `rungs n x y ... to x y ...` (n + 1 lines between two curves) and `zigzag` (likewise).
- Fill: a colour of the entity or of palette `fixed`, a grey level, or `any`; `wall*.8` is darker, `rope/.03` is a
  line's width, `red|blue` alternate from copy to copy, and `ink:red` draws a charge in ink whose openings show red.
- Number: `.3`, the name of a trait, or `.2~.4`: drawn by the dice.
- Mappings draw the parts under `draw` again and again: `mirror`; `turn: n`, around the origin; `row: n` with
  `pitch: [dx, dy]`; `cells: [columns, rows]` in the box `in`, where each cell is [-1, 1]²; once, moved, scaled and
  turned, `at: [x, y, rx, ry, degrees]`; on another `surface`; cut off at the convex outline `within`; `if` a
  trait is there; or those of a trait's value, `by: trait`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, starmap
from typing import Any

from sample.render.canvas import Canvas, Colour, Dice, Frame, Point, clip, cosine, jitter, shade, sine, smooth
from trivium.core.parameters import read_beside

_NUMBER = re.compile(r"-?\d*\.\d+")
_CIRCLE = [(cosine(degrees), sine(degrees)) for degrees in range(0, 361, 18)]
# Map from a drawing's coordinates to those of its shapes.
Surface = Callable[[float, float], Point]


@cache
def read(name: str) -> Any:
    """Read a file of `kinds`."""
    return read_beside(__file__, "kinds", f"{name}.yaml")


@dataclass(frozen=True)
class Shape:
    """Polygon, or a line if it has a width."""

    points: list[Point]
    fill: Colour
    width: float


def draw_shapes(canvas: Canvas, shapes: Sequence[Shape]) -> None:
    """Draw shapes in the canvas's frame."""
    for shape in shapes:
        if shape.width:
            canvas.line(shape.points, shape.fill, shape.width)
        else:
            canvas.polygon(shape.points, shape.fill)


def choose_colour(dice: Dice, palette: str, *, besides: Sequence[str] = (), stray: int = 16) -> tuple[str, Colour]:
    """Draw a colour of a palette, none in `besides`, each channel at most `stray` away; returns its name and it."""
    colours = {name: channels for name, channels in read("palettes")[palette].items() if name not in besides}
    name = dice.choice(tuple(colours))
    return name, jitter(as_colour(colours[name]), dice, stray)


def as_colour(channels: Sequence[int]) -> Colour:
    """Make a colour of the three numbers in a file."""
    red, green, blue = channels
    return red, green, blue


class Pen:
    """Pen that draws one entity.

    Args:
        dice: draw what the parts leave open.
        traits: texts and numbers that parts name.
        colours: colours that fills name, in addition to the fixed ones.
        figure: the entity's charge.
        surfaces: surfaces on which parts can be drawn.
    """

    def __init__(
        self,
        dice: Dice,
        traits: Mapping[str, Any],
        colours: Mapping[str, Colour],
        *,
        figure: str = "",
        surfaces: Mapping[str, Surface] | None = None,
    ) -> None:
        self._dice, self._traits, self._figure, self._surfaces = dice, traits, figure, surfaces or {}
        fixed = {name: as_colour(channels) for name, channels in read("palettes")["fixed"].items()}
        self._colours = fixed | dict(colours)
        self._shapes: list[Shape] = []
        self._surface: Surface | None = None

    def shapes(self, parts: Sequence[Any], surface: Surface | None = None) -> list[Shape]:
        """Return the shapes of parts that lie on a surface."""
        self._shapes, self._surface = [], surface
        self._draw(parts, Frame(), 0)
        return self._shapes

    def _draw(self, parts: Sequence[Any], frame: Frame, copy: int) -> None:
        """Draw parts (texts, mappings, and lists that a YAML anchor inserts); `copy` counts repetitions."""
        for part in parts:
            if isinstance(part, str):
                self._draw_shape(part, frame, copy)
            elif isinstance(part, list):
                self._draw(part, frame, copy)
            elif "by" in part:
                self._draw(part.get(self._traits[part["by"]], part.get("else", [])), frame, copy)
            elif "if" in part:
                self._draw(part["draw"] if self._traits[part["if"]] else [], frame, copy)
            elif "surface" in part:
                self._surface = self._surfaces[part["surface"]]
                self._draw(part["draw"], frame, copy)
            elif "within" in part:
                first = len(self._shapes)
                self._draw(part["draw"], frame, copy)
                outline = [frame(*point) for point in self._pairs(_words(part["within"]))]
                cut = [Shape(clip(shape.points, outline), shape.fill, 0.0) for shape in self._shapes[first:]]
                self._shapes[first:] = [shape for shape in cut if shape.points]
            else:
                for number, step in enumerate(self._steps(part)):
                    self._draw(part.get("draw", part.get("mirror")), _compose(step, frame), number)

    def _steps(self, part: dict[str, Any]) -> list[Frame]:
        """Return the map of each copy that a mapping draws."""
        if "mirror" in part:
            return [Frame(), Frame(a=-1.0)]
        if "turn" in part:
            count = int(self._number(part["turn"]))
            return [_place(0, 0, 1, 1, i * 360 / count) for i in range(count)]
        if "row" in part:
            count, (dx, dy) = int(self._number(part["row"])), map(self._number, part["pitch"])
            return [_place((i - (count - 1) / 2) * dx, i * dy) for i in range(count)]
        if "cells" in part:
            columns, rows = (int(self._number(number)) for number in part["cells"])
            left, top, right, bottom = (self._number(number) for number in part["in"])
            rx, ry = (right - left) / max(1, columns) / 2, (bottom - top) / max(1, rows) / 2
            return [
                _place(left + rx * (2 * column + 1), top + ry * (2 * row + 1), rx, ry)
                for row in range(rows)
                for column in range(columns)
            ]
        return [_place(*(self._number(number) for number in part["at"]))]

    def _draw_shape(self, text: str, frame: Frame, copy: int) -> None:
        shape, paint, *rest = _words(text)
        names, _, width = paint.partition("/")
        name = names.split("|")[copy % (names.count("|") + 1)]
        if shape in ("rungs", "zigzag"):
            count, middle = int(self._number(rest[0])), rest.index("to")
            first, second = (self._curve(numbers) for numbers in (rest[1:middle], rest[middle + 1 :]))
            ends = [(_interpolate(first, i / count), _interpolate(second, i / count)) for i in range(count + 1)]
            if shape == "zigzag":
                ends = [(a[i % 2], b[1 - i % 2]) for i, (a, b) in enumerate(pairwise(ends))]
            for line in ends:
                self._add(line, frame, name, width)
        elif shape == "charge":
            ink, _, ground = name.partition(":")
            self._colours |= {"ink": self._fill(ink), "ground": self._fill(ground or "paper")}
            x, y, r = map(self._number, rest)
            self._draw(read("charges")[self._figure], _compose(_place(x, y, r), frame), 0)
        else:
            self._add(self._outline(shape, self._pairs(rest)), frame, name, width)

    def _outline(self, shape: str, points: list[Point]) -> list[Point]:
        match shape:
            case "rect":
                (left, top), (right, bottom) = points
                return [(left, top), (right, top), (right, bottom), (left, bottom)]
            case "oval" | "dome":
                (x, y), (rx, ry) = points
                return [(x + rx * cos, y + ry * sin) for cos, sin in (_CIRCLE[10:] if shape == "dome" else _CIRCLE)]
            case "rough":
                return [(x + self._dice.uniform(-0.08, 0.08), y + self._dice.uniform(-0.12, 0.12)) for x, y in points]
            case "blob" | "curve":
                return smooth(points, 3, closed=shape == "blob")
            case "poly" | "line":
                return points
        raise ValueError(f"unknown shape {shape!r} (choices: rect, oval, dome, rough, blob, curve, poly, line)")

    def _curve(self, numbers: Sequence[Any]) -> list[Point]:
        points = self._pairs(numbers)
        return smooth(points, closed=False) if len(points) > 2 else points

    def _pairs(self, numbers: Sequence[Any]) -> list[Point]:
        values = [self._number(number) for number in numbers]
        return list(zip(values[::2], values[1::2], strict=True))

    def _number(self, text: Any) -> float:
        if isinstance(text, float):
            return text
        if text in self._traits:
            return float(self._traits[text])
        low, ranging, high = str(text).partition("~")
        return self._dice.uniform(float(low), float(high)) if ranging else float(low)

    def _fill(self, name: str) -> Colour:
        name, _, factor = name.partition("*")
        if name.isdecimal():
            return int(name), int(name), int(name)
        colour = choose_colour(self._dice, "paints", stray=0)[1] if name == "any" else self._colours[name]
        return shade(colour, self._number(factor)) if factor else colour

    def _add(self, points: Sequence[Point], frame: Frame, name: str, width: str) -> None:
        size = self._number(width) if width else 0.0
        placed = list(starmap(frame, points))
        placed = list(starmap(self._surface, placed)) if self._surface else placed
        self._shapes.append(Shape(placed, self._fill(name), size))


@cache
def _words(text: str) -> list[Any]:
    """Split a part into words; decimal numbers become floats, whole ones stay text, since they may be fills."""
    return [float(word) if _NUMBER.fullmatch(word) else word for word in text.split()]


def _place(x: float, y: float, rx: float = 1.0, ry: float | None = None, degrees: float = 0.0) -> Frame:
    """Make a map that scales by `rx` (and by `ry` downwards, if given), then turns clockwise and moves."""
    ry, cos, sin = rx if ry is None else ry, cosine(degrees), sine(degrees)
    return Frame(rx * cos, -ry * sin, x, rx * sin, ry * cos, y)


def _compose(first: Frame, second: Frame) -> Frame:
    (c, f), a, b, d, e = second(first.c, first.f), second.a, second.b, second.d, second.e
    return Frame(
        a * first.a + b * first.d, a * first.b + b * first.e, c, d * first.a + e * first.d, d * first.b + e * first.e, f
    )


def _interpolate(line: Sequence[Point], share: float) -> Point:
    """Return the point at a share of a line, each of whose segments counts equally."""
    place = share * (len(line) - 1)
    first = min(int(place), len(line) - 2)
    (ax, ay), (bx, by), rest = line[first], line[first + 1], place - first
    return ax + (bx - ax) * rest, ay + (by - ay) * rest
