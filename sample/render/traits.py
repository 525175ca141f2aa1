"""Looks of a person: the traits that stay the same in all photographs."""

from dataclasses import dataclass
from typing import Any

from sample.render.canvas import Colour, Dice, jitter, mix, shade
from sample.render.kit import as_colour, choose_colour, read


def is_woman(identity: int) -> bool:
    """Whether the person drawn for this identity looks like a woman: those of even identities do."""
    return identity % 2 == 0


@dataclass(frozen=True)
class Face:
    """A person's traits: `measures` as in `kinds/person.yaml`, hair, beard, glasses and `marks`."""

    woman: bool
    skin: Colour
    hair: Colour
    iris: Colour
    style: str
    beard: str
    glasses: bool
    marks: dict[str, Any]
    measures: dict[str, float]

    @staticmethod
    def of(identity: int, spread: float) -> "Face":
        """Draw the traits of an identity; `spread` scales how much faces differ from the mean face."""
        dice, woman = Dice("person", identity), is_woman(identity)
        skins = [as_colour(channels) for channels in read("palettes")["skins"].values()]
        tone = min(len(skins) - 1.001, max(0.0, 2.4 + spread * dice.uniform(-2.4, 3.6)))
        skin = mix(skins[int(tone)], skins[int(tone) + 1], tone - int(tone))
        age = dice.uniform(0, 1)
        hair = choose_colour(dice, "old_hairs" if age > 0.75 and dice.chance(0.7) else "hairs", stray=10)[1]
        return Face(
            woman=woman,
            skin=jitter(skin, dice, round(8 * spread)),
            hair=shade(hair, 0.55) if sum(hair) > sum(skin) else hair,
            iris=choose_colour(dice, "irises", stray=0)[1],
            style=dice.choice(styles(woman)),
            beard="none" if woman else dice.choice(read("person")["beards"]),
            glasses=dice.chance(0.18),
            marks={
                "old": age > 0.6,
                "mole": dice.chance(0.2),
                "mole_x": dice.uniform(-0.4, 0.4),
                "mole_y": dice.uniform(0.2, 0.75),
                "freckles": dice.chance(0.12),
            },
            measures={
                name: (means[0] if woman else means[1]) + dice.bell(deviation * spread)
                for name, (*means, deviation) in read("person")["measures"].items()
            },
        )


def styles(woman: bool) -> list[str]:
    """Return the hair styles of women, or of men."""
    return read("person")["styles"]["woman" if woman else "man"]
