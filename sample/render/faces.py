"""Photographs of people: portraits in a setting, and those in which no face is to be seen."""

from dataclasses import replace

from PIL import Image

from sample.render.canvas import Canvas, Colour, Dice, Frame, Point, jitter, mix, shade
from sample.render.difficulty import Difficulty
from sample.render.features import draw_features
from sample.render.hair import draw_back_hair, draw_beard, draw_front_hair
from sample.render.head import Head
from sample.render.photo import develop, occlude
from sample.render.traits import HAIRS, LONG_STYLES, SHORT_STYLES, Face
from sample.render.worn import draw_glasses, draw_hat

_CLOTHES: tuple[Colour, ...] = (
    (40, 44, 58),
    (70, 70, 76),
    (120, 40, 44),
    (52, 84, 110),
    (66, 92, 70),
    (180, 170, 152),
    (214, 214, 220),
)

# Passers-by are drawn from here on: nobody that an article or an encoder's training knows.
STRANGERS = 2 * 10**9


def shows_face(identity: int, view: int, difficulty: Difficulty) -> bool:
    """Whether this photograph of a person is meant to show a face."""
    return not Dice("faceless", identity, view).chance(difficulty.faceless)


def portrait(identity: int, view: int, *, size: int, difficulty: Difficulty) -> tuple[Image.Image, list[Point]]:
    """A photograph that shows the person's face, and its five landmarks in pixels (eyes, nose, mouth corners)."""
    dice = Dice("portrait", identity, view)
    canvas = Canvas(size, (128, 128, 128))
    draw_setting(canvas, dice)
    canvas.soften()
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


def _disguised(face: Face, dice: Dice, difficulty: Difficulty) -> Face:
    """The person on another day: other hair, with or without glasses or beard."""
    if dice.chance(difficulty.disguise):
        face = replace(face, style=dice.choice(LONG_STYLES if face.woman else SHORT_STYLES))
    if dice.chance(difficulty.disguise * 0.5):
        face = replace(face, hair=jitter(dice.choice(HAIRS), dice, 10))
    if dice.chance(difficulty.disguise):
        face = replace(face, glasses=not face.glasses)
    if not face.woman and dice.chance(difficulty.disguise):
        face = replace(face, beard=dice.choice(("none", "moustache", "full", "goatee")))
    return face


def _draw_person(canvas: Canvas, face: Face, frame: Frame, dice: Dice, difficulty: Difficulty) -> Head:
    yaw, pitch = difficulty.pose * dice.uniform(-35, 35), difficulty.pose * dice.bell(7)
    head = Head(canvas, face, frame, yaw=yaw, pitch=pitch, smile=dice.uniform(0, 1), light=dice.uniform(-1, 1))
    draw_back_hair(head, face.style, face.hair)
    _draw_body(canvas, face, frame, dice)
    head.draw_base()
    if face.beard != "none":
        draw_beard(head, face.beard, face.hair)
    draw_features(head)
    draw_front_hair(head, face.style, face.hair)
    if face.glasses:
        draw_glasses(head, dice)
    if dice.chance(difficulty.disguise * 0.4):
        draw_hat(head, dice)
    canvas.frame = Frame()
    return head


def _draw_body(canvas: Canvas, face: Face, frame: Frame, dice: Dice) -> None:
    canvas.frame = frame
    cloth = jitter(dice.choice(_CLOTHES), dice, 16)
    broad = 1.35 if face.woman else 1.6
    canvas.blob(
        [
            (-0.4, 1.2),
            (-broad, 1.55),
            (-broad - 0.3, 2.2),
            (-broad - 0.4, 4.5),
            (broad + 0.4, 4.5),
            (broad + 0.3, 2.2),
            (broad, 1.55),
            (0.4, 1.2),
        ],
        cloth,
    )
    neck = 0.34 if face.woman else 0.42
    canvas.polygon(
        [(-neck, 0.5), (neck, 0.5), (neck + 0.06, 1.3), (0, 1.62), (-neck - 0.06, 1.3)], shade(face.skin, 0.78)
    )
    if not face.woman and dice.chance(0.5):  # shirt and tie
        canvas.polygon([(-0.5, 1.2), (0, 1.65), (0.5, 1.2), (0.34, 1.9), (0, 2.6), (-0.34, 1.9)], (230, 230, 232))
        canvas.polygon([(-0.1, 1.66), (0.1, 1.66), (0.15, 2.6), (-0.15, 2.6)], jitter((90, 50, 60), dice, 50))
    else:
        canvas.line([(-0.5, 1.22), (0, 1.66), (0.5, 1.22)], shade(cloth, 0.75), 0.08)


