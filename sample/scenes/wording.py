"""Captions: a small grammar of English that describes only what is in the scene.

A caption marks what its noun phrases name, much as Flickr30k Entities does: `[dog/animals/A brown dog] runs.` An entity
is a kind of objects, `SCENE`, or the clothes of an object (`clothes_of`).
"""

import re
from typing import Any

from sample.render.canvas import Dice
from sample.scenes.catalogue import KINDS, VERBS
from sample.scenes.scene import Scene
from trivium.core.parameters import read_beside

MENTION = re.compile(r"\[([^/]+)/(\w+)/([^\]]+)\]")  # entity, type in Flickr30k Entities, words
SCENE = "scene"
_WORDS: dict[str, Any] = read_beside(__file__, "bank/wording.yaml")
_PLACE, _COLOUR, _SIZE, _CLOTHES = 0.7, 0.5, 0.15, 0.3

Group = tuple[int, ...]  # the objects of a kind, as indices into the things of a scene


def clothes_of(index: int) -> str:
    """Return the entity of a person's clothes."""
    return f"clothes of {index}"


def plain(caption: str) -> str:
    """Remove the marks from a caption."""
    return MENTION.sub(r"\3", caption)


def kinds_named(caption: str) -> list[str]:
    """Return the kinds of objects that a caption names."""
    return [entity for entity, _, _ in MENTION.findall(caption) if entity in KINDS]


def describe(scene: Scene, dice: Dice, mention: float) -> str:
    """Write a caption that names a share `mention` of the kinds in a scene, at least one."""
    groups = [tuple(i for i, thing in enumerate(scene.things) if thing.kind == kind) for kind in scene.kinds]
    left = [group for group in groups if dice.chance(mention)] or [dice.choice(groups)]
    named: list[Group] = []
    while left:
        named.append(left.pop(dice.integer(0, len(left) - 1)))
    templates = _WORDS["captions"]
    if dice.chance(0.85) and scene.mounted:
        pair = [(scene.mounted[0],), (scene.mounted[1],)]  # rider and carrier before the others
        if all(group in named for group in pair):
            named = [*pair, *(group for group in named if group not in pair)]
            templates = _WORDS["mounted"]
    return _fill(dice.choice(templates[len(named)]), scene, named, dice)


def _fill(template: str, scene: Scene, named: list[Group], dice: Dice) -> str:
    """Fill a template; remove the space before a missing word, and capitalise the first letter."""
    phrases = {letter: _phrase(scene, group, dice) for letter, group in zip("ABCD", named, strict=False)}
    place = _WORDS["places"][scene.background]
    at = ""
    if dice.chance(_PLACE):
        preposition, noun = dice.choice(place["at"]).split("/")
        at = f"{preposition} [{SCENE}/scene/{noun}]"
    many = len(named[0]) > 1
    # A rider does not stand on the ground.
    is_rider = scene.mounted is not None and scene.mounted[0] in named[0]
    verb = VERBS["seen" if is_rider else dice.choice(KINDS[scene.things[named[0][0]].kind].verbs)]
    rides = scene.mounted[2].verb if scene.mounted else verb
    text = template.format(
        **phrases,
        **{"is": "are" if many else "is"},
        isC="are" if len(named) > 2 and len(named[2]) > 1 else "is",
        does=verb[many],
        doing=verb[2],
        rides=rides[0],
        riding=rides[2],
        by=_relate(scene, named, dice),
        by2=dice.choice(_WORDS["near"]),
        at=at,
        view=f"[{SCENE}/scene/{dice.choice(place['view'])}]",
    )
    text = re.sub(r" +([ .,])", r"\1", text)
    return re.sub(r"^(\[[^/]+/\w+/)?(\w)", lambda match: (match[1] or "") + match[2].upper(), text)


def _relate(scene: Scene, named: list[Group], dice: Dice) -> str:
    """Return the preposition between A and B: a side only if the boxes do not overlap horizontally."""
    if len(named) > 1 and len(named[0]) == len(named[1]) == 1 and dice.chance(0.4):
        first, second = scene.things[named[0][0]], scene.things[named[1][0]]
        if first.left + first.width <= second.left:
            return "to the left of"
        if second.left + second.width <= first.left:
            return "to the right of"
    return dice.choice(_WORDS["near"])


def _phrase(scene: Scene, group: Group, dice: Dice) -> str:
    """Make a noun phrase for all the objects of a kind, sometimes with colour, size or clothes."""
    things = [scene.things[index] for index in group]
    first, kind, many = things[0], KINDS[things[0].kind], len(things) > 1
    same_look = len({thing.look for thing in things}) == 1
    words = dice.choice(kind.looks[first.look].nouns).split("/")[many] if same_look else "people"
    if kind.colours and len({thing.colour for thing in things}) == 1 and dice.chance(_COLOUR):
        words = f"{first.colour} {words}"
    if kind.type != "people" and dice.chance(_SIZE):
        if max(thing.side for thing in things) <= scene.size * kind.scale * 0.32:
            words = f"small {words}"
        elif min(thing.side for thing in things) >= scene.size * kind.scale * 0.38:
            words = f"large {words}"
    words = f"{dice.choice(_WORDS['pair'])} {words}" if many else _with_article(words)
    phrase = f"[{kind.name}/{kind.type}/{words}]"
    if kind.type == "people" and not many and dice.chance(_CLOTHES):
        garment = _with_article(f"{first.colour} {kind.looks[first.look].garment}")
        phrase += f" in [{clothes_of(group[0])}/clothing/{garment}]"
    return phrase


def _with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
