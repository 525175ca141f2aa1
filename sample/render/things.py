"""The drawing kit of things: `kinds/*.yaml` say of what parts a kind consists, and an entity's dice choose among them.

A drawing fills about [-1, 1]², y down. A part is a line of text, `SHAPE FILL NUMBERS`, as in SVG's paths, or a mapping.

- Shapes: `rect x y x y`, `poly`, `blob` (smooth), `line`, `curve` (smooth) and `rough` (a polygon whose corners stray)
  with `x y x y ...`, `oval x y rx ry`, `dome x y rx ry` (its upper half), `charge x y r` (the entity's small figure),
  `rungs n x y ... to x y ...` (n + 1 lines between two curves) and `zigzag` (likewise).
- Fill: a colour of the entity or of palette `fixed`, or `any`; `wall*.8` is darker, `rope/.03` is a line's width,
  `red|blue` alternate from copy to copy, and `ink:red` draws a charge in ink whose openings show red.
- Number: `.3`, the name of a trait, or `.2~.4`: decided by the dice.
- Mappings draw the parts under `draw` again and again: `mirror`; `turn: n`, around the origin; `row: n` with
  `pitch: [dx, dy]`; `cells: [columns, rows]` in the box `in`, where each cell is [-1, 1]²; once, moved and scaled, `at:
  [x, y, r]`; cut off at the convex outline `within`; `if` a trait is there; or those of a trait's value, `by: trait`.

At last the whole drawing is bent: `warp` moves what lies at -1, -0.5, 0.5 and 1 of both axes, `stretch` changes width
and height. So no two entities have the same proportions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from sample.render.canvas import Canvas, Colour, Dice, Point, clip, cosine, jitter, shade, sine, smooth

THINGS = ("flag", "coat_of_arms", "logo", "ship", "bridge", "building", "landscape", "animal", "instrument")
Place = Callable[[float, float], Point]


@cache
def read(name: str) -> Any:
    """A file of `kinds`, by its name."""
    return yaml.safe_load((Path(__file__).parent / "kinds" / f"{name}.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Kind:
    """A kind of thing, as its file says it.

    Attributes:
        fill: share of a picture's side that the drawing usually fills.
        backdrop: what stands behind it, of `backdrops.BACKDROPS`, from far to near.
        caption: what is to be seen, with the names of sort, figure, traits and colours in braces.
        sorts: the parts of each sort; `under` and `over` are drawn before and after.
        colours: the palette of each colour. By sort, with "else" for the rest, may be: palette, caption, backdrop.
        traits: [lowest, highest] of a whole number; [probability, text] of what is or is not there; or choices.
        graphic: its reference picture is the clean design on white, not a photograph.
    """

    fill: float
    backdrop: Any
    caption: Any
    sorts: dict[str, list[Any]]
    colours: dict[str, Any]
    traits: dict[str, list[Any]] = field(default_factory=dict)
    under: list[Any] = field(default_factory=list)
    over: list[Any] = field(default_factory=list)
    warp: float = 0.0
    stretch: float = 0.0
    graphic: bool = False


@dataclass(frozen=True)
class Shape:
    """A polygon, or a line if it has a width."""

    points: list[Point]
    fill: Colour
    width: float


@dataclass(frozen=True)
class Thing:
    """What one thing looks like: which sort of its kind it is, a caption, its shapes in [-1, 1]², what is behind."""

    kind: Kind
    category: str
    caption: str
    backdrop: list[str]
    shapes: list[Shape]

    def draw(self, canvas: Canvas) -> None:
        """Draw in the canvas's frame."""
        for shape in self.shapes:
            if shape.width:
                canvas.line(shape.points, shape.fill, shape.width)
            else:
                canvas.polygon(shape.points, shape.fill)


@cache
def kind_of(name: str) -> Kind:
    """A kind by its name."""
    return Kind(**read(name))


@lru_cache(maxsize=1024)
def thing_of(kind: str, identity: int) -> Thing:
    """What the thing with an identity looks like."""
    return _Maker(kind_of(kind), Dice(kind, identity)).make()


