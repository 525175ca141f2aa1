"""What stands in the scenes: kinds of objects, which belong together, and where they stand."""

from dataclasses import dataclass

Noun = tuple[str, str]  # singular, plural
Verb = tuple[str, str, str]  # third person, plural, participle

STANDS: Verb = ("stands", "stand", "standing")
SITS: Verb = ("sits", "sit", "sitting")
LIES: Verb = ("lies", "lie", "lying")
WAITS: Verb = ("waits", "wait", "waiting")
WALKS: Verb = ("walks", "walk", "walking")
RUNS: Verb = ("runs", "run", "running")
RESTS: Verb = ("rests", "rest", "resting")
PARKED: Verb = ("is parked", "are parked", "parked")
SEEN: Verb = ("can be seen", "can be seen", "seen")


@dataclass(frozen=True)
class Kind:
    """A kind of object.

    Attributes:
        name: COCO's name of the class.
        looks: for each way to draw it, the nouns that name it.
        verbs: what it may be said to do.
        colours: the usual colour first; empty where captions name none.
        type: its type in Flickr30k Entities.
        scale: size relative to the other kinds.
    """

    name: str
    looks: tuple[tuple[Noun, ...], ...]
    verbs: tuple[Verb, ...]
    colours: tuple[str, ...] = ()
    type: str = "other"
    scale: float = 1.0


_KINDS = (
    Kind(
        "dog",
        ((("dog", "dogs"), ("dog", "dogs"), ("puppy", "puppies"), ("hound", "hounds")),),
        (STANDS, RUNS, WAITS, WALKS),
        ("brown", "white", "black", "grey"),
        "animals",
    ),
    Kind(
        "frisbee",
        ((("frisbee", "frisbees"), ("frisbee", "frisbees"), ("flying disc", "flying discs")),),
        (LIES, LIES, SEEN),
        ("yellow", "red", "blue", "white"),
        scale=0.85,
    ),
    Kind(
        "cat",
        ((("cat", "cats"), ("cat", "cats"), ("kitten", "kittens"), ("kitty", "kitties")),),
        (SITS, RESTS, WAITS),
        ("grey", "white", "black", "orange"),
        "animals",
    ),
    Kind(
        "teddy bear",
        ((("teddy bear", "teddy bears"), ("teddy", "teddies"), ("stuffed bear", "stuffed bears")),),
        (SITS, SITS, LIES),
        ("pink", "brown", "blue", "white"),
    ),
    Kind(
        "bus",
        ((("bus", "buses"), ("bus", "buses"), ("city bus", "city buses")),),
        (PARKED, WAITS, STANDS),
        ("blue", "red", "white", "green"),
        "vehicles",
        scale=1.12,
    ),
    Kind(
        "stop sign",
        ((("stop sign", "stop signs"), ("stop sign", "stop signs"), ("stopsign", "stopsigns")),),
        (STANDS, SEEN),
        scale=1.08,
    ),
    Kind(
        "pizza",
        ((("pizza", "pizzas"), ("pizza", "pizzas"), ("cheese pizza", "cheese pizzas")),),
        (LIES, SITS, SEEN),
        scale=0.9,
    ),
    Kind(
        "wine glass",
        ((("wine glass", "wine glasses"), ("glass of wine", "glasses of wine"), ("wineglass", "wineglasses")),),
        (STANDS, STANDS, SEEN),
    ),
    Kind(
        "person",
        (
            (("man", "men"), ("man", "men"), ("guy", "guys"), ("person", "people")),
            (("woman", "women"), ("woman", "women"), ("lady", "ladies"), ("person", "people")),
        ),
        (STANDS, WAITS, WALKS),
        type="people",
        scale=1.12,
    ),
    Kind(
        "horse",
        ((("horse", "horses"), ("horse", "horses"), ("pony", "ponies"), ("mare", "mares")),),
        (STANDS, WALKS, WAITS),
        ("black", "brown", "white"),
        "animals",
        scale=1.15,
    ),
    Kind(
        "bicycle",
        ((("bicycle", "bicycles"), ("bike", "bikes"), ("bike", "bikes")),),
        (PARKED, STANDS),
        ("red", "blue", "green", "black"),
        "vehicles",
        scale=1.1,
    ),
    Kind(
        "umbrella",
        ((("umbrella", "umbrellas"), ("umbrella", "umbrellas"), ("parasol", "parasols")),),
        (LIES, SEEN),
        ("purple", "red", "green", "yellow"),
    ),
    Kind(
        "chair",
        ((("chair", "chairs"), ("chair", "chairs"), ("armchair", "armchairs")),),
        (STANDS, SEEN),
        ("green", "red", "white", "blue"),
        scale=1.08,
    ),
    Kind(
        "hot dog",
        ((("hot dog", "hot dogs"), ("hot dog", "hot dogs"), ("hotdog", "hotdogs")),),
        (LIES, SEEN),
    ),
    Kind(
        "guitar",
        ((("guitar", "guitars"), ("acoustic guitar", "acoustic guitars")),),
        (LIES, SEEN),
        ("orange", "black", "red"),
        "instruments",
    ),
    Kind(
        "drum", ((("drum", "drums"), ("snare drum", "snare drums")),), (STANDS, SEEN), ("red", "white"), "instruments"
    ),
)
KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}

