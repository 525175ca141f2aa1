"""A head in three dimensions, drawn as shaded flat shapes.

Head coordinates: x to the right, y down, z towards the camera; the chin is at y = 1, the crown at y = -1, the ears at
x = ±width. Features lie on an ellipsoid, so turning the head moves them as perspective would.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from stages.world.sample.render.canvas import (
    OVERSAMPLING,
    Canvas,
    Colour,
    Frame,
    Point,
    cosine,
    mix,
    shade,
    sine,
    smooth,
)
from stages.world.sample.render.traits import Face

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

    def draw_features(self) -> None:
        """Eyes, brows, nose and mouth; beards lie below them, hair and glasses above."""
        for side in (-1, 1):
            self._eye(side)
            self._brow(side)
        self._nose()
        self._mouth()
        self._skin_marks()

    # -- parts ------------------------------------------------------------------------------------------------------

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

    def _oval(self, x: float, y: float, rx: float, ry: float, colour: Colour, lift: float = 0.0) -> None:
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

    def _eye(self, side: int) -> None:
        face = self.face
        x, y, r = side * face.eye_gap, face.eye_height, face.eye_size
        opening = r * face.eye_open * (1 - 0.25 * self.smile)
        slant = face.eye_slant * side
        lid = [(x - r, y + slant), (x - r * 0.4, y - opening), (x + r * 0.4, y - opening), (x + r, y - slant)]
        almond = [*lid, (x + r * 0.4, y + opening * 0.8), (x - r * 0.4, y + opening * 0.8)]
        self.patch([(px, py - 0.025) for px, py in almond], shade(face.skin, 0.62))
        self.patch(almond, (238, 234, 228))
        self._oval(x, y - opening * 0.1, opening * 0.95, opening * 0.92, face.iris)
        self._oval(x, y - opening * 0.1, opening * 0.5, opening * 0.5, (16, 12, 12))
        self._oval(x - 0.02, y - opening * 0.4, opening * 0.17, opening * 0.17, (250, 250, 250))
        lash = (40, 28, 24) if face.woman else shade(face.skin, 0.42)
        self.canvas.line(
            [self.at(px, py) for px, py in smooth(lid, 3, closed=False)], lash, 0.03 if face.woman else 0.022
        )
        if face.age > 0.55:
            bag = [(x - r * 0.8, y + opening + 0.03), (x, y + opening + 0.07), (x + r * 0.8, y + opening + 0.03)]
            self.canvas.line([self.at(px, py) for px, py in smooth(bag, 3, closed=False)], shade(face.skin, 0.8), 0.016)

    def _brow(self, side: int) -> None:
        face = self.face
        y, thick = face.eye_height - face.brow_height, face.brow_thickness
        inner, middle, outer = side * (face.eye_gap - 0.17), side * face.eye_gap, side * (face.eye_gap + 0.19)
        top = [
            (inner, y + face.brow_slant - thick / 2),
            (middle, y - 0.03 - thick),
            (outer, y + 0.03 - face.brow_slant),
        ]
        bottom = [
            (outer, y + 0.045 - face.brow_slant),
            (middle, y - 0.02 + thick / 2),
            (inner, y + face.brow_slant + thick),
        ]
        self.patch([*top, *bottom], mix(face.hair, (40, 30, 26), 0.35), 0.03)

    def _nose(self) -> None:
        face = self.face
        tip, w = face.eye_height + face.nose_length, face.nose_width
        dark = shade(face.skin, 0.55)
        for side in (-1, 1):
            self._oval(side * w * 0.45, tip + 0.045, w * 0.25, 0.022, dark, 0.08)
            wing = [(side * w * 0.8, tip - 0.07), (side * w, tip + 0.0), (side * w * 0.75, tip + 0.05)]
            self.canvas.line(
                [self.at(px, py, 0.06) for px, py in smooth(wing, 3, closed=False)], shade(face.skin, 0.68), 0.02
            )

    def _mouth(self) -> None:
        face = self.face
        y, w = face.mouth_height, face.mouth_width * (1 + 0.14 * self.smile)
        corner = y - 0.07 * self.smile
        lips = mix(face.skin, (176, 44, 62) if face.woman else (150, 70, 64), 0.55 if face.woman else 0.4)
        gap = 0.09 * max(0.0, self.smile - 0.45)
        self.patch(
            [
                (-w, corner),
                (-w * 0.3, y - face.upper_lip),
                (0, y - face.upper_lip * 0.75),
                (w * 0.3, y - face.upper_lip),
                (w, corner),
                (0, y + 0.02),
            ],
            shade(lips, 0.9),
            0.03,
        )
        self.patch(
            [
                (-w, corner),
                (0, y),
                (w, corner),
                (w * 0.5, y + gap + face.lower_lip * 0.75),
                (0, y + gap + face.lower_lip),
                (-w * 0.5, y + gap + face.lower_lip * 0.75),
            ],
            lips,
            0.03,
        )
        line = [(-w, corner), (-w * 0.4, y), (0, y + 0.008), (w * 0.4, y), (w, corner)]
        if gap > 0.01:
            self.patch([*line, (w * 0.5, y + gap), (0, y + gap * 1.5), (-w * 0.5, y + gap)], (236, 230, 222), 0.03)
        self.canvas.line([self.at(px, py, 0.03) for px, py in smooth(line, 3, closed=False)], shade(lips, 0.5), 0.022)

    def _skin_marks(self) -> None:
        face = self.face
        if face.mole:
            self._oval(*face.mole, 0.028, 0.026, shade(face.skin, 0.45))
        if face.freckles:
            for index in range(14):
                x = (index % 7 - 3) * 0.12
                self._oval(x, face.eye_height + 0.2 + 0.09 * (index % 3), 0.012, 0.011, shade(face.skin, 0.76))
        if face.age > 0.7:
            for row in range(2):
                y = -0.56 + 0.1 * row
                self.canvas.line(
                    [self.at(-0.3, y), self.at(0, y - 0.02), self.at(0.3, y)], shade(face.skin, 0.86), 0.014
                )