def draw_setting(canvas: Canvas, dice: Dice) -> None:
    """A room, a street, a garden or a studio wall, out of focus."""
    canvas.frame = Frame()
    match dice.integer(0, 3):
        case 0:
            wall = jitter((168, 160, 148), dice, 50)
            canvas.rectangle(0, 0, 1, 1, wall)
            for x in range(5):
                canvas.rectangle(x * 0.22, 0.05, x * 0.22 + 0.18, 0.5, jitter(mix(wall, (90, 60, 40), 0.5), dice, 24))
        case 1:
            canvas.rectangle(0, 0, 1, 1, jitter((178, 200, 222), dice, 24))
            for x in range(4):
                top = dice.uniform(0.1, 0.4)
                canvas.rectangle(x * 0.27 - 0.05, top, x * 0.27 + 0.2, 1, jitter((140, 130, 124), dice, 40))
        case 2:
            canvas.rectangle(0, 0, 1, 1, jitter((120, 150, 90), dice, 30))
            for _ in range(14):
                canvas.ellipse(
                    dice.uniform(0, 1),
                    dice.uniform(0, 0.8),
                    dice.uniform(0.08, 0.2),
                    dice.uniform(0.08, 0.16),
                    jitter((84, 126, 66), dice, 34),
                )
        case _:
            canvas.rectangle(0, 0, 1, 1, jitter((110, 112, 120), dice, 60))
            canvas.ellipse(0.5, 0.45, 0.5, 0.5, jitter((150, 150, 156), dice, 40))


def faceless(identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """A photograph of a person without a visible face: from behind, far away, or with the head out of the picture."""
    dice = Dice("faceless scene", identity, view)
    face = Face.of(identity, difficulty.identity_spread)
    canvas = Canvas(size, (128, 128, 128))
    draw_setting(canvas, dice)
    canvas.soften()
    match dice.integer(0, 2):
        case 0:
            frame = Frame.placed(0.5 + dice.bell(0.06), 0.45, 0.24, dice.bell(4))
            head = Head(canvas, face, frame, yaw=0, pitch=0)
            draw_back_hair(head, face.style, face.hair)
            _draw_body(canvas, face, frame, dice)
            head.canvas.polygon(head.outline(0.04), face.hair)
        case 1:
            _draw_walker(canvas, face, dice)
        case _:
            frame = Frame.placed(0.5 + dice.bell(0.05), -0.32, 0.26)
            _draw_body(canvas, face, frame, dice)
    canvas.frame = Frame()
    return develop(canvas.finish(), dice, difficulty)


def _draw_walker(canvas: Canvas, face: Face, dice: Dice) -> None:
    """A small figure seen from behind, far away."""
    canvas.frame = Frame.placed(dice.uniform(0.3, 0.7), dice.uniform(0.55, 0.7), 0.05)
    coat, legs = jitter(dice.choice(_CLOTHES), dice, 16), jitter((50, 50, 58), dice, 16)
    for side in (-1, 1):
        canvas.polygon([(side * 0.1, 1.5), (side * 0.7, 1.5), (side * 0.75, 4.4), (side * 0.25, 4.4)], legs)
    canvas.blob([(-0.6, -0.6), (0.6, -0.6), (1.0, 0.2), (0.75, 1.8), (-0.75, 1.8), (-1.0, 0.2)], coat)
    canvas.ellipse(0, -1.2, 0.42, 0.52, face.hair)
