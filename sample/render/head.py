"""A head in three dimensions, drawn as shaded flat shapes.

Head coordinates: x to the right, y down, z towards the camera; the chin is at y = 1, the crown at y = -1, the ears at
x = ±width. Features lie on an ellipsoid, so turning the head moves them as perspective would.
"""

import math
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from sample.render.canvas import OVERSAMPLING, Canvas, Frame, Point, cosine, mix, shade, sine, smooth
from sample.render.kit import Pen, draw_shapes, read
from sample.render.traits import Face

# The shadow layer is soft: drawn at a quarter of the canvas's size.
_SHADOW_SCALE = 4


class Head:
    """A face turned by `yaw` and nodding by `pitch` degrees.

    Args:
        face: the person's traits.
        frame: head coordinates to the picture's unit square.
        smile: 0 (grave) to 1 (teeth).
        light: from which side the light comes, -1 (left) to 1.
    """

    def __init__(
        self, face: Face, frame: Frame, *, yaw: float = 0, pitch: float = 0, smile: float = 0.3, light: float = -0.5
    ) -> None:
        self.face, self.frame, self.light = face, frame, light
        self._cos, self._sin, self._nod = cosine(yaw), sine(yaw), sine(pitch)
        own, woman = face.measures, face.woman
        self.traits: dict[str, Any] = {
            **own,
            **face.marks,
            "style": face.style,
            "beard": face.beard,
            "glasses": face.glasses,
            "opening": own["eye_size"] * own["eye_open"] * (1 - 0.25 * smile),
            "brow": own["eye_height"] - own["brow_height"],
            "tip": own["eye_height"] + own["nose_length"],
            "mouth_width": own["mouth_width"] * (1 + 0.14 * smile),
            "corner": -smile,
            "teeth": smile > 0.6,
            "lit": 1 if light > 0 else -1,
            "broad": 1.35 if woman else 1.6,
            "neck": 0.34 if woman else 0.42,
        }
        lips = mix(face.skin, (176, 44, 62) if woman else (150, 70, 64), 0.55 if woman else 0.4)
        self.colours = {
            "skin": face.skin,
            "hair": face.hair,
            "iris": face.iris,
            "lips": lips,
            "lash": (40, 28, 24) if woman else shade(face.skin, 0.38),
            "brows": mix(face.hair, (40, 30, 26), 0.45),
            "stubble": mix(face.hair, face.skin, 0.12),
        }
        self.surfaces = {
            "flat": lambda x, y: (x, y),
            "face": self.at,
            "raised": lambda x, y: self.at(x, y, lift=0.06),
            "hair": lambda x, y: self.at(x, y, reach=1.0, height=1.02),
        }

    def at(self, x: float, y: float, lift: float = 0.0, reach: float = 1.08, height: float = 1.25) -> Point:
        """A point of an ellipsoid, `reach` face widths wide and `height` high, seen from the camera.

        The point is `lift` in front of the surface; the default surface is the face's.
        """
        width = self.face.measures["width"] * reach
        z = 0.85 * math.sqrt(max(0.0, 1 - (x / width) ** 2 - (y / height) ** 2)) + lift
        return x * self._cos + z * self._sin, y - (z - 0.55) * self._nod

    def landmarks(self) -> list[Point]:
        """Both eyes (the picture's left one first), nose tip and mouth corners in the picture's unit square."""
        own = self.traits
        points = [self.at(side * own["eye_gap"], own["eye_height"]) for side in (-1, 1)]
        points.append(self.at(0, own["tip"], 0.12))
        points += [self.at(side * own["mouth_width"], own["mouth_height"]) for side in (-1, 1)]
        return [self.frame(*point) for point in points]

    def outline(self, grow: float = 0.0) -> list[Point]:
        """The head's contour in frame coordinates."""
        own = self.face.measures
        w, jaw, shift = own["width"] + grow, own["jaw"], 0.07 * self._sin
        half = [(0.0, -1.0 - grow), (w * own["forehead"] * 0.72, -0.88 - grow), (w * 0.97, -0.42), (w, -0.02)]
        half += [(w * (jaw + 0.1), 0.45), (w * jaw * 0.86, 0.7), (own["chin"] * w * 1.05, 0.93 + grow / 2)]
        whole = [*half, (0.0, 1.0 + grow), *((-x, y) for x, y in reversed(half[1:]))]
        return smooth([(x + shift * (1 if y > -0.2 else -0.6), y - 0.1 * self._nod * (1 - y)) for x, y in whole], 4)

    def draw(self, canvas: Canvas, pen: Pen) -> None:
        """Draw ears, skull and its shadows, then all that lies on it."""
        person, canvas.frame = read("person"), self.frame
        draw_shapes(canvas, pen.shapes(person["ears"]))
        canvas.polygon(self.outline(), self.face.skin)
        self._shade(canvas, pen)
        draw_shapes(canvas, pen.shapes(person["front"]))

    def _shade(self, canvas: Canvas, pen: Pen) -> None:
        """Lay light and shadow of the skull over the skin."""
        side = canvas.size * OVERSAMPLING // _SHADOW_SCALE
        shadow = Image.new("L", (side, side), 128)
        layer = ImageDraw.Draw(shadow)

        def fill(points: list[Point], level: int) -> None:
            layer.polygon([(round(x * side), round(y * side)) for x, y in (self.frame(*p) for p in points)], fill=level)

        fill(self.outline(), round(112 - 10 * abs(self.light)))
        for shape in pen.shapes(read("person")["shadow"], self.at):
            fill(shape.points, shape.fill[0])
        unit = abs(self.frame.a) + abs(self.frame.b)
        soft = shadow.filter(ImageFilter.GaussianBlur(round(max(0.5, 0.055 * unit * side) * 4) / 4))
        # Only around the head: everywhere else the layer leaves the picture as it is.
        x, y, reach = round(self.frame.c * side), round(self.frame.f * side), round(1.5 * unit * side)
        left, top, right, bottom = max(0, x - reach), max(0, y - reach), min(side, x + reach), min(side, y + reach)
        box = (_SHADOW_SCALE * left, _SHADOW_SCALE * top, _SHADOW_SCALE * right, _SHADOW_SCALE * bottom)
        part, soft = canvas.image.crop(box), soft.crop((left, top, right, bottom))
        gain = np.asarray(soft.resize(part.size, Image.Resampling.BILINEAR), dtype=np.uint16)[:, :, None]
        pixels = np.asarray(part, dtype=np.uint16) * gain >> 7
        canvas.image.paste(Image.fromarray(np.minimum(pixels, 255).astype(np.uint8)), box)
