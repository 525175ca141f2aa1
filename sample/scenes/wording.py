"""Captions: a small grammar of English that says only what is in the scene."""

import re
from dataclasses import dataclass, replace

from sample.render.canvas import Dice
from sample.scenes.catalogue import KINDS, PLACES, SEEN, Verb
from sample.scenes.scene import Scene

# {A} … {D} are noun phrases, {does} and {doing} what A does, {is} agrees with A and {isC} with C, {by} is how A
# stands to B, {at} says where, {view} is the place as a noun.
_TEMPLATES: dict[int, tuple[str, ...]] = {
    1: (
        "{A} {does} {at}.",
        "{A} {doing} {at}.",
        "{A} {at}.",
        "There {is} {A} {at}.",
        "A photo of {A} {at}.",
        "{view} with {A}.",
    ),
    2: (
        "{A} {does} {by} {B} {at}.",
        "{A} {doing} {by} {B} {at}.",
        "{A} {by} {B} {at}.",
        "{A} and {B} {at}.",
        "{A} with {B} {at}.",
        "There {is} {A} {by} {B} {at}.",
        "A picture of {A} and {B} {at}.",
        "{view} with {A} and {B}.",
    ),
    3: (
        "{A}, {B} and {C} {at}.",
        "{A} {does} {by} {B} {at}, with {C} nearby.",
        "{A} {doing} {at} with {B} and {C}.",
        "{A} {by} {B} and {C}.",
        "There {is} {A} {at} next to {B} and {C}.",
        "A photo of {A} {by} {B}, with {C} {at}.",
        "{view} with {A}, {B} and {C}.",
        "{A} {does} {at} near {B}, and there {isC} also {C}.",
    ),
    4: (
        "{A}, {B}, {C} and {D} {at}.",
        "{A} {does} {by} {B} {at}, with {C} and {D} nearby.",
        "{A} {doing} {at} with {B}, {C} and {D}.",
        "{view} with {A}, {B}, {C} and {D}.",
        "A photo of {A} and {B} {by2} {C} and {D}.",
    ),
}
_MOUNTED: dict[int, tuple[str, ...]] = {
    2: ("{A} {rides} {B} {at}.", "{A} {riding} {B} {at}.", "{A} {riding} {B}.", "A photo of {A} {riding} {B} {at}."),
    3: (
        "{A} {rides} {B} near {C} {at}.",
        "{A} {riding} {B} {at}, with {C} nearby.",
        "{view} with {C} and {A} {riding} {B}.",
    ),
    4: ("{A} {riding} {B} {at}, with {C} and {D} nearby.", "{A} {rides} {B} next to {C} and {D} {at}."),
}
_NEAR = ("next to", "beside", "near", "close to", "by")
_PLURAL_WORDS = ("two", "two", "two", "a pair of")
_PLACE, _COLOUR, _SIZE, _CLOTHES = 0.7, 0.5, 0.15, 0.3
_GARMENTS = ("shirt", "dress")  # by look
SCENE = "scene"


@dataclass(frozen=True)
class Mention:
    """A noun phrase of a caption.

    Attributes:
        text: its words.
        entity: what it names: a kind of objects, `SCENE`, or the clothes of an object (`clothes_of`).
        type: its type in Flickr30k Entities.
    """

    text: str
    entity: str
    type: str

    @property
    def kind(self) -> str | None:
        """The kind of the objects it names; None for places and clothes."""
        return self.entity if self.entity in KINDS else None


Caption = tuple[str | Mention, ...]


def clothes_of(index: int) -> str:
    """The entity of what a person wears."""
    return f"clothes of {index}"


def plain(caption: Caption) -> str:
    """The caption as it is read."""
    return "".join(part if isinstance(part, str) else part.text for part in caption)


def describe(scene: Scene, dice: Dice, mention: float) -> Caption:
    """One caption.

    Args:
        scene: what there is to say.
        dice: which words are chosen.
        mention: share of the objects' kinds that are named; at least one is.
    """
    groups = [tuple(i for i, thing in enumerate(scene.things) if thing.kind == kind) for kind in scene.kinds]
    named = [group for group in groups if dice.chance(mention)] or [dice.choice(groups)]
    named = _shuffled(named, dice)
    mounted = _mounted_first(scene, named) if dice.chance(0.85) else None
    templates = _TEMPLATES if mounted is None else _MOUNTED
    named = named if mounted is None else mounted
    return _fill(dice.choice(templates[len(named)]), scene, named, dice)


