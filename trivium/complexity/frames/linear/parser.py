"""Triggers, frames and elements of sentences, learned from annotated ones.

Which words evoke which frame is a choice among what the lexicon has for a form or its stem, made in context. An option
is a lexical unit with a frame that it may evoke, or with none. Logistic regression tells right options from wrong ones
by how often the unit, the form and the stem had them in training (a training example does not count itself), and by the
words around. Only annotated occurrences teach: where a corpus annotates a part, the rest is not known.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trivium.complexity.frames.labels import Unit
from trivium.complexity.frames.linear.elements import Asked, Elements
from trivium.complexity.frames.linear.features import Features, Words, fit_logistic, hashed, joined, matrix, stem_of
from trivium.core.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit

Option = tuple[Unit, str]  # "": the unit evokes no frame here
PENALTY = 1e-4
NEAR = 6  # words on each side of a trigger that are known to be near


@dataclass(frozen=True)
class Occurrence:
    """Words `first` to before `after`, and the options that are right (empty where that is asked)."""

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


def occurrences_of(text: AnnotatedText, words: Words, no_frames: frozenset[str]) -> list[Occurrence]:
    """The annotated occurrences of a text, of a trigger in parts the first one."""
    found: dict[tuple[int, int], set[Option]] = defaultdict(set)
    for each in text.frames:
        place = words.under(each.lexical_unit.span)
        if place is not None:
            unit = (each.lexical_unit.lemma, each.lexical_unit.part_of_speech)
            found[place].add((unit, "" if each.frame in no_frames else each.frame))
    return [Occurrence(words, *place, frozenset(right)) for place, right in found.items()]


class Triggers:
    """Learns from annotated occurrences; finds triggers with their frames, or the frame of a given trigger."""

    def __init__(self, taught: Sequence[Occurrence], seed: int) -> None:
        self._units: dict[Unit, Counter[str]] = defaultdict(Counter)
        self._forms: dict[str, Counter[Option]] = defaultdict(Counter)
        self._stems: dict[str, Counter[Option]] = defaultdict(Counter)
        for each in taught:
            for unit, frame in each.right:
                self._units[unit][frame] += 1
                self._forms[each.form][unit, frame] += 1
                self._stems[each.stem][unit, frame] += 1
                self._stems[" ".join(map(stem_of, unit[0].lower().split()))][unit, frame] += 0
        self._longest = max(len(form.split()) for form in self._forms)
        frames: Counter[str] = Counter()
        for counts in self._units.values():
            frames.update({frame: count for frame, count in counts.items() if frame})
        self._otherwise = min(frames, key=lambda frame: (-frames[frame], frame))
        asked = [(each, option) for each in taught for option in self._options(each)]
        right = np.array([option in each.right for each, option in asked])
        self._model = fit_logistic(matrix(self._rows(asked, own=1)), right, PENALTY, seed)

    def find(self, words: Words) -> list[FrameInstance]:
        """Triggers with their most likely frames, where a frame is likelier than none; the longest at each place."""
        asked = [(each, option) for each in self._candidates(words) for option in self._options(each)]
        best: dict[tuple[int, int], tuple[float, Option]] = {}
        for (each, option), score in zip(asked, self._scores(asked), strict=True):
            place = each.first, each.after
            if place not in best or score > best[place][0]:
                best[place] = score, option
        return [
            FrameInstance(frame, LexicalUnit(*unit, words.characters(*place)), ())
            for place, (_, (unit, frame)) in best.items()
            if frame
        ]

    def frame(self, words: Words, unit: LexicalUnit) -> str:
        """The frame of a given trigger, among those of its lexical unit; of a new unit those of its form and stem."""
        place = words.under(unit.span)
        if place is None:
            return self._otherwise
        each, named = Occurrence(words, *place), (unit.lemma, unit.part_of_speech)
        options = [(named, frame) for frame in sorted(self._units.get(named, ())) if frame]
        options = options or [option for option in self._options(each) if option[1]]
        if not options:
            return self._otherwise
        scores = self._scores([(each, option) for option in options])
        return options[int(np.argmax(scores))][1]

    def _candidates(self, words: Words) -> Iterator[Occurrence]:
        """What the lexicon has by form or stem, the longest at each place, none inside another."""
        first = 0
        while first < len(words):
            for size in range(min(self._longest, len(words) - first), 0, -1):
                each = Occurrence(words, first, first + size)
                if each.form in self._forms or each.stem in self._stems:
                    yield each
                    first += size - 1
                    break
            first += 1

    def _options(self, each: Occurrence) -> list[Option]:
        """What each unit of the form or the stem may evoke, and nothing."""
        known = {*self._forms.get(each.form, ()), *self._stems.get(each.stem, ())}
        units = {unit for unit, _ in known}
        return sorted(known | {(unit, frame) for unit in units for frame in ("", *self._units[unit])})

    def _scores(self, asked: Sequence[tuple[Occurrence, Option]]) -> list[float]:
        odds: list[float] = self._model.decision_function(matrix(self._rows(asked))).tolist() if asked else []
        return odds

    def _rows(self, asked: Iterable[tuple[Occurrence, Option]], own: int = 0) -> list[Features]:
        """Features of options; `own`: how often a training example has counted itself."""
        rows, contexts = [], {}
        for each, option in asked:
            place = id(each.words), each.first, each.after
            if place not in contexts:
                contexts[place] = _context(each)
            rows.append(self._row(each, option, *contexts[place], own))
        return rows

    def _row(self, each: Occurrence, option: Option, near: Features, whole: Features, own: int) -> Features:
        unit, frame = option
        is_unit = own * any(unit == other for other, _ in each.right)
        is_frame = own * any(frame == other for _, other in each.right)
        form, stem = self._forms.get(each.form, Counter()), self._stems.get(each.stem, Counter())
        of_unit = _share(self._units[unit].items(), frame, own * (option in each.right), is_unit)
        of_form = _share(((of, count) for (_, of), count in form.items()), frame, is_frame, own)
        of_stem = _share(((of, count) for (_, of), count in stem.items()), frame, is_frame, own)
        unit_of_form = _share(((of, count) for (of, _), count in form.items()), unit, is_unit, own)
        said = "frame" if frame else "none"
        counted = (
            *(f"unit {of_unit}", f"form {of_form}", f"stem {of_stem}", f"unit of form {unit_of_form}"),
            *(f"unit {of_unit} {said}", f"form {of_form} {said}", f"stem {of_stem} {said}"),
            *(f"all {of_unit} {of_form} {of_stem}", f"unit {of_unit} {unit_of_form}", f"{unit[1]} {of_unit} {said}"),
            *(f"{unit[1]} {said}", f"{unit[1]} {said} {each.words.classes[each.after - 1]}"),
        )
        name = ".".join(unit)
        return np.concatenate(
            [
                hashed(counted),
                joined(whole, f"frame {frame}"),
                joined(whole, f"lemma {unit[0]} {said}"),
                joined(near, f"unit {name} {frame}"),
                joined(near, said),
                joined(near, f"{unit[1]} {said}"),
            ]
        )


def _share(counts: Iterable[tuple[object, int]], key: object, own: int, own_total: int) -> str:
    """In tenths, and of how many, without what the example itself counted."""
    total, of_key = -own_total, -own
    for counted, count in counts:
        total += count
        of_key += count * (counted == key)
    return f"{int(10 * (of_key + 0.1) / (total + 1))} of {min(3, total)}" if total > 0 else "new"


def _context(each: Occurrence) -> tuple[Features, Features]:
    """What stands near a trigger, and that with all stems of its text."""
    words, first, after = each.words, each.first, each.after
    (w2, _, c2), (w1, s1, c1) = words.around(first - 2), words.around(first - 1)
    (v1, t1, d1), (v2, _, d2) = words.around(after), words.around(after + 1)
    names = [
        *(
            "all",
            f"ends {each.form[-3:]}",
            f"class {words.classes[after - 1]}",
            f"form {each.form}",
            f"start {first == 0}",
        ),
        *(f"w-1 {w1}", f"w-2 {w2}", f"s-1 {s1}", f"c-1 {c1}", f"c-2 {c2} {c1}", f"w+1 {v1}", f"w+2 {v2}", f"s+1 {t1}"),
        *(f"c+1 {d1}", f"c+2 {d1} {d2}", f"c {c1} {d1}", f"w {w1} {v1}", f"w+ {v1} {v2}"),
        *(f"near {stem}" for stem in words.stems[max(0, first - NEAR) : first]),
        *(f"near {stem}" for stem in words.stems[after : after + NEAR]),
    ]
    return hashed(names), hashed([*names, *(f"somewhere {stem}" for stem in sorted(set(words.stems)))])


class LinearFrameParser:
    """Learns from texts of one sentence each, of which it need not be known whether all triggers are annotated.

    Args:
        texts: annotated sentences.
        no_frames: names that say that an annotated word evokes no frame of the inventory (`Other_sense` of Asfalda).
        seed: of the order in which examples are seen, and of what is held back to choose penalty and threshold.

    Raises:
        BadInput: no frame with an element to learn from, or no annotated word without frame where that is needed.
    """

    def __init__(self, texts: Sequence[AnnotatedText], *, no_frames: frozenset[str], seed: int) -> None:
        read = [(text, Words.of(text.text)) for text in texts]
        frames = [(each, words) for text, words in read for each in text.frames if each.frame not in no_frames]
        asked = [found for each, words in frames if (found := Asked.of(words, each)) is not None]
        if sum(bool(each.elements) for each in asked) < 2:
            raise BadInput("no frame with elements to learn from", got=f"{len(texts)} texts", expected="two or more")
        self._cores = {(each.frame, element.name): element.core for each, _ in frames for element in each.elements}
        self._triggers = Triggers(
            [each for text, words in read for each in occurrences_of(text, words, no_frames)], seed
        )
        self._elements = Elements(asked, seed)

    def parse(self, texts: Sequence[str]) -> list[list[FrameInstance]]:
        """Frames of each sentence with their elements, as the parser finds them."""
        return self.with_elements(texts, [self._triggers.find(Words.of(text)) for text in texts])

    def frames_of(self, text: str, given: Sequence[FrameInstance]) -> list[str]:
        """The frame of each given trigger; its lexical unit is told, its frame is not looked at."""
        words = Words.of(text)
        return [self._triggers.frame(words, each.lexical_unit) for each in given]

    def with_elements(
        self, texts: Sequence[str], given: Sequence[Sequence[FrameInstance]]
    ) -> list[list[FrameInstance]]:
        """Given frames of each sentence with the elements that the parser finds; theirs are not looked at."""
        asked, places = [], []
        for number, (text, frames) in enumerate(zip(texts, given, strict=True)):
            words = Words.of(text)
            for place, each in enumerate(frames):
                if (question := Asked.of(words, FrameInstance(each.frame, each.lexical_unit, ()))) is not None:
                    asked.append(question)
                    places.append((number, place))
        result = [[FrameInstance(each.frame, each.lexical_unit, ()) for each in frames] for frames in given]
        for (number, place), found, named in zip(places, asked, self._elements.find(asked), strict=True):
            elements = tuple(
                FrameElement(name, found.words.characters(first, after), self._cores[found.frame, name])
                for name, first, after in named
            )
            result[number][place] = FrameInstance(found.frame, result[number][place].lexical_unit, elements)
        return result
