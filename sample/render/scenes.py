"""Photographs of things: the design itself, or the thing in its surroundings."""

from dataclasses import replace

from PIL import Image

from sample.render.backdrops import draw_backdrop
from sample.render.canvas import Canvas, Dice, Frame
from sample.render.difficulty import Difficulty
from sample.render.photo import develop, occlude, pose
from sample.render.things import thing_of

PAPER = (250, 250, 250)


def photograph(kind: str, identity: int, view: int, *, size: int, difficulty: Difficulty) -> Image.Image:
    """A picture of a thing; view 0 of a flag, a coat of arms or a logo is its clean design."""
    thing, dice = thing_of(kind, identity), Dice("photograph", kind, identity, view)
    canvas = Canvas(size, PAPER)
    if thing.kind.graphic and view == 0:
        canvas.frame = Frame.placed(0.5, 0.5, 0.44)
        thing.draw(canvas)
        return canvas.finish()
    frame = pose(dice, difficulty, fill=thing.kind.fill)
    draw_backdrop(canvas, dice, thing.backdrop)
    canvas.frame = frame
    if kind == "flag":  # on its pole, and in the wind
        canvas.rectangle(-1.08, -0.95, -1.0, 4, (120, 116, 110))
        canvas.ellipse(-1.04, -0.98, 0.08, 0.08, (214, 180, 84))
        canvas.frame = replace(frame, wave=dice.uniform(0.03, 0.12), phase=dice.uniform(0, 360))
    thing.draw(canvas)
    if dice.chance(difficulty.occlusion):
        occlude(canvas, dice)
    return develop(canvas.finish(), dice, difficulty)
