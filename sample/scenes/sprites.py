"""Objects as small pictures with transparency, ready to be pasted into a scene; to be told apart at 14 pixels."""

from functools import cache
from typing import Any

from PIL import Image, ImageDraw

from sample.render.canvas import OVERSAMPLING, Canvas, Colour, Frame, shade
from sample.scenes.catalogue import COLOURS, KINDS, PAINTS


class Sprite(Canvas):
    """A canvas that is transparent where nothing is drawn."""

    def __init__(self, size: int, frame: Frame) -> None:
        super().__init__(size, (0, 0, 0), frame)
        self.image = Image.new("RGBA", self.image.size, (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.image)


@cache
def sprite(kind: str, look: int, colour: str, side: int, flip: bool) -> Image.Image:
    """An object that fits a square of `side` pixels, cut to what is visible of it; RGBA."""
    canvas = Sprite(OVERSAMPLING * side, Frame(a=-1.0, c=1.0) if flip else Frame())
    for part in KINDS[kind].looks[look].drawing:
        _draw_part(canvas, part, COLOURS[colour])
    drawn = canvas.finish().reduce(OVERSAMPLING)
    return drawn.crop(drawn.getchannel("A").getbbox())


def _draw_part(canvas: Canvas, part: list[Any], own: Colour) -> None:
    """Draw a part, as `bank/kinds.yaml` describes them; `own` is the object's colour."""
    shape, paint, *rest = part
    fill = own if paint == "own" else PAINTS[paint] if isinstance(paint, str) else shade(own, paint)
    if shape == "line":
        canvas.line(rest[1:], fill, rest[0])
    elif shape == "blob":
        canvas.blob(rest, fill)
    elif shape == "polygon":
        canvas.polygon(rest, fill)
    else:
        (wide, high), *places = rest
        for x, y in places:
            if shape == "box":
                canvas.rectangle(x, y, x + wide, y + high, fill)
            else:
                canvas.ellipse(x, y, wide, high, fill, start=180 if shape == "dome" else 0)
