"""Hair and beards."""

from sample.render.canvas import Colour, Point, mix, shade, smooth
from sample.render.head import Head


def draw_back_hair(head: Head, style: str, colour: Colour) -> None:
    """The hair that hangs behind the head; draw it before the neck."""
    canvas, width = head.canvas, head.face.width
    canvas.frame = head.frame
    dark = shade(colour, 0.8)
    match style:
        case "bob" | "fringe":
            canvas.blob(
                [
                    (0, -1.16),
                    (width + 0.16, -0.6),
                    (width + 0.2, 0.3),
                    (width, 0.75),
                    (-width, 0.75),
                    (-width - 0.2, 0.3),
                    (-width - 0.16, -0.6),
                ],
                dark,
            )
        case "long":
            canvas.blob(
                [
                    (0, -1.16),
                    (width + 0.14, -0.6),
                    (width + 0.2, 0.5),
                    (width + 0.22, 1.5),
                    (0, 1.6),
                    (-width - 0.22, 1.5),
                    (-width - 0.2, 0.5),
                    (-width - 0.14, -0.6),
                ],
                dark,
            )
        case "bun":
            canvas.ellipse(0, -1.22, 0.34, 0.26, dark)
            canvas.blob(head.outline(0.1)[::4], dark)
        case "curls":
            for degree in range(-200, 21, 20):
                point = _around(head, degree)
                canvas.ellipse(point[0], point[1] + 0.05, 0.28, 0.28, shade(colour, 0.75 + 0.01 * (degree % 13)))
            for side in (-1, 1):
                canvas.ellipse(side * (width + 0.08), 0.5, 0.27, 0.3, dark)


def draw_front_hair(head: Head, style: str, colour: Colour) -> None:
    """The hair over forehead and temples."""
    canvas, w = head.canvas, head.face.width
    canvas.frame = head.frame
    light = mix(colour, (255, 240, 220), 0.14)
    rim = w + 0.05
    match style:
        case "balding":
            for side in (-1, 1):
                canvas.blob(
                    [
                        (side * (w - 0.1), -0.62),
                        (side * (w + 0.06), -0.45),
                        (side * (w + 0.05), 0.1),
                        (side * (w - 0.06), 0.05),
                        (side * (w - 0.1), -0.3),
                    ],
                    colour,
                )
        case "cropped":
            _cap(
                head,
                [
                    (rim, -0.2),
                    (w - 0.06, -0.42),
                    (w * 0.6, -0.62),
                    (0, -0.68),
                    (-w * 0.6, -0.62),
                    (-w + 0.06, -0.42),
                    (-rim, -0.2),
                ],
                colour,
                0.06,
            )
        case "parted":
            _cap(
                head,
                [
                    (rim, -0.1),
                    (w - 0.05, -0.4),
                    (w * 0.62, -0.6),
                    (w * 0.1, -0.56),
                    (-w * 0.42, -0.78),
                    (-w * 0.7, -0.5),
                    (-rim, -0.1),
                ],
                colour,
                0.12,
            )
            canvas.line([head.at(-w * 0.42, -0.78), head.at(-w * 0.3, -1.0)], shade(colour, 0.6), 0.03)
        case "swept":
            _cap(
                head,
                [
                    (rim, -0.15),
                    (w - 0.04, -0.5),
                    (w * 0.7, -0.8),
                    (0, -0.76),
                    (-w * 0.6, -0.66),
                    (-w + 0.02, -0.4),
                    (-rim, -0.05),
                ],
                colour,
                0.2,
            )
        case "curly" | "curls":
            for degree in range(-190, 11, 20):
                x, y = _around(head, degree)
                canvas.ellipse(x * 0.92, y * 0.92, 0.2, 0.18, shade(colour, 0.86 + 0.02 * (degree % 7)))
        case "fringe":
            _cap(
                head,
                [
                    (rim, 0.35),
                    (w - 0.1, 0.2),
                    (w * 0.75, -0.38),
                    (0, -0.34),
                    (-w * 0.75, -0.38),
                    (-w + 0.1, 0.2),
                    (-rim, 0.35),
                ],
                colour,
                0.14,
            )
        case "bob" | "long":
            _cap(
                head,
                [
                    (rim + 0.04, 0.45),
                    (w - 0.06, 0.2),
                    (w * 0.7, -0.45),
                    (w * 0.05, -0.8),
                    (-w * 0.62, -0.5),
                    (-w + 0.06, 0.2),
                    (-rim - 0.04, 0.45),
                ],
                colour,
                0.14,
            )
        case _:
            _cap(
                head,
                [
                    (rim, -0.1),
                    (w - 0.08, -0.45),
                    (w * 0.5, -0.72),
                    (0, -0.76),
                    (-w * 0.5, -0.72),
                    (-w + 0.08, -0.45),
                    (-rim, -0.1),
                ],
                colour,
                0.08,
            )
    if style != "balding":
        canvas.line(smooth([(-w * 0.5, -0.92), (-0.1, -1.03), (w * 0.35, -0.95)], 3, closed=False), light, 0.035)


def _around(head: Head, degree: int) -> Point:
    outline = head.outline(0.06)
    return outline[round((degree + 90) / 360 * len(outline)) % len(outline)]


def _cap(head: Head, hairline: list[Point], colour: Colour, height: float) -> None:
    """Hair between the crown and a hairline that runs from the picture's right to its left."""
    w = head.face.width
    crown = [(-w - 0.08, -0.5), (-w * 0.72, -0.98), (0, -1.02 - height), (w * 0.72, -0.98), (w + 0.08, -0.5)]
    line = [head.at(x, y) if abs(x) < w - 0.01 else (x, y) for x, y in hairline]
    head.canvas.blob([*line, *crown], colour)


def draw_beard(head: Head, beard: str, colour: Colour) -> None:
    """A beard; draw it before the mouth is drawn, or redraw the mouth."""
    face = head.face
    colour = mix(colour, face.skin, 0.12)
    y, w = face.mouth_height, face.mouth_width
    if beard in ("moustache", "full", "goatee"):
        head.patch(
            [
                (-w - 0.06, y + 0.0),
                (-w * 0.4, y - 0.12),
                (0, y - 0.1),
                (w * 0.4, y - 0.12),
                (w + 0.06, y),
                (0, y - 0.03),
            ],
            colour,
            0.04,
        )
    if beard == "goatee":
        head.patch([(-0.2, y + 0.12), (0.2, y + 0.12), (0.17, 0.96), (0, 1.05), (-0.17, 0.96)], colour, 0.02)
    if beard == "full":
        j = face.width * face.jaw
        for side in (-1, 1):
            head.patch(
                [
                    (side * (j + 0.1), 0.15),
                    (side * (w + 0.1), y - 0.1),
                    (side * (w + 0.06), y + 0.1),
                    (side * 0.1, y + 0.14),
                    (0, 1.08),
                    (side * 0.35, 1.02),
                    (side * (j - 0.02), 0.72),
                ],
                colour,
            )
