"""Seeded random numbers, colours, and a canvas of smooth filled shapes, for all drawings.

Pictures must be byte-identical on every machine, so nothing here calls the C library's transcendental functions: random
numbers are uniform ones or sums of them, sines come from a table of whole degrees rounded to 1/65536, and the rest is
IEEE addition and multiplication, or Pillow's integer code.
"""

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import TypeVar

from PIL import Image, ImageDraw

Colour = tuple[int, int, int]
Point = tuple[float, float]
T = TypeVar("T")

# A canvas is this many times larger than its picture; averaging pixels gives smooth edges.
OVERSAMPLING = 2

# Rounding to a coarse grid hides the last-digit differences between C libraries.
_SINES = [round(math.sin(math.radians(degree)) * 65536) / 65536 for degree in range(360)]


def sine(degrees: float) -> float:
    """Return the sine of an angle rounded to a whole degree."""
    return _SINES[round(degrees) % 360]


def cosine(degrees: float) -> float:
    """Return the cosine of an angle rounded to a whole degree."""
    return sine(round(degrees) + 90)


class Dice:
    """Random numbers determined by a key alone: `Dice("flag", 12, "view", 3)`."""

    def __init__(self, *key: object) -> None:
        self._random = random.Random("/".join(map(str, key)))

    def uniform(self, low: float, high: float) -> float:
        """Draw a number in [low, high)."""
        return low + (high - low) * self._random.random()

    def bell(self, spread: float) -> float:
        """Draw a sum of four uniform numbers: mean 0, standard deviation `spread`, at most 3.5 times as far from 0."""
        return spread * 1.7320508 * (sum(self._random.random() for _ in range(4)) - 2.0)

    def integer(self, low: int, high: int) -> int:
        """Draw a whole number in [low, high], both included."""
        return low + int(self._random.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """Draw True with this probability."""
        return self._random.random() < probability

    def choice(self, items: Sequence[T]) -> T:
        """Draw one of the items."""
        return items[int(self._random.random() * len(items))]


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """Mix `first` with a share in [0, 1] of `second`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def shade(colour: Colour, factor: float) -> Colour:
    """Make a colour darker (factor < 1) or lighter (factor > 1)."""
    red, green, blue = (max(0, min(255, round(channel * factor))) for channel in colour)
    return red, green, blue


def jitter(colour: Colour, dice: Dice, amount: int) -> Colour:
    """Draw a similar colour, each channel at most `amount` away."""
    red, green, blue = (max(0, min(255, channel + dice.integer(-amount, amount))) for channel in colour)
    return red, green, blue


def smooth(points: Sequence[Point], steps: int = 5, closed: bool = True) -> list[Point]:
    """Compute points of the Catmull-Rom spline through the given ones, `steps` for each segment."""
    count = len(points)
    curve: list[Point] = []
    for index in range(count if closed else count - 1):
        p0, p1, p2, p3 = (
            points[(index + shift) % count] if closed else points[max(0, min(count - 1, index + shift))]
            for shift in (-1, 0, 1, 2)
        )
        for step in range(steps):
            t = step / steps
            a, b = t * t, t * t * t
            w0, w1, w2, w3 = -t + 2 * a - b, 2 - 5 * a + 3 * b, t + 4 * a - 3 * b, b - a
            curve.append(
                (
                    (w0 * p0[0] + w1 * p1[0] + w2 * p2[0] + w3 * p3[0]) / 2,
                    (w0 * p0[1] + w1 * p1[1] + w2 * p2[1] + w3 * p3[1]) / 2,
                )
            )
    return curve if closed else [*curve, points[-1]]


def clip(polygon: Sequence[Point], outline: Sequence[Point]) -> list[Point]:
    """Return the part of a polygon inside a convex clockwise outline (Sutherland and Hodgman 1974)."""
    kept = list(polygon)
    for (x0, y0), (x1, y1) in zip(outline, [*outline[1:], outline[0]], strict=True):
        corners, kept = kept, []
        for (ax, ay), (bx, by) in zip(corners[-1:] + corners[:-1], corners, strict=True):
            before, after = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) for x, y in ((ax, ay), (bx, by)))
            if (before >= 0) != (after >= 0):
                t = before / (before - after)
                kept.append((ax + (bx - ax) * t, ay + (by - ay) * t))
            if after >= 0:
                kept.append((bx, by))
    return kept


@dataclass(frozen=True)
class Frame:
    """Map from a drawing's own coordinates to the unit square of the picture: x' = a·x + b·y + c, y' = d·x + e·y + f.

    Before that, cloth is lifted by `wave` · sin(200° · x + `phase`).
    """

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 0.0
    e: float = 1.0
    f: float = 0.0
    wave: float = 0.0
    phase: float = 0.0

    def __call__(self, x: float, y: float) -> Point:
        """Map a point."""
        if self.wave:
            y += self.wave * sine(200 * x + self.phase)
        return self.a * x + self.b * y + self.c, self.d * x + self.e * y + self.f

    @staticmethod
    def placed(
        x: float, y: float, scale: float, degrees: float = 0.0, squeeze: float = 1.0, shear: float = 0.0
    ) -> "Frame":
        """Put the origin at (x, y) with unit `scale`; squeeze and slant, then turn clockwise by `degrees`."""
        cos, sin = cosine(degrees) * scale, sine(degrees) * scale
        return Frame(cos * squeeze - sin * shear, -sin, x, sin * squeeze + cos * shear, cos, y)


def _refine(points: list[Point]) -> list[Point]:
    """Return the same line with eight points for each segment, so that it can be bent."""
    return [
        (ax + (bx - ax) * step / 8, ay + (by - ay) * step / 8)
        for (ax, ay), (bx, by) in pairwise(points)
        for step in range(8)
    ] + points[-1:]


class Canvas:
    """Square picture to draw on; shapes are given in a frame's coordinates, by default the unit square.

    The background is red, green and blue; a fourth number, its opacity, makes the picture RGBA.
    """

    def __init__(self, size: int, background: tuple[int, ...], frame: Frame | None = None) -> None:
        self.size = size
        self.frame = frame or Frame()
        mode = "RGBA" if len(background) == 4 else "RGB"
        self.image = Image.new(mode, (size * OVERSAMPLING, size * OVERSAMPLING), background)
        self._draw = ImageDraw.Draw(self.image)

    def _pixels(self, points: Iterable[Point]) -> list[tuple[int, int]]:
        scale = self.size * OVERSAMPLING
        if self.frame.wave:
            points = _refine(list(points))
        return [(round(x * scale), round(y * scale)) for x, y in starmap(self.frame, points)]

    def polygon(self, points: Iterable[Point], fill: Colour) -> None:
        """Draw a filled polygon."""
        corners = list(points)
        self._draw.polygon(self._pixels([*corners, corners[0]]), fill=fill)

    def rectangle(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """Draw a filled rectangle (turned with the frame)."""
        self.polygon(((left, top), (right, top), (right, bottom), (left, bottom)), fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour, *, start: int = 0) -> None:
        """Draw a filled ellipse, or its segment from an angle (clockwise from the right) to 360 degrees."""
        self.polygon(((x + rx * cosine(t), y + ry * sine(t)) for t in range(start, 361, 15)), fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """Draw a line with round joints; `width` in frame units."""
        scale = self.size * OVERSAMPLING
        unit = (abs(self.frame.a) + abs(self.frame.b) + abs(self.frame.d) + abs(self.frame.e)) / 2
        self._draw.line(self._pixels(points), fill=fill, width=max(1, round(width * unit * scale)), joint="curve")

    def finish(self) -> Image.Image:
        """Return the picture at its final size."""
        return self.image.reduce(OVERSAMPLING)