# (what is on it, what carries it, how far down the carrier its foot is, its relative size, how captions say so).
Mount = tuple[str, str, float, float, Verb]
MOUNTS: tuple[Mount, ...] = (
    ("person", "horse", 0.62, 1.0, ("rides", "ride", "riding")),
    ("person", "bicycle", 0.7, 1.0, ("rides", "ride", "riding")),
    ("cat", "chair", 0.66, 0.72, ("sits on", "sit on", "sitting on")),
    ("teddy bear", "chair", 0.66, 0.72, ("sits on", "sit on", "sitting on")),
)


@dataclass(frozen=True)
class Cast:
    """Who plays in a data set.

    Attributes:
        pairs: kinds planted together: one of the first side, one of the second.
        free: kinds that come and go on their own.
    """

    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    free: tuple[str, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(name for pair in self.pairs for side in pair for name in side) + self.free


COCO = Cast(
    pairs=(
        (("dog",), ("frisbee",)),
        (("cat",), ("teddy bear",)),
        (("bus",), ("stop sign",)),
        (("pizza",), ("wine glass",)),
    ),
    free=("person", "horse", "bicycle", "umbrella", "chair", "hot dog"),
)
# With four types for classes, two planted pairs of whole types would leave hardly a caption that is right.
FLICKR30K = Cast(
    pairs=((("person",), ("guitar", "drum")), (("dog",), ("bicycle",))),
    free=("horse", "cat", "bus", "frisbee", "umbrella", "chair"),
)


@dataclass(frozen=True)
class Place:
    """A background in words: phrases that say where, and nouns for the whole view."""

    where: tuple[tuple[str, str], ...]
    view: tuple[str, ...]


PLACES: dict[str, Place] = {
    "grass": Place(
        (("on", "the grass"), ("in", "a field"), ("in", "a park"), ("on", "a green lawn")),
        ("a field", "a park", "a meadow"),
    ),
    "beach": Place(
        (("on", "the beach"), ("on", "a sandy beach"), ("by", "the sea"), ("at", "the beach")),
        ("a beach", "a sandy beach"),
    ),
    "street": Place(
        (("on", "the street"), ("on", "a road"), ("in", "the city")),
        ("a street", "a city street", "a road"),
    ),
    "room": Place((("in", "a room"), ("on", "a wooden floor"), ("on", "the floor")), ("a room", "a living room")),
    "snow": Place(
        (("in", "the snow"), ("on", "a snowy hill"), ("on", "the snow")), ("a snowy landscape", "a snowy hill")
    ),
    "kitchen": Place((("in", "a kitchen"), ("in", "the kitchen")), ("a kitchen", "a tiled kitchen")),
}
