"""Triggers and their frames, chosen among what a lexicon has for a form or its stem.

An option is a lexical unit with a frame that it may evoke, or with none. Logistic regression tells right options from
wrong ones by how often the unit, the form and the stem had them in training (a training example does not count itself),
and by the words around.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trivium.complexity.frames.labels import Unit
from trivium.complexity.frames.linear import features as hashed
from trivium.complexity.frames.linear.features import Features, Weights, Words
from trivium.complexity.frames.windows import longest_matches
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
    """Finds triggers with their frames, or the frame of a given trigger."""

    def __init__(self, lexicon: Mapping[Entry, int], weights: Weights | None = None) -> None:
        self.lexicon, self.weights = lexicon, np.zeros(0) if weights is None else weights
        # Of each form, stem and unit its frames; of each form and stem its units.
        self._frames: dict[Hashable, Counter[str]] = defaultdict(Counter)
        self._units: dict[Hashable, Counter[Unit]] = defaultdict(Counter)
        totals: Counter[str] = Counter()
        for (form, stem, lemma, part_of_speech, frame), count in lexicon.items():
            unit = (lemma, part_of_speech)
            for key in (("form", form), ("stem", stem), unit):
                self._frames[key][frame] += count
            lemma_stem = " ".join(map(hashed.stem_of, lemma.lower().split()))
            for key, counted in ((("form", form), count), (("stem", stem), count), (("stem", lemma_stem), 0)):
                self._units[key][unit] += counted
            totals[frame] += count if frame else 0
        self._longest = max((len(form.split()) for form, *_ in lexicon), default=0)
        self._otherwise = min(totals, key=lambda frame: (-totals[frame], frame), default="")

    @classmethod
    def learn(cls, taught: Sequence[Occurrence], silent: Iterable[Words], seed: int) -> "Triggers":
        """Learn from annotated occurrences, and from what their lexicon has in `silent` sentences, unless annotated."""
        lexicon = cls(count_lexicon(taught))
        annotated: dict[int, set[int]] = defaultdict(set)
        for place in taught:
            annotated[id(place.words)].update(range(place.first, place.after))
        none = [
            replace(place, right=frozenset(option for option in lexicon.options(place) if not option[1]))
            for words in silent
            for place in lexicon.candidates(words)
            if annotated[id(words)].isdisjoint(range(place.first, place.after))
        ]
        taught = [*taught, *none]
        triggers = cls(count_lexicon(taught))
        choices = [(place, triggers.options(place)) for place in taught]
        rows = hashed.matrix([row for place, options in choices for row in triggers.rows(place, options, own=1)])
        right = np.array([option in place.right for place, options in choices for option in options])
        triggers.weights = hashed.fit_logistic(rows, right, PENALTY, seed)
        return triggers

    def find(self, words: Words) -> list[FrameInstance]:
        """Triggers with their most likely frames, where a frame is likelier than none; the longest at each place."""
        best = ((place, self._best(place, self.options(place))) for place in self.candidates(words))
        return [
            FrameInstance(frame, LexicalUnit(*unit, words.characters(place.first, place.after)), ())
            for place, (unit, frame) in best
            if frame
        ]

    def frame(self, words: Words | None, unit: LexicalUnit) -> str:
        """The frame of a given trigger, among those of its lexical unit; of a new unit those of its form and stem."""
        span = words.under(unit.span) if words else None
        if words is None or span is None:
            return self._otherwise
        place, named = Occurrence(words, *span), (unit.lemma, unit.part_of_speech)
        options = [(named, frame) for frame in sorted(self._frames.get(named, ())) if frame]
        options = options or [option for option in self.options(place) if option[1]]
        return self._best(place, options)[1] if options else self._otherwise

    def candidates(self, words: Words) -> Iterator[Occurrence]:
        """Occurrences that the lexicon has by form or stem, the longest at each place, none inside another."""

        def match(first: int, after: int) -> Occurrence | None:
            place = Occurrence(words, first, after)
            known = ("form", place.form) in self._units or ("stem", place.stem) in self._units
            return place if known else None

        return longest_matches(len(words), self._longest, match)

    def options(self, place: Occurrence) -> list[Option]:
        """The frames that each unit of the form or the stem may evoke, and none."""
        units = {*self._units.get(("form", place.form), ()), *self._units.get(("stem", place.stem), ())}
        return sorted({(unit, frame) for unit in units for frame in ("", *self._frames[unit])})

    def _best(self, place: Occurrence, options: Sequence[Option]) -> Option:
        return options[int(np.argmax(hashed.log_odds(self.weights, hashed.matrix(self.rows(place, options)))))]

    def rows(self, place: Occurrence, options: Sequence[Option], own: int = 0) -> list[Features]:
        """Features of a place's options; `own`: how often a training example has counted itself."""
        nothing: Counter[str] = Counter()
        near, whole = _context(place)
        of_form, of_stem = (
            self._frames.get(("form", place.form), nothing),
            self._frames.get(("stem", place.stem), nothing),
        )
        rows = []
        for unit, frame in options:
            own_unit = own * any(unit == other for other, _ in place.right)
            own_frame = own * any(frame == other for _, other in place.right)
            said, part = "frame" if frame else "none", unit[1]
            own_option = own * ((unit, frame) in place.right)
            shares = {
                "unit": _share(self._frames.get(unit, nothing), frame, own_option, own_unit),
                "form": _share(of_form, frame, own_frame, own),
                "stem": _share(of_stem, frame, own_frame, own),
                "of_form": _share(self._units.get(("form", place.form), Counter()), unit, own_unit, own),
            }
            class_name = place.words.classes[place.after - 1]
            counted = hashed.fill_in("option", shares | {"said": said, "part": part, "class": class_name})
            of_option = hashed.join_keys(whole, (f"frame {frame}", f"lemma {unit[0]} {said}"))
            nearby = hashed.join_keys(near, (f"unit {'.'.join(unit)} {frame}", said, f"{part} {said}"))
            rows.append(np.concatenate([counted, of_option, nearby]))
        return rows


def count_lexicon(taught: Iterable[Occurrence]) -> Counter[Entry]:
    """Count how often each form was each lexical unit with each frame."""
    return Counter((place.form, place.stem, *unit, frame) for place in taught for unit, frame in sorted(place.right))


def _share(counts: Counter, key: Hashable, own: int, own_total: int) -> str:
    """A share in tenths, and of how many, up to 3; without what the example itself counted."""
    total = counts.total() - own_total
    return f"{int(10 * (counts[key] - own + 0.1) / (total + 1))} of {min(3, total)}" if total > 0 else "new"


def _context(place: Occurrence) -> tuple[Features, Features]:
    """Features of the words near a trigger, and these with all stems of its text."""
    words, first, after = place.words, place.first, place.after
    values = words.describe({"-2": first - 2, "-1": first - 1, "+1": after, "+2": after + 1})
    values |= {
        "ending": place.form[-3:],
        "class": words.classes[after - 1],
        "form": place.form,
        "start": str(first == 0),
    }
    near = (*words.stems[max(0, first - NEAR) : first], *words.stems[after : after + NEAR])
    names = np.concatenate([hashed.fill_in("context", values), hashed.hash_names(f"near {stem}" for stem in near)])
    return names, np.concatenate([names, hashed.hash_names(f"somewhere {stem}" for stem in sorted(set(words.stems)))])
