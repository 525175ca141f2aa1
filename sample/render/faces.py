"""Photographs of people: portraits in a setting, and photographs without a visible face.

A head is drawn as shaded flat shapes from coordinates in three dimensions: x to the right, y down, z towards the
camera; the chin is at y = 1, the crown at y = -1, the ears at x = ±width. Features lie on an ellipsoid, so turning the
head moves them as perspective would.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from sample.render.canvas import OVERSAMPLING, Canvas, Dice, Frame, Point, cosine, jitter, mix, shade, sine, smooth
from sample.render.kit import Pen, choose_colour, draw_shapes, read
from sample.render.photo import Difficulty, develop, occlude
from sample.render.traits import Face, styles

# The shadow layer is soft: drawn at a quarter of the canvas's size.
_SHADOW_SCALE = 4


class Head:
    """Face turned by `yaw` and nodding by `pitch` degrees.

    Args:
        face: the person's traits.
        frame: map from head coordinates to the picture's unit square.
        smile: from 0 (grave) to 1 (teeth).
        light: side from which the light comes, from -1 (left) to 1 (right).
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
        """Project a point of an ellipsoid, `reach` face widths wide and `height` high, towards the camera.

        The point is `lift` in front of the surface; the default surface is the face's.
        """
        width = self.face.measures["width"] * reach
        z = 0.85 * math.sqrt(max(0.0, 1 - (x / width) ** 2 - (y / height) ** 2)) + lift
        return x * self._cos + z * self._sin, y - (z - 0.55) * self._nod

    def landmarks(self) -> list[Point]:
        """Return eyes (the picture's left one first), nose tip and mouth corners in the picture's unit square."""
        own = self.traits
        points = [self.at(side * own["eye_gap"], own["eye_height"]) for side in (-1, 1)]
        points.append(self.at(0, own["tip"], 0.12))
        points += [self.at(side * own["mouth_width"], own["mouth_height"]) for side in (-1, 1)]
        return [self.frame(*point) for point in points]

    def outline(self, grow: float = 0.0) -> list[Point]:
        """Return the head's contour in frame coordinates."""
        own = self.face.measures
        w, jaw, shift = own["width"] + grow, own["jaw"], 0.07 * self._sin
        half = [(0.0, -1.0 - grow), (w * own["forehead"] * 0.72, -0.88 - grow), (w * 0.97, -0.42), (w, -0.02)]
        half += [(w * (jaw + 0.1), 0.45), (w * jaw * 0.86, 0.7), (own["chin"] * w * 1.05, 0.93 + grow / 2)]
        whole = [*half, (0.0, 1.0 + grow), *((-x, y) for x, y in reversed(half[1:]))]
        return smooth([(x + shift * (1 if y > -0.2 else -0.6), y - 0.1 * self._nod * (1 - y)) for x, y in whole], 4)

    def draw(self, canvas: Canvas, pen: Pen) -> None:
        """Draw ears, skull and its shadows, then all features."""
        person, canvas.frame = read("person"), self.frame
        draw_shapes(canvas, pen.shapes(person["ears"]))
        canvas.polygon(self.outline(), self.face.skin)
        self._shade(canvas, pen)
        draw_shapes(canvas, pen.shapes(person["front"]))

    def _shade(self, canvas: Canvas, pen: Pen) -> None:
        """Draw the skull's light and shadow over the skin."""
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
        # Only around the head, since the layer changes nothing elsewhere.
        x, y, reach = round(self.frame.c * side), round(self.frame.f * side), round(1.5 * unit * side)
        left, top, right, bottom = max(0, x - reach), max(0, y - reach), min(side, x + reach), min(side, y + reach)
        box = (_SHADOW_SCALE * left, _SHADOW_SCALE * top, _SHADOW_SCALE * right, _SHADOW_SCALE * bottom)
        part, soft = canvas.image.crop(box), soft.crop((left, top, right, bottom))
        gain = np.asarray(soft.resize(part.size, Image.Resampling.BILINEAR), dtype=np.uint16)[:, :, None]
        pixels = np.asarray(part, dtype=np.uint16) * gain >> 7
        canvas.image.paste(Image.fromarray(np.minimum(pixels, 255).astype(np.uint8)), box)


# Identities of passers-by start here, above those of articles and of the encoders' training.
STRANGERS = 2 * 10**9
_GREY = (128, 128, 128)


def shows_face(identity: int, view: int, difficulty: Difficulty) -> bool:
    """Whether this photograph of a person should show a face."""
    return not Dice("faceless", identity, view).chance(difficulty.faceless)


