"""Textured backgrounds, by integer arithmetic and Pillow's integer code: the same bytes on every machine."""

import random
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from sample.render.canvas import Colour, Dice, jitter, shade


def _grass(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    _sky(draw, dice, size, horizon)
    _ground(draw, jitter((104, 152, 70), dice, 18), size, horizon)
    for _ in range(30):
        x, y = dice.integer(0, size), dice.integer(horizon, size)
        draw.line((x, y, x + dice.integer(-1, 1), y - 3), fill=jitter((76, 124, 52), dice, 16))
    if dice.chance(0.6):  # a hedge
        draw.rectangle((0, horizon - 3, size, horizon), fill=jitter((58, 98, 50), dice, 12))


def _beach(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    _sky(draw, dice, size, horizon)
    shore = horizon + dice.integer(4, 8)
    draw.rectangle((0, horizon, size, shore), fill=jitter((58, 132, 170), dice, 16))
    _ground(draw, jitter((222, 202, 152), dice, 12), size, shore)
    for _ in range(4):
        x, y = dice.integer(-4, size), dice.integer(horizon + 1, shore)
        draw.line((x, y, x + dice.integer(4, 12), y), fill=(226, 240, 244))


def _street(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    _sky(draw, dice, size, horizon)
    left = 0
    while left < size:
        width, top = dice.integer(7, 14), dice.integer(0, horizon - 4)
        wall = jitter((150, 126, 112), dice, 34)
        draw.rectangle((left, top, left + width - 1, horizon), fill=wall)
        for x in range(left + 1, left + width - 2, 3):
            for y in range(top + 2, horizon - 1, 4):
                draw.point((x, y), fill=shade(wall, 0.6))
        left += width
    _ground(draw, jitter((112, 112, 116), dice, 12), size, horizon)
    draw.rectangle((0, horizon, size, horizon + 2), fill=(170, 168, 164))
    y = dice.integer(horizon + 10, size - 6)
    for x in range(dice.integer(-6, 0), size, 10):
        draw.rectangle((x, y, x + 5, y + 1), fill=(214, 212, 204))


def _room(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    wall = jitter(dice.choice(((206, 190, 166), (166, 186, 196), (190, 172, 190))), dice, 10)
    draw.rectangle((0, 0, size, horizon), fill=wall)
    for x in range(dice.integer(0, 5), size, 6):
        draw.line((x, 0, x, horizon), fill=shade(wall, 0.94))
    if dice.chance(0.5):  # a framed picture
        x = dice.integer(2, size - 14)
        draw.rectangle((x, 2, x + 9, 8), fill=jitter((120, 150, 160), dice, 40), outline=(96, 70, 46))
    _ground(draw, jitter((168, 128, 88), dice, 14), size, horizon)
    for y in range(horizon, size, 5):
        draw.line((0, y, size, y), fill=(132, 96, 62))
        x = dice.integer(0, size)
        draw.line((x, y, x, y + 5), fill=(132, 96, 62))


def _snow(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    _sky(draw, dice, size, horizon)
    for _ in range(dice.integer(1, 3)):  # firs
        x, foot = dice.integer(2, size - 2), horizon + 1
        draw.polygon(((x, foot - 9), (x + 3, foot), (x - 3, foot)), fill=jitter((54, 88, 72), dice, 12))
    _ground(draw, jitter((214, 222, 232), dice, 8), size, horizon)
    for _ in range(5):
        x, y = dice.integer(-6, size), dice.integer(horizon, size)
        draw.line((x, y, x + dice.integer(6, 18), y + dice.integer(-1, 1)), fill=(190, 202, 220))


def _kitchen(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    tile = jitter(dice.choice(((200, 214, 214), (214, 206, 186))), dice, 10)
    draw.rectangle((0, 0, size, size), fill=tile)
    for step in range(dice.integer(0, 5), size, 6):
        draw.line((step, 0, step, horizon), fill=shade(tile, 0.86))
        draw.line((0, step, size, step), fill=shade(tile, 0.86))
    floor = dice.choice(((150, 160, 168), (176, 150, 130)))
    _ground(draw, jitter(floor, dice, 12), size, horizon)
    for x in range(dice.integer(-8, 0), size, 12):
        for row, y in enumerate(range(horizon, size, 6)):
            left = x + 6 * (row % 2)
            draw.rectangle((left, y, left + 5, y + 5), fill=shade(floor, 0.86))


def _sky(draw: ImageDraw.ImageDraw, dice: Dice, size: int, horizon: int) -> None:
    sky = jitter(dice.choice(((150, 192, 226), (190, 206, 220), (226, 206, 190))), dice, 14)
    draw.rectangle((0, 0, size, horizon), fill=sky)
    for _ in range(dice.integer(0, 2)):
        x, y = dice.integer(0, size), dice.integer(0, horizon)
        draw.ellipse((x - 6, y - 2, x + 6, y + 1), fill=shade(sky, 1.12))


def _ground(draw: ImageDraw.ImageDraw, colour: Colour, size: int, horizon: int) -> None:
    for y in range(horizon, size, 4):
        draw.rectangle((0, y, size, y + 3), fill=shade(colour, 0.9 + 0.2 * (y - horizon) / size))


BACKGROUNDS = {"grass": _grass, "beach": _beach, "street": _street, "room": _room, "snow": _snow, "kitchen": _kitchen}


@lru_cache(maxsize=1)  # a scene is rendered several times before the same background
def background(kind: str, seed: str, size: int, horizon: int) -> Image.Image:
    """Draw a background with details of its own and a fine grain of ± 7.

    The picture has a side of `size` pixels; the ground begins at the row `horizon`.
    """
    image = Image.new("RGB", (size, size))
    BACKGROUNDS[kind](ImageDraw.Draw(image), Dice(seed), size, horizon)
    noise = random.Random(seed).randbytes(size * size)
    texture = np.frombuffer(noise, np.uint8).reshape(size, size, 1).astype(np.int16) * 14 // 256 - 7
    pixels = np.asarray(image, np.int16) + texture
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
