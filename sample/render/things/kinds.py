"""Every kind of thing, by name."""

from sample.render.things.animals import Animal
from sample.render.things.arms import Arms
from sample.render.things.bridges import Bridge
from sample.render.things.buildings import Building
from sample.render.things.flags import Flag
from sample.render.things.instruments import Instrument
from sample.render.things.landscapes import Landscape
from sample.render.things.logos import Logo
from sample.render.things.ships import Ship
from sample.render.things.thing import Thing

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
