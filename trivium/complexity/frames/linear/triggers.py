"""Triggers and their frames, chosen among what a lexicon has for a form or its stem.

An option is a lexical unit with a frame that it may evoke, or with none. Logistic regression tells right options from
wrong ones by how often the unit, the form and the stem had them in training (a training example does not count itself),
and by the words around.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.complexity.frames.labels import Unit
from trivium.complexity.frames.linear.features import (
    Features,
    Weights,
    Words,
    fit_logistic,
    hash_names,
    join_key,
    log_odds,
    matrix,
    stem_of,
)
from trivium.formats.framed_texts import FrameInstance, LexicalUnit

Option = tuple[Unit, str]  # "": the unit evokes no frame here
Entry = tuple[str, str, str, str, str]  # form, stem, lemma, part of speech, frame
PENALTY = 1e-4
NEAR = 6  # words on each side of a trigger that are known to be near


@dataclass(frozen=True)
class Occurrence:
    """Words `first` to before `after`, and the options that are known to be right."""

    words: Words
    first: int
    after: int
    right: frozenset[Option] = frozenset()

    @property
    def form(self) -> str:
        """The words themselves."""
        return " ".join(self.words.lower[self.first : self.after])

    @property
    def stem(self) -> str:
        """Their stems."""
        return " ".join(self.words.stems[self.first : self.after])


def annotated_occurrences(words: Words, frames: Iterable[FrameInstance], no_frames: frozenset[str]) -> list[Occurrence]:
    """The annotated occurrences in a sentence, of a trigger in parts the first one."""
    right: dict[tuple[int, int], set[Option]] = defaultdict(set)
    for instance in frames:
        if (place := words.under(instance.lexical_unit.span)) is not None:
            unit = (instance.lexical_unit.lemma, instance.lexical_unit.part_of_speech)
            right[place].add((unit, "" if instance.frame in no_frames else instance.frame))
    return [Occurrence(words, *place, frozenset(options)) for place, options in right.items()]


class Triggers:
    """Finds triggers with their frames, or the frame of a given trigger.

    Args:
        lexicon: how often each entry occurred in training.
        weights: of the regression; None before it is fitted.
    """

    def __init__(self, lexicon: Mapping[Entry, int], weights: Weights | None = None) -> None:
        self.lexicon, self.weights = lexicon, np.zeros(0) if weights is None else weights
        self._units: dict[Unit, Counter[str]] = defaultdict(Counter)
        self._forms: dict[str, Counter[Option]] = defaultdict(Counter)
        self._stems: dict[str, Counter[Option]] = defaultdict(Counter)
        frames: Counter[str] = Counter()
        for (form, stem, lemma, part_of_speech, frame), count in lexicon.items():
            unit = (lemma, part_of_speech)
            self._units[unit][frame] += count
            self._forms[form][unit, frame] += count
            self._stems[stem][unit, frame] += count
            self._stems[" ".join(map(stem_of, lemma.lower().split()))][unit, frame] += 0
            frames[frame] += count if frame else 0
        self._longest = max((len(form.split()) for form in self._forms), default=0)
        self._otherwise = min(frames, key=lambda frame: (-frames[frame], frame), default="")

    def find(self, words: Words) -> list[FrameInstance]:
        """Triggers with their most likely frames, where a frame is likelier than none; the longest at each place."""
        choices = [(place, option) for place in self.candidates(words) for option in self._options(place)]
        best: dict[tuple[int, int], tuple[float, Option]] = {}
        for (place, option), score in zip(choices, self._scores(choices), strict=True):
            span = place.first, place.after
            if span not in best or score > best[span][0]:
                best[span] = score, option
        return [
            FrameInstance(frame, LexicalUnit(*unit, words.characters(*span)), ())
            for span, (_, (unit, frame)) in best.items()
            if frame
        ]

    def frame(self, words: Words | None, unit: LexicalUnit) -> str:
        """The frame of a given trigger, among those of its lexical unit; of a new unit those of its form and stem."""
        span = words.under(unit.span) if words else None
        if words is None or span is None:
            return self._otherwise
        place, named = Occurrence(words, *span), (unit.lemma, unit.part_of_speech)
        options = [(named, frame) for frame in sorted(self._units.get(named, ())) if frame]
        options = options or [option for option in self._options(place) if option[1]]
        if not options:
            return self._otherwise
        return options[int(np.argmax(self._scores([(place, option) for option in options])))][1]

    def candidates(self, words: Words) -> Iterator[Occurrence]:
        """Occurrences that the lexicon has by form or stem, the longest at each place, none inside another."""
        first = 0
        while first < len(words):
            for size in range(min(self._longest, len(words) - first), 0, -1):
                place = Occurrence(words, first, first + size)
                if place.form in self._forms or place.stem in self._stems:
                    yield place
                    first += size - 1
                    break
            first += 1

    def none_of(self, place: Occurrence) -> frozenset[Option]:
        """That no unit of the form or the stem evokes a frame."""
        return frozenset(option for option in self._options(place) if not option[1])

    def _options(self, place: Occurrence) -> list[Option]:
        """The frames that each unit of the form or the stem may evoke, and none."""
        options = {*self._forms.get(place.form, ()), *self._stems.get(place.stem, ())}
        units = {unit for unit, _ in options}
        return sorted(options | {(unit, frame) for unit in units for frame in ("", *self._units[unit])})

    def _scores(self, choices: Sequence[tuple[Occurrence, Option]]) -> list[float]:
        odds: list[float] = log_odds(self.weights, matrix(self.rows(choices))).tolist() if choices else []
        return odds

    def fit(self, taught: Sequence[Occurrence], seed: int) -> None:
        """Learn from the occurrences that the lexicon was counted on."""
        choices = [(place, option) for place in taught for option in self._options(place)]
        right = np.array([option in place.right for place, option in choices])
        self.weights = fit_logistic(matrix(self.rows(choices, own=1)), right, PENALTY, seed)

    def rows(self, choices: Iterable[tuple[Occurrence, Option]], own: int = 0) -> list[Features]:
        """Features of options; `own`: how often a training example has counted itself."""
        rows, contexts = [], {}
        for place, option in choices:
            key = id(place.words), place.first, place.after
            if key not in contexts:
                contexts[key] = _context(place)
            rows.append(self._row(place, option, *contexts[key], own))
        return rows

    def _row(self, place: Occurrence, option: Option, near: Features, whole: Features, own: int) -> Features:
        unit, frame = option
        own_unit = own * any(unit == other for other, _ in place.right)
        own_frame = own * any(frame == other for _, other in place.right)
        form, stem = self._forms.get(place.form, Counter()), self._stems.get(place.stem, Counter())
        of_unit = _share(self._units[unit].items(), frame, own * (option in place.right), own_unit)
        of_form = _share(((of, count) for (_, of), count in form.items()), frame, own_frame, own)
        of_stem = _share(((of, count) for (_, of), count in stem.items()), frame, own_frame, own)
        unit_of_form = _share(((of, count) for (of, _), count in form.items()), unit, own_unit, own)
        said = "frame" if frame else "none"
        counted = (
            *(f"unit {of_unit}", f"form {of_form}", f"stem {of_stem}", f"unit of form {unit_of_form}"),
            *(f"unit {of_unit} {said}", f"form {of_form} {said}", f"stem {of_stem} {said}"),
            *(f"all {of_unit} {of_form} {of_stem}", f"unit {of_unit} {unit_of_form}", f"{unit[1]} {of_unit} {said}"),
            *(f"{unit[1]} {said}", f"{unit[1]} {said} {place.words.classes[place.after - 1]}"),
        )
        keys = (f"unit {'.'.join(unit)} {frame}", said, f"{unit[1]} {said}")
        everywhere = (join_key(whole, f"frame {frame}"), join_key(whole, f"lemma {unit[0]} {said}"))
        return np.concatenate([hash_names(counted), *everywhere, *(join_key(near, key) for key in keys)])


def count_lexicon(taught: Iterable[Occurrence]) -> Counter[Entry]:
    """Count how often each form was each lexical unit with each frame."""
    return Counter((place.form, place.stem, *unit, frame) for place in taught for unit, frame in sorted(place.right))


def _share(counts: Iterable[tuple[object, int]], key: object, own: int, own_total: int) -> str:
    """In tenths, and of how many, without what the example itself counted."""
    total, of_key = -own_total, -own
    for counted, count in counts:
        total += count
        of_key += count * (counted == key)
    return f"{int(10 * (of_key + 0.1) / (total + 1))} of {min(3, total)}" if total > 0 else "new"


def _context(place: Occurrence) -> tuple[Features, Features]:
    """Features of the words near a trigger, and these with all stems of its text."""
    words, first, after = place.words, place.first, place.after
    (w2, _, c2), (w1, s1, c1) = words.around(first - 2), words.around(first - 1)
    (v1, t1, d1), (v2, _, d2) = words.around(after), words.around(after + 1)
    names = [
        *("all", f"ends {place.form[-3:]}", f"class {words.classes[after - 1]}", f"form {place.form}"),
        *(f"start {first == 0}", f"w-1 {w1}", f"w-2 {w2}", f"s-1 {s1}", f"c-1 {c1}", f"c-2 {c2} {c1}"),
        *(f"w+1 {v1}", f"w+2 {v2}", f"s+1 {t1}", f"c+1 {d1}", f"c+2 {d1} {d2}", f"c {c1} {d1}"),
        *(f"w {w1} {v1}", f"w+ {v1} {v2}"),
        *(f"near {stem}" for stem in words.stems[max(0, first - NEAR) : first]),
        *(f"near {stem}" for stem in words.stems[after : after + NEAR]),
    ]
    return hash_names(names), hash_names([*names, *(f"somewhere {stem}" for stem in sorted(set(words.stems)))])
