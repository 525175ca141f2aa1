"""The line on which a value of a JSON file stands, for messages about files that are one JSON value."""

import json
import re

_STEPS = re.compile(r"\[([0-9]{1,15})\]|([^.\[\]]+)")
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)  # any number: only places matter


def line_in(text: str, path: str) -> int:
    """Line, from 1, on which the value at a path begins, or the last one on the way to it that is there.

    Args:
        text: one JSON value.
        path: such as `data[3].paragraphs[2].qas[0]`; "" is the whole value. No key has a dot or a bracket.
    """
    place = _space(text, 0)
    for number, key in _STEPS.findall(path):
        try:
            child = _child(text, place, int(number) if number else key)
        except RecursionError:  # nested as deep as could be read where less was on the stack
            break
        if child is None:
            break
        place = child
    return text.count("\n", 0, place) + 1


def _child(text: str, place: int, step: int | str) -> int | None:
    """Where a member of the object or list at `place` begins; the last of those with the same key, as JSON is read."""
    if text[place] != ("[" if isinstance(step, int) else "{"):
        return None
    start, number = None, 0
    place = _space(text, place + 1)
    while text[place] not in "]}":
        key: int | str = number
        if isinstance(step, str):
            key, place = _DECODER.raw_decode(text, place)
            place = _space(text, _space(text, place) + 1)  # behind the colon
        if key == step:
            start = place
        _, place = _DECODER.raw_decode(text, place)
        place = _space(text, place)
        if text[place] == ",":
            place = _space(text, place + 1)
        number += 1
    return start


def _space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return place if match is None else match.end()
