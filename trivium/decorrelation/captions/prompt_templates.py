"""Prompts: one of CLIP's 80 ImageNet templates about the classes still in the picture (decorrelation.md §2)."""

import random
from collections.abc import Callable, Sequence
from functools import cache

from trivium.decorrelation.captions.clean_up import article, join
from trivium.language.english.word_lists import plural

_PAIRS = {"scissors": "pair of scissors", "skis": "pair of skis"}
_SLOT = "\0"


@cache
def templates() -> tuple[Callable[[str], str], ...]:
    """The 80 templates, from open_clip."""
    from open_clip import OPENAI_IMAGENET_TEMPLATES

    return tuple(OPENAI_IMAGENET_TEMPLATES)


def fill(template: Callable[[str], str], classes: Sequence[str]) -> str:
    """A template about several classes: "a photo of an apple and a dog."

    The word before the slot decides how the others are led in: "the dog and the cat", "many dogs and cats".

    Args:
        template: puts one class into its sentence.
        classes: at least one.
    """
    before, _, after = template(_SLOT).partition(_SLOT)
    words = before.split()
    if words and words[-1] == "many":
        return f"{before}{join([plural_name(name) for name in classes])}{after}"
    lead = next((word for word in reversed(words) if word in ("a", "the", "my", "one")), "a")
    names = [_PAIRS.get(name, name) if lead in ("a", "one") else name for name in classes]
    if words and words[-1] == "a":
        before = before[: before.rindex("a")] + article(names[0]) + " "
    others = [f"{article(name) if lead == 'a' else lead} {name}" for name in names[1:]]
    return f"{before}{join([names[0], *others])}{after}"


def plural_name(name: str) -> str:
    """The plural of a class's name: "hot dogs"."""
    if name in _PAIRS or name == "broccoli":
        return name
    first, _, last = name.rpartition(" ")
    many = plural(last, {"person": "people", "mouse": "mice", "sheep": "sheep", "knife": "knives"})
    return f"{first} {many}".strip()


def prompt(classes: Sequence[str], key: str) -> str:
    """A caption about these classes; `key` draws the template."""
    return fill(random.Random(key).choice(templates()), classes)
