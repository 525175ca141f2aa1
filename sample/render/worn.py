"""Glasses and hats."""

from sample.render.canvas import Dice, shade, smooth
from sample.render.head import Head

HATS = ("cap", "brim", "beret")


def draw_glasses(head: Head, dice: Dice) -> None:
    """Spectacles with a thin or a thick rim."""
    face = head.face
    colour = dice.choice(((30, 28, 30), (90, 60, 40), (130, 130, 138)))
    width, rx, ry = dice.choice((0.026, 0.045)), 0.235, dice.uniform(0.15, 0.21)
    y = face.eye_height + 0.01
    corner = dice.choice((0.72, 0.92))
    shape = [
        (1, 0),
        (corner, corner),
        (0, 1),
        (-corner, corner),
        (-1, 0),
        (-corner, -corner),
        (0, -1),
        (corner, -corner),
        (1, 0),
    ]
    for side in (-1, 1):
        ring = [head.at(side * face.eye_gap + rx * px, y + ry * py, 0.08) for px, py in smooth(shape, 3, closed=False)]
        head.canvas.line(ring, colour, width)
        head.canvas.line(
            [head.at(side * (face.eye_gap + rx), y - 0.03, 0.08), (side * face.width * 0.98, y - 0.06)], colour, width
        )
    head.canvas.line(
        [head.at(-face.eye_gap + rx, y - 0.02, 0.08), head.at(face.eye_gap - rx, y - 0.02, 0.08)], colour, width
    )


def draw_hat(head: Head, dice: Dice) -> None:
    """A cap, a hat with a brim, or a beret."""
    canvas, w = head.canvas, head.face.width
    canvas.frame = head.frame
    colour = dice.choice(((48, 52, 66), (92, 72, 52), (120, 36, 40), (60, 84, 62), (36, 34, 36)))
    match dice.choice(HATS):
        case "cap":
            canvas.blob([(-w - 0.1, -0.6), (-w * 0.8, -1.15), (0, -1.3), (w * 0.8, -1.15), (w + 0.1, -0.6)], colour)
            canvas.blob(
                [(-w * 0.9, -0.62), (0, -0.8), (w * 0.9, -0.62), (w * 0.7, -0.5), (0, -0.6), (-w * 0.7, -0.5)],
                shade(colour, 0.7),
            )
        case "brim":
            canvas.blob([(-w * 0.95, -0.7), (-w * 0.8, -1.5), (0, -1.42), (w * 0.8, -1.5), (w * 0.95, -0.7)], colour)
            canvas.polygon(
                [(-w * 0.96, -0.72), (w * 0.96, -0.72), (w * 0.93, -0.88), (-w * 0.93, -0.88)], shade(colour, 0.55)
            )
            canvas.ellipse(0, -0.68, w * 1.5, 0.11, shade(colour, 0.85))
        case _:
            canvas.blob([(-w - 0.22, -0.78), (-w * 0.5, -1.25), (w * 0.5, -1.22), (w + 0.1, -0.75), (0, -0.68)], colour)
