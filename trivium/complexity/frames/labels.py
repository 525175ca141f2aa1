"""Labels of the frame parser: frames, their elements, the lexicon of words that evoke them; and a baseline.

They are collected from the annotated training texts and saved with the parser in `labels.json`. The baseline is the
most frequent frame of each lemma.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.complexity.frames.windows import longest_matches, words_of
from trivium.core.folding import fold
from trivium.formats.framed_texts import AnnotatedText, FrameInstance, LexicalUnit, Span

Unit = tuple[str, str]  # lemma, part of speech
UNKNOWN = "other"  # part of speech of a trigger that the lexicon lacks


def form_of(text: str) -> str:
    """A word form as the lexicon has it: folded, in lower case, with one space between words."""
    return " ".join(fold(text).lower().split())


@dataclass(frozen=True)
class FrameLabels:
    """Frames, their elements and their lexicon, as collected from annotated texts."""

    elements: Mapping[str, Mapping[str, str]]  # of each frame those seen with it, and the core type each mostly has
    units: Mapping[str, Mapping[str, int]]  # how often each lexical unit, `lemma.part_of_speech`, evoked each frame
    forms: Mapping[str, Mapping[str, int]]  # how often each word form was each lexical unit
    occurrences: Mapping[str, int]  # how often each of these forms occurs at all, as a trigger or not

    @property
    def frames(self) -> list[str]:
        """Names of the frames, in the order of their tags."""
        return sorted(self.elements)

    @property
    def names(self) -> list[str]:
        """Names of the elements, in the order of their tags."""
        return sorted({name for names in self.elements.values() for name in names})

    def unit_of(self, form: str, frame: str) -> Unit | None:
        """The most frequent lexical unit that the form can be and that evokes the frame; None when there is none."""
        counts = self.forms.get(form, {})
        ranked = [(-count, _unit(name)) for name, count in counts.items() if frame in self.units[name]]
        return min(ranked)[1] if ranked else None

    def frames_of(self, form: str) -> set[str]:
        """The frames of every lexical unit that the form can be; empty when the lexicon lacks it."""
        return {frame for unit in self.forms.get(form, {}) for frame in self.units[unit]}

    def allowed_elements(self) -> NDArray[np.bool_]:
        """(frames, 1 + 2 names): which element tags each frame may have."""
        tags = [name for name in self.names for _ in ("B", "I")]
        return np.array([[True, *(name in self.elements[frame] for name in tags)] for frame in self.frames])

    def to_json(self) -> dict[str, Any]:
        """Return the content of `labels.json`."""
        return {"frames": self.elements, "units": self.units, "forms": self.forms, "occurrences": self.occurrences}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> "FrameLabels":
        """Inverse of `to_json`; `KeyError` when something is missing."""
        return cls(tree["frames"], tree["units"], tree["forms"], tree["occurrences"])


def _unit(name: str) -> Unit:
    lemma, _, part_of_speech = name.rpartition(".")
    return lemma, part_of_speech


def collect_labels(texts: Sequence[AnnotatedText]) -> FrameLabels:
    """Collect the labels of annotated texts."""
    cores: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    units: dict[str, Counter[str]] = defaultdict(Counter)
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for instance in text.frames:
            unit = instance.lexical_unit
            units[unit.name][instance.frame] += 1
            forms[form_of(unit.span.of(text.text))][unit.name] += 1
            elements = cores[instance.frame]
            for element in instance.elements:
                elements[element.name][element.core] += 1
    return FrameLabels(
        {
            frame: {name: _most_frequent(counts) for name, counts in sorted(cores[frame].items())}
            for frame in sorted(cores)
        },
        dict(sorted(units.items())),
        dict(sorted(forms.items())),
        dict(sorted(Counter(form for text in texts for form, _, _ in occurrences(text.text, set(forms))).items())),
    )


def occurrences(text: str, forms: set[str]) -> list[tuple[str, int, int]]:
    """The occurrences of the forms as (form, start, end), in order: the longest at each place, none inside another."""
    words = words_of(text)

    def match(first: int, after: int) -> tuple[str, int, int] | None:
        start, end = words[first].start, words[after - 1].end
        return (form, start, end) if (form := form_of(text[start:end])) in forms else None

    return list(longest_matches(len(words), max((len(words_of(form)) for form in forms), default=0), match))


def _most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda name: (-counts[name], name))


class MostFrequentFrame:
    """A baseline that uses the lexicon of the training texts and no context.

    Given a trigger and its lemma: the lemma's most frequent frame; the most frequent frame of all for an unknown
    lemma. Given a text only: every occurrence of a form that was a trigger in at least half of its occurrences is one.
    A form that was a trigger only inside a longer one ("conséquent" in "par conséquent") has no occurrence of its own,
    and counts as always a trigger.
    """

    def __init__(self, labels: FrameLabels) -> None:
        lemmas = {unit: Counter(counts) for unit, counts in labels.units.items()}
        totals = sum(lemmas.values(), Counter())
        self._labels = labels
        self._best = {unit: _most_frequent(counts) for unit, counts in lemmas.items()}
        self._otherwise = _most_frequent(totals)
        self._forms = {
            form for form, units in labels.forms.items() if 2 * sum(units.values()) >= labels.occurrences.get(form, 0)
        }

    def frame(self, unit: LexicalUnit) -> str:
        """The frame of a trigger whose lexical unit is known."""
        return self._best.get(unit.name, self._otherwise)

    def parse(self, text: str) -> list[FrameInstance]:
        """Triggers and frames of a text, without elements."""
        instances = []
        for form, start, end in occurrences(text, self._forms):
            units = self._labels.forms[form]
            name = min(units, key=lambda candidate: (-units[candidate], _unit(candidate)))
            instances.append(FrameInstance(self._best[name], LexicalUnit(*_unit(name), Span(start, end)), ()))
        return instances