def portrait(identity: int, view: int, *, size: int, difficulty: Difficulty) -> tuple[Image.Image, list[Point]]:
    """Draw a photograph of a person's face; returns it and five landmarks in pixels (eyes, nose, mouth corners)."""
    dice = Dice("portrait", identity, view)
    canvas = _setting(size, dice)
    if dice.chance(difficulty.company):
        stranger = Face.of(STRANGERS + dice.integer(0, 10**9), difficulty.identity_spread)
        x = dice.choice((dice.uniform(0.1, 0.2), dice.uniform(0.8, 0.9)))
        _draw_person(canvas, stranger, Frame.placed(x, dice.uniform(0.3, 0.45), 0.09, dice.bell(4)), dice, difficulty)
    face = _disguise(Face.of(identity, difficulty.identity_spread), dice, difficulty)
    crop = difficulty.crop
    scale = 0.25 * (1 + crop * dice.uniform(-0.3, 0.35))
    frame = Frame.placed(
        0.5 + crop * dice.bell(0.06), 0.46 + crop * dice.bell(0.04), scale, difficulty.pose * dice.bell(8)
    )
    head = _draw_person(canvas, face, frame, dice, difficulty)
    if dice.chance(difficulty.occlusion * 0.5):
        occlude(canvas, dice)
    landmarks = [(x * size, y * size) for x, y in head.landmarks()]
    return develop(canvas.finish(), dice, difficulty), landmarks


def faceless(identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """Draw a person without a visible face: from behind, far away, or with the head outside the picture."""
    dice = Dice("faceless scene", identity, view)
    face = Face.of(identity, difficulty.identity_spread)
    canvas = _setting(size, dice)
    scene = dice.choice(("behind", "far away", "without head"))
    if scene == "behind":
        canvas.frame = Frame.placed(0.5 + dice.bell(0.06), 0.45, 0.24, dice.bell(4))
    elif scene == "far away":
        canvas.frame = Frame.placed(dice.uniform(0.3, 0.7), dice.uniform(0.55, 0.7), 0.05)
    else:
        canvas.frame = Frame.placed(0.5 + dice.bell(0.05), -0.32, 0.26)
    head = Head(face, canvas.frame)
    pen, person = _pen(head, dice), read("person")
    if scene == "behind":
        draw_shapes(canvas, pen.shapes([person["back"], person["body"]]))
        canvas.polygon(head.outline(0.04), face.hair)
    else:
        draw_shapes(canvas, pen.shapes(person["walker" if scene == "far away" else "body"]))
    return develop(canvas.finish(), dice, difficulty)


def _setting(size: int, dice: Dice) -> Canvas:
    """Draw a room, a street, a garden or a studio wall, out of focus; returns the canvas."""
    canvas, small, settings = Canvas(size, _GREY), Canvas(max(8, size // 3), _GREY), read("person")["settings"]
    colours = {"setting": choose_colour(dice, "settings", stray=30)[1]}
    draw_shapes(small, Pen(dice, {}, colours).shapes(settings[dice.choice(tuple(settings))]))
    canvas.image.paste(small.finish().resize(canvas.image.size, Image.Resampling.BICUBIC))
    return canvas


def _disguise(face: Face, dice: Dice, difficulty: Difficulty) -> Face:
    """Vary a person's looks: other hair, glasses or beard."""
    if dice.chance(difficulty.disguise):
        face = replace(face, style=dice.choice(styles(face.woman)))
    if dice.chance(difficulty.disguise * 0.5):
        face = replace(face, hair=choose_colour(dice, "hairs", stray=10)[1])
    if dice.chance(difficulty.disguise):
        face = replace(face, glasses=not face.glasses)
    if not face.woman and dice.chance(difficulty.disguise):
        face = replace(face, beard=dice.choice(read("person")["beards"]))
    return face


def _draw_person(canvas: Canvas, face: Face, frame: Frame, dice: Dice, difficulty: Difficulty) -> Head:
    yaw, pitch = difficulty.pose * dice.uniform(-35, 35), difficulty.pose * dice.bell(7)
    head = Head(face, frame, yaw=yaw, pitch=pitch, smile=dice.uniform(0, 1), light=dice.uniform(-1, 1))
    hat = dice.choice(("cap", "brim", "beret")) if dice.chance(difficulty.disguise * 0.4) else "none"
    pen, canvas.frame = _pen(head, dice, hat), frame
    draw_shapes(canvas, pen.shapes([read("person")["back"], read("person")["body"]]))
    head.draw(canvas, pen)
    canvas.frame = Frame()
    return head


def _pen(head: Head, dice: Dice, hat: str = "none") -> Pen:
    """Make a pen that draws a person with what they wear in this photograph."""
    worn: dict[str, Any] = {
        "hat": hat,
        "collar": "tie" if not head.face.woman and dice.chance(0.5) else "open",
        "lens": dice.uniform(0.15, 0.21),
        "rim": dice.choice(("round", "square")),
    }
    colours = {
        "cloth": choose_colour(dice, "clothes")[1],
        "tie": jitter((90, 50, 60), dice, 50),
        "frame": dice.choice(((30, 28, 30), (90, 60, 40), (130, 130, 138))),
    }
    return Pen(dice, head.traits | worn, head.colours | colours, surfaces=head.surfaces)
