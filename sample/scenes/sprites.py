"""Objects as small pictures with transparency, ready to be pasted into a scene."""

from functools import cache

from PIL import Image, ImageDraw

from sample.render.canvas import OVERSAMPLING, Canvas, Colour, Frame
from sample.scenes.shapes import SHAPES

COLOURS: dict[str, Colour] = {
    "red": (206, 40, 44),
    "orange": (232, 130, 36),
    "yellow": (244, 214, 46),
    "green": (52, 150, 70),
    "blue": (44, 92, 200),
    "purple": (132, 56, 168),
    "pink": (240, 132, 172),
    "brown": (138, 86, 44),
    "black": (38, 36, 42),
    "grey": (138, 140, 148),
    "white": (240, 240, 236),
}


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
    SHAPES[kind](canvas, COLOURS[colour], look)
    drawn = canvas.finish().reduce(OVERSAMPLING)
    return drawn.crop(drawn.getchannel("A").getbbox())
