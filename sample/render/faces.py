"""Photographs of people: portraits in a setting, and those in which no face is to be seen."""

from dataclasses import replace
from typing import Any

from PIL import Image

from sample.render.canvas import Canvas, Dice, Frame, Point, jitter
from sample.render.difficulty import Difficulty
from sample.render.head import Head
from sample.render.kit import Pen, choose_colour, draw_shapes, read
from sample.render.photo import develop, occlude
from sample.render.traits import Face, styles

# Passers-by are drawn from here on: nobody that an article or an encoder's training knows.
STRANGERS = 2 * 10**9
_GREY = (128, 128, 128)


def shows_face(identity: int, view: int, difficulty: Difficulty) -> bool:
    """Whether this photograph of a person is meant to show a face."""
    return not Dice("faceless", identity, view).chance(difficulty.faceless)


def portrait(identity: int, view: int, *, size: int, difficulty: Difficulty) -> tuple[Image.Image, list[Point]]:
    """A photograph that shows the person's face, and its five landmarks in pixels (eyes, nose, mouth corners)."""
    dice = Dice("portrait", identity, view)
    canvas = _setting(size, dice)
    if dice.chance(difficulty.company):
        stranger = Face.of(STRANGERS + dice.integer(0, 10**9), difficulty.identity_spread)
        x = dice.choice((dice.uniform(0.1, 0.2), dice.uniform(0.8, 0.9)))
        _draw_person(canvas, stranger, Frame.placed(x, dice.uniform(0.3, 0.45), 0.09, dice.bell(4)), dice, difficulty)
    face = _disguised(Face.of(identity, difficulty.identity_spread), dice, difficulty)
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
    """A photograph of a person without a visible face: from behind, far away, or with the head out of the picture."""
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
    """A canvas with a room, a street, a garden or a studio wall, out of focus."""
    canvas, small, settings = Canvas(size, _GREY), Canvas(max(8, size // 3), _GREY), read("person")["settings"]
    colours = {"setting": choose_colour(dice, "settings", stray=30)[1]}
    draw_shapes(small, Pen(dice, {}, colours).shapes(settings[dice.choice(tuple(settings))]))
    canvas.image.paste(small.finish().resize(canvas.image.size, Image.Resampling.BICUBIC))
    return canvas


def _disguised(face: Face, dice: Dice, difficulty: Difficulty) -> Face:
    """The person on another day: other hair, with or without glasses or beard."""
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
    """What draws a person, with what is worn in this photograph."""
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
