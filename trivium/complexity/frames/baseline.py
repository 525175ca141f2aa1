"""The baseline of frame parsing: the most frequent frame of each lemma."""

from collections import Counter

from trivium.complexity.frames.labels import FrameLabels, Unit, occurrences
from trivium.formats.framed_texts import FrameInstance, LexicalUnit, Span


class MostFrequentFrame:
    """Knows the lexicon of the training texts and nothing of the context.

    Given a trigger and its lemma: the lemma's most frequent frame; the most frequent frame of all for an unknown
    lemma. Given a text only: every occurrence of a form that was a trigger in at least half of its occurrences is one.
    A form that was a trigger only inside a longer one ("conséquent" in "par conséquent") has no occurrence of its own,
    and counts as always a trigger.
    """

    def __init__(self, labels: FrameLabels) -> None:
        lemmas: dict[Unit, Counter[str]] = {unit: Counter(counts) for unit, counts in labels.units.items()}
        totals = sum(lemmas.values(), Counter())
        self._labels = labels
        self._best = {unit: _best(counts) for unit, counts in lemmas.items()}
        self._otherwise = _best(totals)
        self._forms = {
            form for form, units in labels.forms.items() if 2 * sum(units.values()) >= labels.occurrences.get(form, 0)
        }

    def frame(self, lemma: str, part_of_speech: str) -> str:
        """The frame of a trigger whose lexical unit is known."""
        return self._best.get((lemma, part_of_speech), self._otherwise)

    def parse(self, text: str) -> list[FrameInstance]:
        """Triggers and frames of a text, without elements."""
        found = []
        for form, start, end in occurrences(text, self._forms):
            units = self._labels.forms[form]
            unit = min(units, key=lambda each: (-units[each], each))
            found.append(FrameInstance(self._best[unit], LexicalUnit(*unit, Span(start, end)), ()))
        return found


def ambiguous_units(labels: FrameLabels) -> set[Unit]:
    """The lexical units that evoked more than one frame in the training texts."""
    return {unit for unit, counts in labels.units.items() if len(counts) > 1}


def _best(counts: Counter[str]) -> str:
    return min(counts, key=lambda frame: (-counts[frame], frame))
