"""Things that have no face: each kind's traits, drawing and caption."""

from stages.world.sample.render.things.animals import Animal
from stages.world.sample.render.things.arms import Arms
from stages.world.sample.render.things.bridges import Bridge
from stages.world.sample.render.things.buildings import Building
from stages.world.sample.render.things.flags import Flag
from stages.world.sample.render.things.instruments import Instrument
from stages.world.sample.render.things.landscapes import Landscape
from stages.world.sample.render.things.logos import Logo
from stages.world.sample.render.things.ships import Ship
from stages.world.sample.render.things.thing import Thing

__all__ = ["THINGS", "Thing"]

THINGS: dict[str, type[Thing]] = {
    "flag": Flag,
    "coat_of_arms": Arms,
    "logo": Logo,
    "ship": Ship,
    "bridge": Bridge,
    "building": Building,
    "landscape": Landscape,
    "animal": Animal,
    "instrument": Instrument,
}
