"""What the factors are measured against: the corpora around the evaluation examples (complexity.md §4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.complexity.factors.inflections import Inflections
from trivium.core.tables import read_table
from trivium.formats.conllu import Sentence
from trivium.formats.framed_texts import AnnotatedText

LexicalUnits = Mapping[str, Counter[str]]  # frame → how often each lexical unit evokes it


@dataclass(frozen=True)
class Corpora:
    """What the factors are measured against.

    Attributes:
        adaptation: lexical units by frame in the automatically annotated adaptation corpus.
        training: lexical units by frame in the frame-annotated training texts.
        syntax: dependency trees of the evaluation texts, by text id.
        inflections: known forms, for f3.
    """

    adaptation: LexicalUnits
    training: LexicalUnits
    syntax: Mapping[str, Sequence[Sentence]]
    inflections: Inflections


def lexical_units(texts: Sequence[AnnotatedText]) -> dict[str, Counter[str]]:
    """How often each lexical unit evokes each frame in annotated texts."""
    found: dict[str, Counter[str]] = {}
    for text in texts:
        for each in text.frames:
            found.setdefault(each.frame, Counter())[each.lexical_unit.name] += 1
    return found


def predicted_units(path: Path) -> dict[str, Counter[str]]:
    """The same from the frames that the parser found in the adaptation corpus."""
    found: dict[str, Counter[str]] = {}
    columns = read_table(path, ["frame", "lemma", "part_of_speech"]).to_pydict()
    for frame, lemma, part_of_speech in zip(*columns.values(), strict=True):
        found.setdefault(frame, Counter())[f"{lemma}.{part_of_speech}"] += 1
    return found