class _Maker:
    """The making of one thing from its kind's parts by its dice."""

    def __init__(self, kind: Kind, dice: Dice) -> None:
        self.kind, self.dice, self.shapes = kind, dice, list[Shape]()
        self.sort = dice.choice(tuple(kind.sorts))
        self.figure = dice.choice(tuple(read("charges")))
        self.traits: dict[str, Any] = {name: self._trait(choices) for name, choices in kind.traits.items()}
        self.names: dict[str, str] = {}
        self.colours = {name: _colour(channels) for name, channels in read("palettes")["fixed"].items()}
        for slot, palette in kind.colours.items():
            palette = read("palettes")[self._by_sort(palette)]
            colours = {name: rgb for name, rgb in palette.items() if name not in self.names.values()}
            self.names[slot] = dice.choice(tuple(colours))
            self.colours[slot] = jitter(_colour(colours[self.names[slot]]), dice, 0 if kind.graphic else 16)

    def make(self) -> Thing:
        """Draw all parts, then bend them."""
        self._draw([*self.kind.under, *self.kind.sorts[self.sort], *self.kind.over], lambda x, y: (x, y), 0)
        words = self.traits | self.names | {"sort": self.sort, "figure": self.figure}
        across, down = self._bend(), self._bend()
        shapes = [
            Shape([(across(x), down(y)) for x, y in shape.points], shape.fill, shape.width) for shape in self.shapes
        ]
        # Twice: the text of a trait may name others.
        caption = self._by_sort(self.kind.caption).format(**words).format(**words)
        return Thing(self.kind, self.sort, caption, self._by_sort(self.kind.backdrop), shapes)

    def _by_sort(self, choice: Any) -> Any:
        return choice.get(self.sort, choice["else"]) if isinstance(choice, dict) else choice

    def _trait(self, choices: Sequence[Any]) -> Any:
        first, last = choices[0], choices[-1]
        if isinstance(first, int):
            return self.dice.integer(first, last)
        if isinstance(first, float):
            return last if self.dice.chance(first) else ""
        return self.dice.choice(choices)

    def _bend(self) -> Callable[[float], float]:
        """A map of an axis that keeps 0: linear between -1, -0.5, 0, 0.5 and 1, and beyond."""
        scale = 1 + self.dice.uniform(-self.kind.stretch, self.kind.stretch)
        inner = {side: 0.5 + self.dice.uniform(-0.5, 0.5) * self.kind.warp for side in (-1, 1)}

        def bend(value: float) -> float:
            side = -1 if value < 0 else 1
            size, middle = abs(value), inner[side]
            bent = size * middle * 2 if size < 0.5 else middle + (size - 0.5) * (1 - middle) * 2
            return side * scale * bent

        return bend

    def _number(self, text: Any) -> float:
        if text in self.traits:
            return float(self.traits[text])
        low, ranging, high = str(text).partition("~")
        return self.dice.uniform(float(low), float(high)) if ranging else float(low)

    def _draw(self, parts: Sequence[Any], place: Place, copy: int) -> None:
        """Draw parts: texts, mappings, and lists that an anchor brings in; `copy` counts what is drawn repeatedly."""
        for part in parts:
            if isinstance(part, str):
                self._draw_shape(part, place, copy)
            elif isinstance(part, list):
                self._draw(part, place, copy)
            elif "by" in part:
                self._draw(part.get(self.traits[part["by"]], part.get("else", [])), place, copy)
            elif "if" in part:
                self._draw(part["draw"] if self.traits[part["if"]] else [], place, copy)
            elif "within" in part:
                first = len(self.shapes)
                self._draw(part["draw"], place, copy)
                outline = [place(*point) for point in _pairs([float(number) for number in part["within"].split()])]
                cut = [Shape(clip(shape.points, outline), shape.fill, 0.0) for shape in self.shapes[first:]]
                self.shapes[first:] = [shape for shape in cut if shape.points]
            else:
                for number, step in enumerate(self._steps(part)):
                    self._draw(part.get("draw", part.get("mirror")), _then(step, place), number)

    def _steps(self, part: dict[str, Any]) -> list[Place]:
        """For each copy, where a mapping moves its parts."""
        if "mirror" in part:
            return [lambda x, y: (x, y), lambda x, y: (-x, y)]
        if "turn" in part:
            count = int(self._number(part["turn"]))
            return [_placed(0, 0, cosine(i * 360 / count), sine(i * 360 / count)) for i in range(count)]
        if "row" in part:
            count, (dx, dy) = int(self._number(part["row"])), map(self._number, part["pitch"])
            return [_placed((i - (count - 1) / 2) * dx, i * dy) for i in range(count)]
        if "cells" in part:
            columns, rows = (int(self._number(number)) for number in part["cells"])
            left, top, right, bottom = (self._number(number) for number in part["in"])
            rx, ry = (right - left) / max(1, columns) / 2, (bottom - top) / max(1, rows) / 2
            return [
                _placed(left + rx * (2 * column + 1), top + ry * (2 * row + 1), rx, 0, ry / rx)
                for row in range(rows)
                for column in range(columns)
            ]
        x, y, r = (self._number(number) for number in part["at"])
        return [_placed(x, y, r)]

    def _draw_shape(self, text: str, place: Place, copy: int) -> None:
        shape, paint, *rest = text.split()
        names, _, width = paint.partition("/")
        name = names.split("|")[copy % (names.count("|") + 1)]
        if shape in ("rungs", "zigzag"):
            count, *rest = rest
            middle = rest.index("to")
            first, second = (self._curve(numbers) for numbers in (rest[:middle], rest[middle + 1 :]))
            shares = [i / int(self._number(count)) for i in range(int(self._number(count)) + 1)]
            ends = [(_along(first, share), _along(second, share)) for share in shares]
            if shape == "zigzag":
                ends = [(a[i % 2], b[1 - i % 2]) for i, (a, b) in enumerate(pairwise(ends))]
            for line in ends:
                self._add(line, place, self._fill(name), self._number(width))
            return
        numbers = [self._number(number) for number in rest]
        if shape == "charge":
            ink, _, ground = name.partition(":")
            self.colours |= {"ink": self._fill(ink), "ground": self._fill(ground)}
            self._draw(read("charges")[self.figure], _then(_placed(*numbers), place), 0)
            return
        points = self._outline(shape, numbers)
        self._add(points, place, self._fill(name), self._number(width) if width else 0.0)

    def _outline(self, shape: str, numbers: list[float]) -> list[Point]:
        points = _pairs(numbers)
        if shape == "rect":
            (left, top), (right, bottom) = points
            return [(left, top), (right, top), (right, bottom), (left, bottom)]
        if shape in ("oval", "dome"):
            (x, y), (rx, ry) = points
            return [(x + rx * cosine(t), y + ry * sine(t)) for t in range(180 if shape == "dome" else 0, 361, 18)]
        if shape == "rough":
            return [(x + self.dice.uniform(-0.08, 0.08), y + self.dice.uniform(-0.12, 0.12)) for x, y in points]
        return smooth(points, closed=shape == "blob") if shape in ("blob", "curve") else points

    def _curve(self, numbers: Sequence[str]) -> list[Point]:
        points = _pairs([self._number(number) for number in numbers])
        return smooth(points, closed=False) if len(points) > 2 else points

    def _fill(self, name: str) -> Colour:
        name, _, factor = name.partition("*")
        colour = _colour(self.dice.choice([*read("palettes")["paints"].values()])) if name == "any" else None
        colour = colour or self.colours[name or "ink"]
        return shade(colour, self._number(factor)) if factor else colour

    def _add(self, points: Sequence[Point], place: Place, fill: Colour, width: float) -> None:
        self.shapes.append(Shape([place(*point) for point in points], fill, width))


def _colour(channels: Sequence[int]) -> Colour:
    red, green, blue = channels
    return red, green, blue


def _pairs(numbers: Sequence[float]) -> list[Point]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _placed(x0: float, y0: float, cos: float = 1.0, sin: float = 0.0, squeeze: float = 1.0) -> Place:
    """A map that scales, turns, squeezes downwards and moves, in this order."""
    return lambda x, y: (x0 + x * cos - y * sin * squeeze, y0 + x * sin + y * cos * squeeze)


def _then(first: Place, second: Place) -> Place:
    return lambda x, y: second(*first(x, y))


def _along(line: Sequence[Point], share: float) -> Point:
    """The point at a share of a line, each of whose segments counts as much."""
    place = share * (len(line) - 1)
    first = min(int(place), len(line) - 2)
    (ax, ay), (bx, by), rest = line[first], line[first + 1], place - first
    return ax + (bx - ax) * rest, ay + (by - ay) * rest
