"""Invented names from syllable grammars: four tongues, each with its own sounds, so that a name hints at a country."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tongue:
    """The sounds of a language: a word is a head, perhaps a middle, and an ending that tells what is named."""

    heads: tuple[str, ...]
    middles: tuple[str, ...]
    male: tuple[str, ...]
    female: tuple[str, ...]
    family: tuple[str, ...]
    place: tuple[str, ...]

    def word(self, rng: random.Random, endings: tuple[str, ...], *, middle: float) -> str:
        """One capitalised word; with probability `middle` it has three parts."""
        parts = [rng.choice(self.heads), rng.choice(self.middles) if rng.random() < middle else "", rng.choice(endings)]
        return _REPEATED.sub(lambda match: match[1] or match[2] * 2, "".join(parts))


def _split(*columns: str) -> Tongue:
    return Tongue(*(tuple(column.split()) for column in columns))


_REPEATED = re.compile(r"([aiu])\1+|(.)\2{2,}")
TONGUES = (
    _split(
        "Hal Bren Tor Sig Var Eld Mar Ing Ros Stor Fal Grim Hav Jor Kal Lin Mol Nor Odd Rand Sel Skar Sten "
        "Sval Thor Ulv Vest Vin Ask Birk Dal Frost Gran Hel Kvist Lund Myr Orm",
        "er en a ing el",
        "ar ulf mund stein",
        "a hild run dis",
        "sen berg strand mark quist feldt",
        "vik holm dal havn stad nes",
    ),
    _split(
        "Mar Val Cor Bel Fer San Ter Vil Lor Mon Pal Ros Cas Del Gal Luc Man Por Sal Tor Vern Bor Cal Fior "
        "Gran Lav Mir Nov Pin Quar Rin Sor Tal Alb Cam Dor",
        "al an el ol er av",
        "o io ino ante esto",
        "a ia ella ina etta",
        "ani elli etti osa ucci aro é ese",
        "ona ara ento iano osa",
    ),
    _split(
        "Bor Drag Vlad Mil Stan Rad Kras Zor Lub Dob Gor Jar Kol Les Mir Nov Ost Pet Rog Sok Tver Vel Yar "
        "Zlat Brez Chern Dun Grab Hrad Kam Lip Mos Pol Rud Slav Tur Vys Zel",
        "in on en at ov ev",
        "imir an ek omil",
        "a ena ka ila mira",
        "ov ek ić ar enko sky",
        "grad ovo itsa ets pol",
    ),
    _split(
        "Ash Brack Corn Dun Eld Fen Gor Hart Holl Kest Lang Mar Nor Oak Pen Quen Rush Sed Thorn Und Wal Whit "
        "Wick Yar Ald Birch Cald Dray Fair Grim Haz Ives Lark Mall Neth Old Pick Rav Sal Tarn",
        "en er ing el om",
        "er on win mer ard ric",
        "a een wyn ith ora",
        "ley wood well worth man",
        "ton bury ford mouth wick combe",
    ),
)
COUNTRY_ENDINGS = (
    ("ia", "ian"),
    ("ora", "oran"),
    ("ana", "anan"),
    ("ar", "arian"),
    ("esia", "esian"),
    ("enia", "enian"),
)
_AVOIDED = (
    "ass",
    "cum",
    "fag",
    "fuck",
    "cock",
    "hell",
    "shit",
    "tit",
    "anus",
    "rape",
    "slut",
    "damn",
    "dick",
    "coon",
    "nazi",
)


class ExhaustedError(RuntimeError):
    """A grammar has no new name left."""


@dataclass
class Names:
    """A source of names none of which comes twice.

    Attributes:
        rng: drives everything; the same generator gives the same names.
        first: given names a tongue and gender, small enough a set that many people share them.
        family: family names a tongue.
    """

    rng: random.Random
    taken: set[str] = field(default_factory=set)
    first: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    family: dict[int, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, tongue in enumerate(TONGUES):
            for gender, endings in (("male", tongue.male), ("female", tongue.female)):
                self.first[number, gender] = self._words(tongue, endings, 40, middle=0.15)
            self.family[number] = self._words(tongue, tongue.family, 110, middle=0.6)

    def _words(self, tongue: Tongue, endings: tuple[str, ...], count: int, *, middle: float) -> list[str]:
        return [self.unique(lambda: tongue.word(self.rng, endings, middle=middle)) for _ in range(count)]

    def unique(self, make: Callable[[], str]) -> str:
        """Draw until a name is new (whatever its case) and fit for print.

        Raises:
            ExhaustedError: hundreds of draws gave nothing new.
        """
        for _ in range(400):
            name = make()
            key = name.lower()
            if key not in self.taken and not any(word in key for word in _AVOIDED):
                self.taken.add(key)
                return name
        raise ExhaustedError(f"no new name left of the kind {name!r}")

    def person(self, tongue: int, gender: str) -> str:
        """A given name and a family name; both recur, their combination does not."""
        return self.unique(
            lambda: f"{self.rng.choice(self.first[tongue, gender])} {self.rng.choice(self.family[tongue])}"
        )

    def place(self, tongue: int) -> str:
        """A town, river or peak in one word."""
        return self.unique(lambda: TONGUES[tongue].word(self.rng, TONGUES[tongue].place, middle=0.8))

    def root(self, tongue: int) -> str:
        """A bare invented word for institutions and firms."""
        return self.unique(
            lambda: TONGUES[tongue].word(self.rng, TONGUES[tongue].male + TONGUES[tongue].female, middle=1.0)
        )

    def country(self, tongue: int) -> tuple[str, str]:
        """(country, demonym)."""
        ending, adjective = self.rng.choice(COUNTRY_ENDINGS)
        stem = self.unique(lambda: TONGUES[tongue].word(self.rng, ("v", "l", "m", "r", "th"), middle=1.0))
        self.taken.add((stem + ending).lower())
        return stem + ending, stem + adjective

    def phrase(self, *choices: tuple[str, ...]) -> str:
        """One word of each list, as a title."""
        return self.unique(lambda: " ".join(self.rng.choice(words) for words in choices if words))
