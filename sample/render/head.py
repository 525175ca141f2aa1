"""A head in three dimensions, drawn as shaded flat shapes.

Head coordinates: x to the right, y down, z towards the camera; the chin is at y = 1, the crown at y = -1, the ears at
x = ±width. Features lie on an ellipsoid, so turning the head moves them as perspective would.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from sample.render.canvas import OVERSAMPLING, Canvas, Colour, Frame, Point, cosine, shade, sine, smooth
from sample.render.traits import Face

# The shadow layer is soft: drawn at a quarter of the canvas's size.
_SHADOW_SCALE = 4


class Head:
    """A face turned by `yaw` and nodding by `pitch` degrees, placed on a canvas by `frame`.

    Args:
        canvas: where to draw.
        face: the person's traits.
        frame: head coordinates to the picture's unit square.
        smile: 0 (grave) to 1 (teeth).
        light: from which side the light comes, -1 (left) to 1.
    """

    def __init__(
        self,
        canvas: Canvas,
        face: Face,
        frame: Frame,
        *,
        yaw: float,
        pitch: float,
        smile: float = 0.3,
        light: float = -0.5,
    ) -> None:
        self.canvas, self.face, self.frame = canvas, face, frame
        self.smile, self.light = smile, light
        self._cos, self._sin = cosine(yaw), sine(yaw)
        self._nod = sine(pitch)
        side = canvas.size * OVERSAMPLING // _SHADOW_SCALE
        self._shadow = Image.new("L", (side, side), 128)
        self._shadow_draw = ImageDraw.Draw(self._shadow)

    def at(self, x: float, y: float, lift: float = 0.0) -> Point:
        """A point of the face's surface, `lift` in front of it, seen from the camera, in frame coordinates."""
        width = self.face.width
        z = 0.85 * math.sqrt(max(0.0, 1 - (x / (width * 1.08)) ** 2 - (y / 1.25) ** 2)) + lift
        turned = x * self._cos + z * self._sin
        return turned, y - (z - 0.55) * self._nod

    def landmarks(self) -> list[Point]:
        """Both eyes (the picture's left one first), nose tip and mouth corners in the picture's unit square."""
        face = self.face
        points = [self.at(side * face.eye_gap, face.eye_height) for side in (-1, 1)]
        points.append(self.at(0, face.eye_height + face.nose_length, 0.12))
        points += [self.at(side * face.mouth_width, face.mouth_height) for side in (-1, 1)]
        return [self.frame(*point) for point in points]

    def draw_base(self) -> None:
        """Ears and head, with the soft shadows of the skull."""
        self.canvas.frame = self.frame
        self._ears()
        self.canvas.polygon(self.outline(), self.face.skin)
        self._model()

    def outline(self, grow: float = 0.0) -> list[Point]:
        """The head's contour in frame coordinates."""
        face = self.face
        w, shift = face.width + grow, 0.07 * self._sin
        half = [
            (0.0, -1.0 - grow),
            (w * face.forehead * 0.72, -0.88 - grow),
            (w * 0.97, -0.42),
            (w, -0.02),
            (w * (face.jaw + 0.1), 0.45),
        ]
        half += [(w * face.jaw * 0.86, 0.7), (face.chin * w * 1.05, 0.93 + grow / 2), (0.0, 1.0 + grow)]
        left = [(-x, y) for x, y in reversed(half[1:-1])]
        return smooth(
            [(x + shift * (1 if y > -0.2 else -0.6), y - 0.1 * self._nod * (1 - y)) for x, y in half + left], 4
        )

    def patch(self, points: Sequence[Point], colour: Colour, lift: float = 0.0, *, curved: bool = True) -> None:
        """A patch of colour lying on the face."""
        points = smooth(points, 3) if curved else points
        self.canvas.polygon((self.at(x, y, lift) for x, y in points), colour)

    def oval(self, x: float, y: float, rx: float, ry: float, colour: Colour, lift: float = 0.0) -> None:
        """An ellipse lying on the face."""
        self.patch([(x + rx * cosine(t), y + ry * sine(t)) for t in range(0, 360, 24)], colour, lift, curved=False)

    def _soft(self, points: Iterable[Point], level: int) -> None:
        scale = self._shadow.width
        self._shadow_draw.polygon(
            [tuple(round(v * scale) for v in self.frame(*self.at(x, y))) for x, y in points], fill=level
        )

    def _soft_oval(self, x: float, y: float, rx: float, ry: float, level: int) -> None:
        self._soft([(x + rx * cosine(t), y + ry * sine(t)) for t in range(0, 360, 30)], level)

    def _ears(self) -> None:
        face = self.face
        for side in (-1, 1):
            x = side * face.width * (0.99 - 0.1 * side * self._sin)
            self.canvas.ellipse(x, face.eye_height + 0.12, 0.1, face.ears, shade(face.skin, 0.86))
            self.canvas.ellipse(x, face.eye_height + 0.12, 0.05, face.ears * 0.6, shade(face.skin, 0.72))

    def _model(self) -> None:
        """Light and shadow of the skull, laid over the skin before the features are drawn."""
        face = self.face
        scale = self._shadow.width
        dark = -1 if self.light > 0 else 1
        strength = abs(self.light)
        contour = [tuple(round(v * scale) for v in self.frame(x, y)) for x, y in self.outline()]
        self._shadow_draw.polygon(contour, fill=round(112 - 10 * strength))
        self._soft_oval(-dark * 0.12, -0.1, face.width * 0.8, 0.82, 130)
        self._soft_oval(-dark * 0.2, -0.5, 0.42, 0.24, 142)
        for side in (-1, 1):
            self._soft_oval(
                side * face.eye_gap, face.eye_height - 0.06, face.eye_size * 1.35, 0.17, 100 - round(8 * face.age)
            )
            self._soft_oval(side * 0.4, face.eye_height + 0.36, 0.16, 0.13, 140)
            self._soft_oval(
                side * (face.mouth_width + 0.1), face.mouth_height - 0.02, 0.06, 0.12, 116 - round(12 * face.age)
            )
        tip = face.eye_height + face.nose_length
        self._soft(
            [
                (dark * 0.03, face.eye_height),
                (dark * 0.13, tip - 0.06),
                (dark * (face.nose_width + 0.05), tip + 0.02),
                (dark * 0.05, tip + 0.05),
            ],
            100,
        )
        self._soft_oval(0, tip + 0.08, face.nose_width, 0.05, 92)
        self._soft(
            [(-0.03, face.eye_height - 0.05), (0.03, face.eye_height - 0.05), (0.05, tip - 0.03), (-0.05, tip - 0.03)],
            150,
        )
        self._soft_oval(0, face.mouth_height + face.lower_lip + 0.09, 0.17, 0.045, 106)
        self._soft_oval(0, 0.88, 0.16, 0.08, 138)
        unit = abs(self.frame.a) + abs(self.frame.b)
        soft = self._shadow.filter(ImageFilter.GaussianBlur(round(max(0.5, 0.055 * unit * scale) * 4) / 4))
        image = self.canvas.image
        gain = np.asarray(soft.resize(image.size, Image.Resampling.BILINEAR), dtype=np.uint16)[:, :, None]
        pixels = np.asarray(image, dtype=np.uint16) * gain >> 7
        image.paste(Image.fromarray(np.minimum(pixels, 255).astype(np.uint8)))
