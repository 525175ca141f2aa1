import math

import pytest

from sample.render import canvas
from sample.render.canvas import Canvas, Dice, Frame, clip, cosine, sine, smooth


def test_sines_are_far_from_rounding_boundaries():
    """A C library that is off by one unit in the last place must not change the table."""
    for degree in range(360):
        exact = math.sin(math.radians(degree)) * 65536
        assert abs(exact % 1 - 0.5) > 1e-6
        assert sine(degree) == pytest.approx(exact / 65536, abs=1e-5)
    assert (cosine(0), cosine(90), sine(-90), sine(450)) == (1, 0, -1, 1)


def test_dice_depend_on_their_key():
    assert [Dice("a", 1).uniform(0, 1) for _ in range(2)] == [Dice("a", 1).uniform(0, 1)] * 2
    assert Dice("a", 1).uniform(0, 1) != Dice("a", 2).uniform(0, 1)
    dice = Dice("bell")
    draws = [dice.bell(2.0) for _ in range(4000)]
    assert sum(draws) / 4000 == pytest.approx(0, abs=4 * 2 / 4000**0.5)
    assert sum(draw * draw for draw in draws) / 4000 == pytest.approx(4, rel=0.1)
    assert {dice.integer(2, 4) for _ in range(99)} == {2, 3, 4}


def test_clip_cuts_a_square_to_its_quarter():
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    assert set(clip(square, [(0, 0), (5, 0), (5, 5), (0, 5)])) == {(0, 0), (1, 0), (1, 1), (0, 1)}
    assert clip(square, [(2, 2), (5, 2), (5, 5), (2, 5)]) == []


def test_smooth_passes_through_its_points():
    corners = [(0, 0), (1, 0), (1, 1)]
    assert smooth(corners, 4)[::4] == corners
    assert smooth(corners, 4, closed=False)[::4] == corners


def test_frame_places_turns_and_waves():
    assert Frame.placed(0.5, 0.5, 0.2)(1, -1) == pytest.approx((0.7, 0.3))
    assert Frame.placed(0, 0, 1, 90)(1, 0) == pytest.approx((0, 1))
    assert Frame(wave=0.1, phase=90)(0, 0) == pytest.approx((0, 0.1))


def test_rectangle_covers_its_share():
    picture = Canvas(20, (0, 0, 0))
    picture.rectangle(0, 0, 0.5, 1, (255, 255, 255))
    grey = picture.finish().convert("L")
    assert grey.getpixel((4, 10)) == 255
    assert grey.getpixel((15, 10)) == 0
    assert picture.image.width == canvas.OVERSAMPLING * 20
