"""Triggers and their frames, chosen among what a lexicon has for the stem of a form.

An option is a lexical unit with a frame that it may evoke, or with none. Logistic regression tells right options from
wrong ones by the words around, for the frame, the unit and the form alone and for all of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from trivium.complexity.frames.labels import Unit
from trivium.complexity.frames.linear import features as hashed
from trivium.complexity.frames.linear.features import Features, Stretch, Weights, Words
from trivium.complexity.frames.windows import longest_matches
from trivium.formats.framed_texts import FrameInstance, LexicalUnit

Option = tuple[Unit, str]  # "": the unit evokes no frame here
Taught = Mapping[Stretch, AbstractSet[Option]]  # of each annotated trigger the options that are right
PENALTY = 1e-4
NEAR = 6  # words on each side of a trigger that are known to be near


class Triggers:
    """Finds triggers with their frames, or the frame of a given trigger.

    `lexicon` has the options of each stem, `usual` is the frame of triggers of which nothing is known.
    """

    def __init__(self, lexicon: Mapping[str, Sequence[Option]], usual: str, weights: Weights) -> None:
        self.lexicon, self.usual, self.weights = lexicon, usual, weights
        self._longest = max((len(stem.split()) for stem in lexicon), default=0)

    @classmethod
    def learn(cls, taught: Taught, silent: Iterable[Words], seed: int) -> "Triggers":
        """Learn from annotated triggers, and from what their lexicon has in `silent` sentences, unless annotated."""
        counts = Counter((place.stem, option) for place, options in taught.items() for option in options)
        frames = Counter(frame for _, (_, frame) in counts.elements() if frame)
        options_of: dict[str, set[Option]] = {}
        for stem, (unit, frame) in counts:
            for known in (stem, " ".join(map(hashed.stem_of, unit[0].lower().split()))):
                options_of.setdefault(known, set()).update([(unit, frame), (unit, "")])
        usual = min(frames, key=lambda frame: (-frames[frame], frame), default="")
        triggers = cls({stem: sorted(options) for stem, options in sorted(options_of.items())}, usual, np.zeros(0))
        annotated = {(place.words, at) for place in taught for at in range(place.first, place.after)}
        none: Taught = {
            place: {option for option in triggers.options(place) if not option[1]}
            for words in silent
            for place in triggers.candidates(words)
            if annotated.isdisjoint((words, at) for at in range(place.first, place.after))
        }
        taught = {**taught, **none}
        rows = hashed.matrix([row for place in taught for row in _rows(place, triggers.options(place))])
        right = np.array([option in taught[place] for place in taught for option in triggers.options(place)])
        triggers.weights = hashed.fit_logistic(rows, right, PENALTY, seed)
        return triggers

    def find(self, words: Words) -> list[FrameInstance]:
        """Triggers with their most likely frames, where a frame is likelier than none; the longest at each place."""
        best = ((place, self._best(place, self.options(place))) for place in self.candidates(words))
        return [FrameInstance(frame, LexicalUnit(*unit, place.span), ()) for place, (unit, frame) in best if frame]

    def frame(self, place: Stretch | None, unit: LexicalUnit) -> str:
        """The frame of a given trigger, among those of its lexical unit; of a new unit those of its stem."""
        if place is None:
            return self.usual
        named = (unit.lemma, unit.part_of_speech)
        options = sorted({option for listed in self.lexicon.values() for option in listed if option[0] == named})
        options = [option for option in options or self.options(place) if option[1]]
        return self._best(place, options)[1] if options else self.usual

    def candidates(self, words: Words) -> Iterator[Stretch]:
        """Stretches whose stem the lexicon has, the longest at each place, none inside another."""

        def match(first: int, after: int) -> Stretch | None:
            place = Stretch(words, first, after)
            return place if place.stem in self.lexicon else None

        return longest_matches(len(words), self._longest, match)

    def options(self, place: Stretch) -> Sequence[Option]:
        """The frames that each unit of the stem may evoke, and none."""
        return self.lexicon.get(place.stem, ())

    def _best(self, place: Stretch, options: Sequence[Option]) -> Option:
        return options[int(np.argmax(hashed.log_odds(self.weights, hashed.matrix(_rows(place, options)))))]


def _rows(place: Stretch, options: Sequence[Option]) -> list[Features]:
    """Features of a place's options: of the words near it, and of all stems of its text."""
    words, first, after = place
    values = words.describe({"-2": first - 2, "-1": first - 1, "+1": after, "+2": after + 1})
    values |= {"ending": place.form[-3:], "class": words.classes[after - 1], "form": place.form,
               "start": str(first == 0)}  # fmt: skip
    stems = (*words.stems[max(0, first - NEAR) : first], *words.stems[after : after + NEAR])
    near = np.concatenate([hashed.fill_in("context", values), hashed.hash_names(f"near {stem}" for stem in stems)])
    far = np.concatenate([near, hashed.hash_names(f"somewhere {stem}" for stem in sorted(set(words.stems)))])
    rows = []
    for unit, frame in options:
        said, part = "frame" if frame else "none", unit[1]
        of_option = hashed.join_keys(far, (f"frame {frame}", f"lemma {unit[0]} {said}"))
        keys = (f"unit {'.'.join(unit)} {frame}", f"form {place.form} {part} {frame}", said, f"{part} {said}")
        rows.append(np.concatenate([of_option, hashed.join_keys(near, keys)]))
    return rows
