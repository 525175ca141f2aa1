"""One line of `trivium doctor`."""

from typing import Literal, NamedTuple

State = Literal["has", "lacks", "needs"]


class Finding(NamedTuple):
    """One line: `has` it, `lacks` it (something works less well or not), or `needs` it (nothing works)."""

    name: str
    state: State
    found: str
    meaning: str = ""


def judge(name: str, is_there: bool, found: str, meaning: str, *, needed: bool = False) -> Finding:
    """A finding whose meaning is told only where something is missing."""
    return Finding(name, "has", found) if is_there else Finding(name, "needs" if needed else "lacks", found, meaning)
