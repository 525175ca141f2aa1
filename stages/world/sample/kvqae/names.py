"""Invented names from syllable grammars: four tongues, each with its own sounds, so that a name hints at a country."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Tongue:
    """The sounds of a language: a word is one or two (onset, vowel, coda) syllables and an ending."""

    onsets: tuple[str, ...]
    vowels: tuple[str, ...]
    codas: tuple[str, ...]
    male: tuple[str, ...]
    female: tuple[str, ...]
    family: tuple[str, ...]
    place: tuple[str, ...]

    def word(self, rng: random.Random, endings: tuple[str, ...], *, long: float = 0.35) -> str:
        """One capitalised word; with probability `long` it has two syllables before the ending."""
        stem = rng.choice(self.onsets) + rng.choice(self.vowels) + rng.choice(self.codas)
        if rng.random() < long:
            stem += rng.choice(self.onsets).lower()[-1] + rng.choice(self.vowels) + rng.choice(self.codas)[-1]
        return (stem + rng.choice(endings)).capitalize()


def _split(*columns: str) -> Tongue:
    return Tongue(*(tuple("" if item == "-" else item for item in column.split()) for column in columns))


TONGUES = (
    _split(
        "b br d f fr g h hj k l m r s sk st t th tr v",
        "a e i o u au ei",
        "l ld lm n nd r rk rn rs sk st v",
        "ar e en mund ulf ik",
        "a e hild is run",
        "sen son berg strand feld mark by",
        "vik holm dal havn stad nes",
    ),
    _split(
        "b c d f g l m n p pr r s t tr v z",
        "a e i o u ia ie",
        "l ll m n nt r rd s st v",
        "o io ino ante esto",
        "a ia ella ina etta",
        "ani elli etti osa ucci aro é",
        "ona ara ento iano osa ella",
    ),
    _split(
        "b br d dr g k kr l m n p r s sl sv t v z zl",
        "a e i o u",
        "d l m n r sk st t v z zd",
        "imir an ek omil or",
        "a ena ka ila mira",
        "ov ek ić ar enko nik",
        "grad ovo itsa ets no pol",
    ),
    _split(
        "b br c cl d f g gr h l m n p r s st t th tw w wh",
        "a e i o ea oo",
        "ck dd ld ll m n nd r rn rth sh tt",
        "er on win mer ard",
        "a een wyn ith ora",
        "ley ton wood ham ford well worth",
        "ton bury ford mouth wick combe",
    ),
)
COUNTRY_ENDINGS = (
    ("ia", "ian"),
    ("ora", "oran"),
    ("ana", "anan"),
    ("ar", "arian"),
    ("esia", "esian"),
    ("ovar", "ovarian"),
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
                self.first[number, gender] = self._words(tongue, endings, 40, long=0.1)
            self.family[number] = self._words(tongue, tongue.family, 160, long=0.25)

    def _words(self, tongue: Tongue, endings: tuple[str, ...], count: int, *, long: float) -> list[str]:
        return [self.unique(lambda: tongue.word(self.rng, endings, long=long)) for _ in range(count)]

    def unique(self, make: Callable[[], str]) -> str:
        """Draw until a name is new (whatever its case) and fit for print.

        Raises:
            RuntimeError: the grammar seems exhausted.
        """
        for _ in range(1000):
            name = make()
            key = name.lower()
            if key not in self.taken and not any(word in key for word in _AVOIDED):
                self.taken.add(key)
                return name
        raise RuntimeError(f"no new name left of the kind {name!r}")

    def person(self, tongue: int, gender: str) -> str:
        """A given name and a family name; both recur, their combination does not."""
        return self.unique(
            lambda: f"{self.rng.choice(self.first[tongue, gender])} {self.rng.choice(self.family[tongue])}"
        )

    def place(self, tongue: int) -> str:
        """A town, river or peak in one word."""
        return self.unique(lambda: TONGUES[tongue].word(self.rng, TONGUES[tongue].place))

    def root(self, tongue: int) -> str:
        """A bare invented word for institutions and firms."""
        return self.unique(
            lambda: TONGUES[tongue].word(self.rng, TONGUES[tongue].male[:2] + TONGUES[tongue].female[:1])
        )

    def country(self, tongue: int) -> tuple[str, str]:
        """(country, demonym)."""
        ending, adjective = self.rng.choice(COUNTRY_ENDINGS)
        stem = self.unique(lambda: TONGUES[tongue].word(self.rng, ("v", "l", "m", "r", "th"), long=0.2))
        self.taken.add((stem + ending).lower())
        return stem + ending, stem + adjective

    def phrase(self, *choices: tuple[str, ...]) -> str:
        """One word of each list, as a title."""
        return self.unique(lambda: " ".join(self.rng.choice(words) for words in choices if words))
