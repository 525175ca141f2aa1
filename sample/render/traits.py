"""What a person looks like: the traits that stay the same in all photographs."""

from dataclasses import dataclass

from sample.render.canvas import Colour, Dice, jitter, mix

SKINS: tuple[Colour, ...] = (
    (246, 214, 188),
    (236, 196, 164),
    (224, 178, 142),
    (204, 152, 112),
    (172, 120, 84),
    (132, 88, 60),
    (104, 68, 48),
)
HAIRS: tuple[Colour, ...] = (
    (34, 28, 26),
    (62, 44, 32),
    (98, 66, 40),
    (142, 104, 60),
    (206, 172, 112),
    (158, 72, 36),
    (136, 132, 128),
    (214, 210, 204),
)
IRISES: tuple[Colour, ...] = ((70, 46, 30), (96, 66, 38), (88, 104, 62), (74, 112, 140), (110, 130, 140))
SHORT_STYLES = ("cropped", "parted", "swept", "balding", "curly")
LONG_STYLES = ("bob", "long", "bun", "curls", "fringe")
BEARDS = ("none", "none", "none", "moustache", "full", "goatee")


def is_woman(identity: int) -> bool:
    """Whether the person drawn for this identity looks like a woman: even identities do."""
    return identity % 2 == 0


@dataclass(frozen=True)
class Face:
    """A person's traits; lengths are in half head heights."""

    woman: bool
    skin: Colour
    hair: Colour
    iris: Colour
    style: str
    beard: str
    glasses: bool
    age: float
    width: float
    jaw: float
    chin: float
    forehead: float
    eye_gap: float
    eye_size: float
    eye_height: float
    eye_slant: float
    eye_open: float
    brow_height: float
    brow_thickness: float
    brow_slant: float
    nose_length: float
    nose_width: float
    mouth_height: float
    mouth_width: float
    upper_lip: float
    lower_lip: float
    ears: float
    mole: tuple[float, float] | None
    freckles: bool

    @staticmethod
    def of(identity: int, spread: float) -> "Face":
        """The traits of an identity; `spread` scales how far faces are from the mean face."""
        dice = Dice("person", identity)
        woman = is_woman(identity)

        def trait(mean: float, deviation: float) -> float:
            return mean + dice.bell(deviation * spread)

        age = dice.uniform(0, 1)
        hair = dice.choice(HAIRS[-2:] if age > 0.75 and dice.chance(0.7) else HAIRS[:-2])
        tone = min(len(SKINS) - 1.001, max(0.0, 2.4 + spread * dice.uniform(-2.4, 3.6)))
        skin = mix(SKINS[int(tone)], SKINS[int(tone) + 1], tone - int(tone))
        return Face(
            woman=woman,
            skin=jitter(skin, dice, round(8 * spread)),
            hair=jitter(hair, dice, 10),
            iris=dice.choice(IRISES),
            style=dice.choice(LONG_STYLES if woman else SHORT_STYLES),
            beard="none" if woman else dice.choice(BEARDS),
            glasses=dice.chance(0.18),
            age=age,
            width=trait(0.74 if woman else 0.77, 0.045),
            jaw=trait(0.74 if woman else 0.84, 0.06),
            chin=trait(0.36 if woman else 0.44, 0.06),
            forehead=trait(0.80, 0.05),
            eye_gap=trait(0.335, 0.028),
            eye_size=trait(0.165 if woman else 0.15, 0.016),
            eye_height=trait(-0.06, 0.04),
            eye_slant=trait(0.0, 0.022),
            eye_open=trait(0.46, 0.08),
            brow_height=trait(0.20, 0.03),
            brow_thickness=trait(0.035 if woman else 0.055, 0.012),
            brow_slant=trait(0.02, 0.035),
            nose_length=trait(0.42, 0.05),
            nose_width=trait(0.135 if woman else 0.155, 0.024),
            mouth_height=trait(0.61, 0.035),
            mouth_width=trait(0.26, 0.034),
            upper_lip=trait(0.055, 0.014),
            lower_lip=trait(0.075, 0.018),
            ears=trait(0.17, 0.03),
            mole=(dice.uniform(-0.4, 0.4), dice.uniform(0.2, 0.75)) if dice.chance(0.2) else None,
            freckles=dice.chance(0.12),
        )
