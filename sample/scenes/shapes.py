"""How each kind of object is drawn, in a unit square (x to the right, y down), to be told apart at 14 pixels."""

from collections.abc import Callable

from sample.render.canvas import Canvas, Colour, shade

_SKIN = (232, 184, 144)
_DARK = (40, 36, 40)
_STEEL = (112, 116, 124)
_GLASS = (206, 228, 240)


def _dog(canvas: Canvas, colour: Colour, look: int) -> None:
    dark = shade(colour, 0.6)
    canvas.line([(0.12, 0.5), (0.02, 0.2)], colour, 0.09)
    for x in (0.14, 0.3, 0.56, 0.68):
        canvas.rectangle(x, 0.6, x + 0.11, 0.98, dark if x in (0.3, 0.56) else colour)
    canvas.blob([(0.08, 0.5), (0.2, 0.4), (0.6, 0.42), (0.8, 0.4), (0.8, 0.68), (0.6, 0.74), (0.14, 0.7)], colour)
    canvas.polygon([(0.62, 0.5), (0.62, 0.2), (0.84, 0.16), (1.0, 0.3), (0.98, 0.42), (0.82, 0.46), (0.8, 0.6)], colour)
    canvas.blob([(0.6, 0.18), (0.7, 0.16), (0.72, 0.4), (0.62, 0.46)], dark)
    canvas.ellipse(0.97, 0.31, 0.05, 0.05, _DARK)
    canvas.ellipse(0.82, 0.26, 0.035, 0.035, _DARK)


def _cat(canvas: Canvas, colour: Colour, look: int) -> None:
    dark = shade(colour, 0.65)
    canvas.line([(0.7, 0.9), (0.92, 0.85), (0.95, 0.6), (0.86, 0.45)], dark, 0.09)
    canvas.blob([(0.5, 0.4), (0.72, 0.6), (0.8, 0.92), (0.5, 0.98), (0.2, 0.92), (0.28, 0.6)], colour)
    canvas.polygon([(0.22, 0.3), (0.2, 0.0), (0.42, 0.12), (0.6, 0.12), (0.8, 0.0), (0.78, 0.3)], dark)
    canvas.ellipse(0.5, 0.3, 0.3, 0.22, colour)
    for x in (0.38, 0.62):
        canvas.ellipse(x, 0.27, 0.065, 0.06, (150, 220, 90))
        canvas.ellipse(x, 0.27, 0.025, 0.06, _DARK)
    canvas.polygon([(0.45, 0.35), (0.55, 0.35), (0.5, 0.41)], (226, 120, 130))
    for x in (0.38, 0.62):
        canvas.ellipse(x, 0.93, 0.09, 0.06, dark)


def _teddy(canvas: Canvas, colour: Colour, look: int) -> None:
    pale, dark = shade(colour, 1.3), shade(colour, 0.75)
    for x in (0.26, 0.74):
        canvas.ellipse(x, 0.12, 0.13, 0.12, dark)
        canvas.ellipse(x + (x - 0.5) * 0.5, 0.56, 0.16, 0.1, dark)
        canvas.ellipse(x + (x - 0.5) * 0.2, 0.9, 0.16, 0.1, dark)
    canvas.ellipse(0.5, 0.68, 0.28, 0.28, colour)
    canvas.ellipse(0.5, 0.7, 0.16, 0.17, pale)
    canvas.ellipse(0.5, 0.27, 0.28, 0.25, colour)
    canvas.ellipse(0.5, 0.35, 0.13, 0.1, pale)
    for x in (0.4, 0.6):
        canvas.ellipse(x, 0.22, 0.04, 0.04, _DARK)
    canvas.ellipse(0.5, 0.31, 0.05, 0.035, _DARK)


