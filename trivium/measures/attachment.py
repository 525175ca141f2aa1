"""Agreement of two dependency parses of the same text: F1 over words that stand at the same place.

The two may be tokenised differently, so a score is `2·right / (found + true)`, as in the CoNLL 2018 shared task.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PlacedWord:
    """A word by its place.

    Attributes:
        place: where it stands, the same for the same word in both parses, and once in each.
        head: the place of its head; None for a root.
        relation: to the head; a subtype after `:` does not count.
        part_of_speech, lemma: as the parse has them.
    """

    place: Hashable
    head: Hashable | None
    relation: str
    part_of_speech: str
    lemma: str


def attachment_scores(found: Sequence[PlacedWord], true: Sequence[PlacedWord]) -> dict[str, float]:
    """`words_f1` (same place), `uas` (and same head), `las` (and same relation), `upos`, `lemmas`; 0 without words.

    Raises:
        ValueError: a place that stands twice in one parse.
    """
    by_place = {word.place: word for word in true}
    if len(by_place) < len(true) or len({word.place for word in found}) < len(found):
        raise ValueError("a place stands twice in one parse")
    pairs = [(word, by_place[word.place]) for word in found if word.place in by_place]
    attached = [(mine, gold) for mine, gold in pairs if mine.head == gold.head]
    right = {
        "words_f1": len(pairs),
        "uas": len(attached),
        "las": sum(_universal(mine.relation) == _universal(gold.relation) for mine, gold in attached),
        "upos": sum(mine.part_of_speech == gold.part_of_speech for mine, gold in pairs),
        "lemmas": sum(mine.lemma.lower() == gold.lemma.lower() for mine, gold in pairs),
    }
    size = len(found) + len(true)
    return {name: 2 * count / size if size else 0.0 for name, count in right.items()}


def _universal(relation: str) -> str:
    return relation.partition(":")[0]
