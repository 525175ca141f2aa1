"""Texts that hold much of other texts, found by runs of words that both have (n-gram containment, Broder 1997)."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from trivium.measures.french import words

WORDS = 8
"""Words of a run: two people who write about one thing seldom share so many in a row."""
SHARE = 0.5
"""Share of a text's runs from which on it counts as held by others."""


class KnownTexts:
    """Texts whose runs of words are remembered; case, punctuation, Unicode normal form and line breaks do not count.

    Args:
        texts: those that other texts may hold, or be made of. One with fewer words than a run is one run.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._sizes: list[int] = []
        for number, text in enumerate(dict.fromkeys(texts)):
            runs = _runs(text)
            self._sizes.append(len(runs))
            for run in runs:
                self._holders[run].append(number)

    def overlap(self, text: str) -> bool:
        """Whether half of the text stands in known ones, whichever they are, or half of one of them stands in it."""
        runs = _runs(text)
        found = [holders for run in runs if (holders := self._holders.get(run))]
        if found and len(found) >= SHARE * len(runs):
            return True
        held = Counter(number for holders in found for number in holders)
        return any(count >= SHARE * self._sizes[number] for number, count in held.items())


def _runs(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[first : first + WORDS]) for first in range(max(1, len(found) - WORDS + 1))} if found else set()