def _frisbee(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.ellipse(0.5, 0.5, 0.5, 0.3, shade(colour, 0.6))
    canvas.ellipse(0.5, 0.45, 0.48, 0.26, colour)
    canvas.ellipse(0.5, 0.45, 0.3, 0.15, shade(colour, 0.8))
    canvas.ellipse(0.5, 0.45, 0.25, 0.12, shade(colour, 1.15))


def _bus(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.blob([(0.0, 0.22), (0.04, 0.16), (0.94, 0.16), (1.0, 0.26), (1.0, 0.8), (0.0, 0.8)], colour)
    canvas.rectangle(0.0, 0.2, 0.98, 0.79, colour)
    canvas.rectangle(0.0, 0.6, 1.0, 0.66, shade(colour, 0.6))
    for x in (0.06, 0.25, 0.44, 0.63):
        canvas.rectangle(x, 0.27, x + 0.14, 0.48, _GLASS)
    canvas.rectangle(0.84, 0.26, 0.97, 0.56, _GLASS)
    for x in (0.22, 0.76):
        canvas.ellipse(x, 0.8, 0.11, 0.11, _DARK)
        canvas.ellipse(x, 0.8, 0.045, 0.045, (180, 180, 186))


def _stop_sign(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.rectangle(0.455, 0.5, 0.545, 1.0, _STEEL)
    corners = [
        (0.36, 0.0),
        (0.64, 0.0),
        (0.84, 0.2),
        (0.84, 0.46),
        (0.64, 0.66),
        (0.36, 0.66),
        (0.16, 0.46),
        (0.16, 0.2),
    ]
    canvas.polygon(corners, (244, 244, 244))
    canvas.polygon([(0.5 + (x - 0.5) * 0.86, 0.33 + (y - 0.33) * 0.86) for x, y in corners], (204, 26, 34))
    canvas.rectangle(0.24, 0.27, 0.76, 0.4, (250, 250, 250))
    for x in (0.35, 0.48, 0.61):
        canvas.rectangle(x, 0.27, x + 0.04, 0.4, (204, 26, 34))


def _pizza(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.ellipse(0.5, 0.5, 0.5, 0.48, (176, 108, 44))
    canvas.ellipse(0.5, 0.5, 0.41, 0.39, (246, 206, 92))
    for x, y in ((0.36, 0.32), (0.66, 0.34), (0.28, 0.58), (0.52, 0.54), (0.74, 0.62), (0.46, 0.76)):
        canvas.ellipse(x, y, 0.09, 0.085, (190, 44, 34))
    for x, y in ((0.5, 0.22), (0.4, 0.46), (0.62, 0.74), (0.78, 0.47)):
        canvas.ellipse(x, y, 0.04, 0.04, (60, 130, 52))


def _wine_glass(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.blob([(0.26, 0.0), (0.74, 0.0), (0.8, 0.3), (0.66, 0.54), (0.5, 0.58), (0.34, 0.54), (0.2, 0.3)], _GLASS)
    canvas.blob([(0.23, 0.22), (0.77, 0.22), (0.72, 0.42), (0.5, 0.53), (0.28, 0.42)], (116, 14, 44))
    canvas.rectangle(0.45, 0.55, 0.55, 0.92, shade(_GLASS, 0.8))
    canvas.ellipse(0.5, 0.94, 0.27, 0.06, shade(_GLASS, 0.8))


def _person(canvas: Canvas, colour: Colour, look: int) -> None:
    if look == 1:  # a woman: long hair and a dress
        canvas.blob([(0.5, 0.0), (0.68, 0.08), (0.7, 0.36), (0.3, 0.36), (0.32, 0.08)], (112, 62, 30))
        for x in (0.4, 0.54):
            canvas.rectangle(x, 0.76, x + 0.08, 1.0, _SKIN)
        canvas.polygon([(0.38, 0.32), (0.62, 0.32), (0.76, 0.8), (0.24, 0.8)], colour)
        arms = [(0.36, 0.36), (0.22, 0.58)]
    else:
        canvas.ellipse(0.5, 0.12, 0.15, 0.13, (52, 38, 30))
        for x in (0.35, 0.52):
            canvas.rectangle(x, 0.6, x + 0.13, 1.0, (52, 58, 92))
        canvas.rectangle(0.32, 0.31, 0.68, 0.66, colour)
        arms = [(0.32, 0.36), (0.2, 0.62)]
    for side in (-1, 1):
        canvas.line([(0.5 + side * (0.5 - x), y) for x, y in arms], _SKIN, 0.09)
    canvas.ellipse(0.5, 0.18, 0.115, 0.135, _SKIN)


def _horse(canvas: Canvas, colour: Colour, look: int) -> None:
    dark = shade(colour, 0.55)
    canvas.line([(0.08, 0.4), (0.02, 0.75)], dark, 0.09)
    for x in (0.12, 0.24, 0.54, 0.64):
        canvas.rectangle(x, 0.6, x + 0.08, 1.0, dark if x in (0.24, 0.54) else colour)
    canvas.blob([(0.06, 0.42), (0.3, 0.38), (0.66, 0.38), (0.76, 0.5), (0.66, 0.68), (0.12, 0.68)], colour)
    canvas.polygon(
        [(0.56, 0.5), (0.68, 0.14), (0.78, 0.1), (1.0, 0.32), (0.94, 0.4), (0.8, 0.32), (0.74, 0.58)], colour
    )
    canvas.line([(0.54, 0.46), (0.62, 0.2), (0.72, 0.04)], dark, 0.09)
    canvas.ellipse(0.82, 0.21, 0.03, 0.03, (250, 250, 250))


def _bicycle(canvas: Canvas, colour: Colour, look: int) -> None:
    for x in (0.22, 0.78):
        ring = [(x + 0.21 * dx, 0.74 + 0.21 * dy) for dx, dy in _OCTAGON]
        canvas.line(ring, _DARK, 0.07)
    frame = [(0.22, 0.74), (0.4, 0.4), (0.7, 0.4), (0.48, 0.74), (0.22, 0.74)]
    canvas.line(frame, colour, 0.09)
    canvas.line([(0.48, 0.74), (0.38, 0.3)], colour, 0.08)
    canvas.line([(0.78, 0.74), (0.68, 0.26), (0.82, 0.22)], colour, 0.08)
    canvas.line([(0.29, 0.28), (0.47, 0.28)], _DARK, 0.09)


def _umbrella(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.line([(0.5, 0.1), (0.5, 0.9), (0.56, 0.97), (0.64, 0.9)], (92, 64, 40), 0.06)
    canvas.ellipse(0.5, 0.5, 0.5, 0.44, colour, start=180, stop=360)
    dark = shade(colour, 0.7)
    canvas.polygon([(0.5, 0.06), (0.32, 0.5), (0.17, 0.5)], dark)
    canvas.polygon([(0.5, 0.06), (0.83, 0.5), (0.67, 0.5)], dark)
    for x in (0.0, 0.25, 0.5, 0.75):
        canvas.ellipse(x + 0.125, 0.51, 0.125, 0.06, dark, start=180, stop=360)


def _chair(canvas: Canvas, colour: Colour, look: int) -> None:
    dark = shade(colour, 0.65)
    for x in (0.14, 0.34, 0.62, 0.8):
        canvas.rectangle(x, 0.6, x + 0.08, 1.0 if x in (0.14, 0.8) else 0.9, dark)
    canvas.rectangle(0.14, 0.0, 0.25, 0.62, dark)
    canvas.rectangle(0.14, 0.06, 0.88, 0.34, colour)
    canvas.rectangle(0.78, 0.0, 0.88, 0.62, dark)
    canvas.polygon([(0.1, 0.68), (0.2, 0.54), (0.82, 0.54), (0.92, 0.68)], colour)
    canvas.rectangle(0.1, 0.68, 0.92, 0.74, dark)


def _hot_dog(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.blob([(0.02, 0.5), (0.14, 0.32), (0.86, 0.32), (0.98, 0.5), (0.86, 0.8), (0.14, 0.8)], (214, 150, 78))
    canvas.blob([(0.0, 0.46), (0.08, 0.36), (0.92, 0.36), (1.0, 0.46), (0.92, 0.58), (0.08, 0.58)], (176, 58, 36))
    canvas.line(
        [(0.1, 0.44), (0.24, 0.52), (0.38, 0.42), (0.52, 0.52), (0.66, 0.42), (0.8, 0.52), (0.9, 0.44)],
        (250, 220, 60),
        0.07,
    )
    canvas.blob([(0.04, 0.6), (0.5, 0.64), (0.96, 0.6), (0.86, 0.82), (0.14, 0.82)], (234, 178, 104))


def _guitar(canvas: Canvas, colour: Colour, look: int) -> None:
    canvas.line([(0.5, 0.5), (0.9, 0.1)], (84, 56, 36), 0.09)
    canvas.line([(0.86, 0.14), (0.96, 0.04)], _DARK, 0.15)
    canvas.ellipse(0.26, 0.74, 0.26, 0.25, colour)
    canvas.ellipse(0.46, 0.54, 0.19, 0.18, colour)
    canvas.ellipse(0.38, 0.62, 0.09, 0.09, _DARK)
    canvas.line([(0.14, 0.78), (0.22, 0.86)], _DARK, 0.06)


def _drum(canvas: Canvas, colour: Colour, look: int) -> None:
    for x in (0.12, 0.82):
        canvas.line([(x, 0.6), (x + (x - 0.5) * 0.2, 1.0)], _STEEL, 0.07)
    canvas.ellipse(0.5, 0.72, 0.44, 0.18, shade(colour, 0.7))
    canvas.rectangle(0.06, 0.34, 0.94, 0.72, colour)
    for x in (0.14, 0.38, 0.62):
        canvas.line([(x, 0.4), (x + 0.12, 0.8), (x + 0.24, 0.4)], (250, 222, 120), 0.045)
    canvas.ellipse(0.5, 0.34, 0.45, 0.18, (200, 160, 60))
    canvas.ellipse(0.5, 0.33, 0.4, 0.14, (246, 244, 236))
    canvas.line([(0.3, 0.3), (0.02, 0.04)], (160, 110, 60), 0.06)
    canvas.line([(0.7, 0.3), (0.98, 0.04)], (160, 110, 60), 0.06)


_OCTAGON = ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7), (1, 0))

SHAPES: dict[str, Callable[[Canvas, Colour, int], None]] = {
    "dog": _dog,
    "frisbee": _frisbee,
    "cat": _cat,
    "teddy bear": _teddy,
    "bus": _bus,
    "stop sign": _stop_sign,
    "pizza": _pizza,
    "wine glass": _wine_glass,
    "person": _person,
    "horse": _horse,
    "bicycle": _bicycle,
    "umbrella": _umbrella,
    "chair": _chair,
    "hot dog": _hot_dog,
    "guitar": _guitar,
    "drum": _drum,
}
