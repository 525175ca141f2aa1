"""Vary a drawn scene as cameras, light and file formats do, by `kvqae.sample.difficulty`."""

import io

import numpy as np
from PIL import Image, ImageFilter
from pydantic import Field

from sample.render.canvas import Canvas, Dice, Frame, jitter
from trivium.core.parameters import Parameters


class Difficulty(Parameters):
    """How much photographs may differ from the reference one, and how alike different entities are (0 = easiest)."""

    identity_spread: float = Field(
        gt=0, le=2, description="How different the faces of different people are; 1 = all traits free"
    )
    pose: float = Field(ge=0, le=1, description="Turning and tilting; 1 = heads turn by 35 degrees")
    crop: float = Field(ge=0, le=1, description="Change of distance and framing")
    light: float = Field(ge=0, le=1, description="Change of exposure, colour cast and shadows")
    noise: float = Field(ge=0, le=1, description="Sensor noise, blur and JPEG artefacts")
    occlusion: float = Field(
        ge=0, le=1, description="Share of the photographs in which something stands before the subject"
    )
    disguise: float = Field(
        ge=0, le=1, description="Probability that a person's hair, glasses, hat or beard differ from usual"
    )
    faceless: float = Field(ge=0, le=1, description="Share of a person's photographs without a visible face")
    company: float = Field(ge=0, le=1, description="Share of a person's photographs with a second, smaller face")


def pose(dice: Dice, difficulty: Difficulty, *, fill: float) -> Frame:
    """Draw a frame that turns, slants, scales and shifts a thing in [-1, 1]²; `fill` is its share of the picture."""
    crop, turn = difficulty.crop, difficulty.pose
    scale = fill / 2 * (1 + crop * dice.uniform(-0.3, 0.45))
    x, y = 0.5 + crop * dice.uniform(-0.14, 0.14), 0.5 + crop * dice.uniform(-0.14, 0.14)
    return Frame.placed(
        x,
        y,
        scale,
        turn * dice.bell(8),
        squeeze=1 - turn * dice.uniform(0, 0.35),
        shear=turn * dice.uniform(-0.18, 0.18),
    )


def occlude(canvas: Canvas, dice: Dice) -> None:
    """Draw something before the subject: a post, leaves, a passer-by or a finger at the edge."""
    canvas.frame = Frame()
    colour = jitter((70, 70, 66), dice, 60)
    side = dice.choice((0.0, 1.0))
    x = side + (0.5 - side) * dice.uniform(0.15, 0.6)
    match dice.integer(0, 2):
        case 0:
            width = dice.uniform(0.03, 0.07)
            canvas.rectangle(x - width, -0.1, x + width, 1.1, colour)
        case 1:
            for _ in range(9):
                canvas.ellipse(
                    side + dice.uniform(-0.3, 0.3), dice.uniform(0.4, 1.1), 0.09, 0.05, jitter((60, 96, 50), dice, 30)
                )
        case _:
            canvas.ellipse(side, dice.uniform(0.3, 1.0), 0.22, 0.3, colour)


def develop(image: Image.Image, dice: Dice, difficulty: Difficulty) -> Image.Image:
    """Add light, colour cast, noise, blur and JPEG artefacts. Integer arithmetic: the same bytes on every machine."""
    light, noise = difficulty.light, difficulty.noise
    blur = noise * dice.uniform(0, 1.2)
    if blur > 0.2:
        image = image.filter(ImageFilter.GaussianBlur(round(blur * 8) / 8))
    pixels = np.array(image, dtype=np.int32)
    height, width = pixels.shape[:2]
    # Gains in 1/1024: exposure × cast, falling off linearly across the picture.
    exposure = 1 + light * dice.bell(0.22)
    gains = np.array([round(1024 * max(0.35, exposure + light * dice.bell(0.09))) for _ in range(3)], dtype=np.int32)
    slope_x, slope_y = (round(1024 * light * dice.bell(0.35)) for _ in range(2))
    across = np.arange(width, dtype=np.int32) * slope_x // width - slope_x // 2
    down = np.arange(height, dtype=np.int32) * slope_y // height - slope_y // 2
    pixels *= np.clip(1024 + across[None, :] + down[:, None], 300, 1700)[:, :, None] * gains >> 10
    pixels >>= 10
    contrast, lift = round(1024 * (1 + light * dice.bell(0.16))), round(light * dice.bell(14))
    pixels -= 128
    pixels *= contrast
    pixels >>= 10
    pixels += 128 + lift
    amplitude = round(noise * dice.uniform(2, 22))
    if amplitude:
        grain = np.random.Generator(np.random.PCG64(dice.integer(0, 2**62)))
        pixels += grain.integers(-amplitude, amplitude + 1, size=pixels.shape, dtype=np.int32)
    developed = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    file = encode(developed, quality=round(92 - noise * dice.uniform(0, 60)))
    return Image.open(io.BytesIO(file)).convert("RGB")


def encode(image: Image.Image, quality: int = 90, **options: int) -> bytes:
    """Encode a picture as JPEG; `options` are Pillow's."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, **options)
    return buffer.getvalue()