def _shuffled(items: list[tuple[int, ...]], dice: Dice) -> list[tuple[int, ...]]:
    left, drawn = list(items), []
    while left:
        drawn.append(left.pop(dice.integer(0, len(left) - 1)))
    return drawn


def _mounted_first(scene: Scene, named: list[tuple[int, ...]]) -> list[tuple[int, ...]] | None:
    """Rider and carrier before the others, where both are named."""
    if scene.mounted is None:
        return None
    pair = [(scene.mounted[0],), (scene.mounted[1],)]
    return [*pair, *(group for group in named if group not in pair)] if all(one in named for one in pair) else None


def _fill(template: str, scene: Scene, named: list[tuple[int, ...]], dice: Dice) -> Caption:
    """Put words into a template."""
    phrases = {letter: _noun_phrase(scene, group, dice) for letter, group in zip("ABCD", named, strict=False)}
    place = PLACES[scene.background]
    where: list[str | Mention] = []
    if dice.chance(_PLACE):
        preposition, noun = dice.choice(place.where)
        where = [f"{preposition} ", Mention(noun, SCENE, "scene")]
    many = len(named[0]) > 1
    # Who is on a horse does not stand on the street.
    rider = scene.mounted is not None and scene.mounted[0] in named[0]
    verb = SEEN if rider else dice.choice(KINDS[scene.things[named[0][0]].kind].verbs)
    rides: Verb = scene.mounted[2][4] if scene.mounted else verb
    words: dict[str, list[str | Mention]] = {
        "is": ["are" if many else "is"],
        "isC": ["are" if len(named) > 2 and len(named[2]) > 1 else "is"],
        "does": [verb[many]],
        "doing": [verb[2]],
        "rides": [rides[0]],
        "riding": [rides[2]],
        "by": [_relation(scene, named, dice)],
        "by2": [dice.choice(_NEAR)],
        "at": where,
        "view": [Mention(dice.choice(place.view), SCENE, "scene")],
        **phrases,
    }
    parts: list[str | Mention] = []
    for literal in re.split(r"(\{\w+\})", template):
        parts += words[literal[1:-1]] if literal.startswith("{") else [literal]
    return _polished(parts)


def _polished(parts: list[str | Mention]) -> Caption:
    """Adjacent strings joined, no space left where a word is missing, a capital at the beginning."""
    joined: list[str | Mention] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] = re.sub(r" +([ .,])", r"\1", joined[-1] + part)
        elif part != "":
            joined.append(part)
    if isinstance(joined[-1], str):
        joined[-1] = re.sub(r" +\.", ".", joined[-1])
    first = joined[0]
    if isinstance(first, str):
        joined[0] = first[0].upper() + first[1:]
    else:
        joined[0] = replace(first, text=first.text[0].upper() + first.text[1:])
    return tuple(joined)


def _relation(scene: Scene, named: list[tuple[int, ...]], dice: Dice) -> str:
    """How A stands to B: sides only where they are plain to see."""
    if len(named) > 1 and len(named[0]) == len(named[1]) == 1 and dice.chance(0.4):
        first, second = scene.things[named[0][0]], scene.things[named[1][0]]
        if first.left + first.width <= second.left:
            return "to the left of"
        if second.left + second.width <= first.left:
            return "to the right of"
    return dice.choice(_NEAR)


def _noun_phrase(scene: Scene, group: tuple[int, ...], dice: Dice) -> list[str | Mention]:
    """A noun phrase for all the objects of a kind, with colour, size or clothes now and then."""
    things = [scene.things[index] for index in group]
    kind = KINDS[things[0].kind]
    many = len(things) > 1
    looks = {thing.look for thing in things}
    noun = dice.choice(kind.looks[looks.pop()])[many] if len(looks) == 1 else "people"
    words = noun
    if kind.colours and len({thing.colour for thing in things}) == 1 and dice.chance(_COLOUR):
        words = f"{things[0].colour} {words}"
    if kind.type != "people" and dice.chance(_SIZE):
        small = max(thing.side for thing in things) <= scene.size * kind.scale * 0.32
        big = min(thing.side for thing in things) >= scene.size * kind.scale * 0.38
        words = f"{'small' if small else 'large'} {words}" if small or big else words
    words = f"{dice.choice(_PLURAL_WORDS)} {words}" if many else _with_article(words)
    phrase: list[str | Mention] = [Mention(words, kind.name, kind.type)]
    if kind.type == "people" and not many and dice.chance(_CLOTHES):
        garment = f"{things[0].colour} {_GARMENTS[things[0].look]}"
        phrase += [" in ", Mention(_with_article(garment), clothes_of(group[0]), "clothing")]
    return phrase


def _with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
