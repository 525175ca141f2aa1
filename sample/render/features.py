"""A face's features: eyes, brows, nose, mouth and marks of the skin."""

from sample.render.canvas import mix, shade, smooth
from sample.render.head import Head


def draw_features(head: Head) -> None:
    """Draw them on a head's base; beards lie below, hair and glasses above."""
    for side in (-1, 1):
        _eye(head, side)
        _brow(head, side)
    _nose(head)
    _mouth(head)
    _skin_marks(head)


def _eye(head: Head, side: int) -> None:
    face = head.face
    x, y, r = side * face.eye_gap, face.eye_height, face.eye_size
    opening = r * face.eye_open * (1 - 0.25 * head.smile)
    slant = face.eye_slant * side
    lid = [(x - r, y + slant), (x - r * 0.4, y - opening), (x + r * 0.4, y - opening), (x + r, y - slant)]
    almond = [*lid, (x + r * 0.4, y + opening * 0.8), (x - r * 0.4, y + opening * 0.8)]
    head.patch([(px, py - 0.025) for px, py in almond], shade(face.skin, 0.62))
    head.patch(almond, (238, 234, 228))
    head.oval(x, y - opening * 0.1, opening * 0.95, opening * 0.92, face.iris)
    head.oval(x, y - opening * 0.1, opening * 0.5, opening * 0.5, (16, 12, 12))
    head.oval(x - 0.02, y - opening * 0.4, opening * 0.17, opening * 0.17, (250, 250, 250))
    lash = (40, 28, 24) if face.woman else shade(face.skin, 0.42)
    head.canvas.line([head.at(px, py) for px, py in smooth(lid, 3, closed=False)], lash, 0.03 if face.woman else 0.022)
    if face.age > 0.55:
        bag = [(x - r * 0.8, y + opening + 0.03), (x, y + opening + 0.07), (x + r * 0.8, y + opening + 0.03)]
        head.canvas.line([head.at(px, py) for px, py in smooth(bag, 3, closed=False)], shade(face.skin, 0.8), 0.016)


def _brow(head: Head, side: int) -> None:
    face = head.face
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
    head.patch([*top, *bottom], mix(face.hair, (40, 30, 26), 0.35), 0.03)


def _nose(head: Head) -> None:
    face = head.face
    tip, w = face.eye_height + face.nose_length, face.nose_width
    dark = shade(face.skin, 0.55)
    for side in (-1, 1):
        head.oval(side * w * 0.45, tip + 0.045, w * 0.25, 0.022, dark, 0.08)
        wing = [(side * w * 0.8, tip - 0.07), (side * w, tip + 0.0), (side * w * 0.75, tip + 0.05)]
        head.canvas.line(
            [head.at(px, py, 0.06) for px, py in smooth(wing, 3, closed=False)], shade(face.skin, 0.68), 0.02
        )


def _mouth(head: Head) -> None:
    face = head.face
    y, w = face.mouth_height, face.mouth_width * (1 + 0.14 * head.smile)
    corner = y - 0.07 * head.smile
    lips = mix(face.skin, (176, 44, 62) if face.woman else (150, 70, 64), 0.55 if face.woman else 0.4)
    gap = 0.09 * max(0.0, head.smile - 0.45)
    head.patch(
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
    head.patch(
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
        head.patch([*line, (w * 0.5, y + gap), (0, y + gap * 1.5), (-w * 0.5, y + gap)], (236, 230, 222), 0.03)
    head.canvas.line([head.at(px, py, 0.03) for px, py in smooth(line, 3, closed=False)], shade(lips, 0.5), 0.022)


def _skin_marks(head: Head) -> None:
    face = head.face
    if face.mole:
        head.oval(*face.mole, 0.028, 0.026, shade(face.skin, 0.45))
    if face.freckles:
        for index in range(14):
            x = (index % 7 - 3) * 0.12
            head.oval(x, face.eye_height + 0.2 + 0.09 * (index % 3), 0.012, 0.011, shade(face.skin, 0.76))
    if face.age > 0.7:
        for row in range(2):
            y = -0.56 + 0.1 * row
            head.canvas.line([head.at(-0.3, y), head.at(0, y - 0.02), head.at(0.3, y)], shade(face.skin, 0.86), 0.014)
