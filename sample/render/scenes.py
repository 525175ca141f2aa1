"""Photographs of things: the design itself, or the thing in its surroundings."""

from dataclasses import replace

from PIL import Image

from sample.render.canvas import Canvas, Dice, Frame
from sample.render.difficulty import Difficulty
from sample.render.photo import develop, occlude, pose
from sample.render.things.kinds import THINGS
from sample.render.things.thing import Thing

PAPER = (250, 250, 250)


def thing_of(kind: str, identity: int) -> Thing:
    """The traits of an identity."""
    return THINGS[kind].of(Dice(kind, identity))


def photograph(kind: str, identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """A picture of a thing; view 0 of a flag, a coat of arms or a logo is its clean design."""
    thing, dice = thing_of(kind, identity), Dice("photograph", kind, identity, view)
    canvas = Canvas(size, PAPER)
    if thing.graphic and view == 0:
        canvas.frame = Frame.placed(0.5, 0.5, 0.44)
        thing.draw(canvas, dice)
        return canvas.finish()
    canvas.frame = frame = pose(dice, difficulty, fill=thing.fill)
    if kind == "flag":
        canvas.frame = frame = replace(frame, wave=dice.uniform(0.03, 0.12), phase=dice.uniform(0, 360))
    thing.draw_backdrop(canvas, dice)
    canvas.frame = frame
    thing.draw(canvas, dice)
    if dice.chance(difficulty.occlusion):
        occlude(canvas, dice)
    return develop(canvas.finish(), dice, difficulty)
