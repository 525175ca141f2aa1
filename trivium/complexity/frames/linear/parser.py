"""A frame parser of linear models on words, endings and word classes: it needs no download and learns in minutes.

Each sentence is parsed on its own. Triggers are chosen among what a lexicon has for the stem of a form, then their
elements (`elements.py`). An option is a lexical unit with a frame that it may evoke, or with none; logistic regression
tells right options from wrong ones by the words around, for the frame, the unit and the form alone and for all of them.
`parser_training.py` and `parser_folder.py` use the parser for `kind: linear`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz

from trivium.complexity.frames.labels import FrameLabels, collect_labels
from trivium.complexity.frames.linear import features as hashed
from trivium.complexity.frames.linear.elements import Elements, EvokedFrame, learn_elements
from trivium.complexity.frames.linear.features import Features, Stretch, Weights, Words
from trivium.complexity.frames.windows import Instances, longest_matches, sentences_of
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance, LexicalUnit

Option = tuple[str, str, str]  # lemma, part of speech, frame; "": the unit evokes no frame here
Taught = Mapping[Stretch, AbstractSet[Option]]  # of each annotated trigger the options that are right
PENALTY = 1e-4
NEAR = 6  # words on each side of a trigger that are known to be near
WEIGHTS = "linear.npz"
Pieces = Sequence[tuple[int, Words]]  # sentences: the number of the text, the words


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
        frames = Counter(frame for _, (_, _, frame) in counts.elements() if frame)
        options_of: dict[str, set[Option]] = {}
        for stem, (lemma, part_of_speech, frame) in counts:
            for known in (stem, " ".join(map(hashed.stem_of, lemma.lower().split()))):
                options_of.setdefault(known, set()).update((lemma, part_of_speech, name) for name in (frame, ""))
        usual = min(frames, key=lambda frame: (-frames[frame], frame), default="")
        triggers = cls({stem: sorted(options) for stem, options in sorted(options_of.items())}, usual, np.zeros(0))
        annotated = {(place.words, at) for place in taught for at in range(place.first, place.after)}
        none: Taught = {
            place: {option for option in triggers.options(place) if not option[2]}
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
        return [
            FrameInstance(frame, LexicalUnit(lemma, part_of_speech, place.span), ())
            for place, (lemma, part_of_speech, frame) in best
            if frame
        ]

    def frame(self, place: Stretch | None, unit: LexicalUnit) -> str:
        """The frame of a given trigger, among those of its lexical unit; of a new unit those of its stem."""
        if place is None:
            return self.usual
        named = (unit.lemma, unit.part_of_speech)
        options = sorted({option for listed in self.lexicon.values() for option in listed if option[:2] == named})
        options = [option for option in options or self.options(place) if option[2]]
        return self._best(place, options)[2] if options else self.usual

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
    for lemma, part, frame in options:
        said = "frame" if frame else "none"
        of_option = hashed.join_keys(far, (f"frame {frame}", f"lemma {lemma} {said}"))
        keys = (f"unit {lemma}.{part} {frame}", f"form {place.form} {part} {frame}", said, f"{part} {said}")
        rows.append(np.concatenate([of_option, hashed.join_keys(near, keys)]))
    return rows


@dataclass(frozen=True)
class LinearFrameParser:
    """Finds frames and their elements; `FrameParser` has the same methods."""

    labels: FrameLabels
    triggers: Triggers
    elements: Elements

    @classmethod
    def learn(
        cls, texts: Sequence[AnnotatedText], *, no_frames: frozenset[str], partial: bool, seed: int
    ) -> "LinearFrameParser":
        """Learn from annotated texts.

        Args:
            no_frames: names that say that an annotated word evokes no frame (`Other_sense` of Asfalda).
            partial: a word without annotation may evoke a frame all the same, and teaches nothing.
            seed: of the order of examples.

        Raises:
            BadInput: fewer than two frames with an element.
        """
        pieces, _ = cls.prepare([text.text for text in texts])
        placed = (EvokedFrame.of(words, frame) for number, words in pieces for frame in texts[number].frames)
        evoked = [frame for frame in placed if frame is not None]
        right: dict[Stretch, set[Option]] = defaultdict(set)
        for place, instance in evoked:
            unit, name = instance.lexical_unit, "" if instance.frame in no_frames else instance.frame
            right[place].add((unit.lemma, unit.part_of_speech, name))
        framed = [frame for frame in evoked if frame.instance.frame not in no_frames]
        if sum(bool(frame.elements) for frame in framed) < 2:
            raise BadInput("no frame with elements to learn from", got=f"{len(texts)} texts", expected="two or more")
        triggers = Triggers.learn(right, [] if partial else [words for _, words in pieces], seed)
        labels = collect_labels(
            [replace(text, frames=tuple(one for one in text.frames if one.frame not in no_frames)) for text in texts]
        )
        return cls(labels, triggers, learn_elements(framed, labels.elements, seed))

    @staticmethod
    def prepare(texts: Sequence[str]) -> tuple[Pieces, int]:
        """The sentences of texts for `parse`, and how many had to be cut: none."""
        spans = ((number, text, span) for number, text in enumerate(texts) for span in sentences_of(text))
        return [(number, Words.of(text, span)) for number, text, span in spans], 0

    def parse(self, texts: Sequence[str], pieces: Pieces | None = None) -> list[list[FrameInstance]]:
        """Frames of each text with their elements, as the parser finds them."""
        frames: list[list[FrameInstance]] = [[] for _ in texts]
        for number, words in self.prepare(texts)[0] if pieces is None else pieces:
            frames[number] += self.triggers.find(words)
        return self.with_elements(texts, frames)

    def frames_of(self, texts: Sequence[str], instances: Instances) -> list[list[str]]:
        """The frame of each given trigger; the parser is given its lexical unit, not its frame."""
        return [
            [self.triggers.frame(evoked and evoked.place, frame.lexical_unit) for frame, evoked in listed]
            for listed in self._place(texts, instances)
        ]

    def with_elements(self, texts: Sequence[str], instances: Instances) -> list[list[FrameInstance]]:
        """Given frames of each text with the elements that the parser finds; their own are ignored."""
        placed = self._place(texts, instances)
        named = iter(self.elements.find([frame for listed in placed for _, frame in listed if frame is not None]))

        def elements(frame: EvokedFrame) -> tuple[FrameElement, ...]:
            words, cores = frame.place.words, self.labels.elements.get(frame.instance.frame, {})
            return tuple(FrameElement(name, Stretch(words, *at).span, cores[name]) for name, *at in next(named))

        return [
            [replace(instance, elements=() if frame is None else elements(frame)) for instance, frame in listed]
            for listed in placed
        ]

    def _place(
        self, texts: Sequence[str], instances: Instances
    ) -> list[list[tuple[FrameInstance, EvokedFrame | None]]]:
        """Each text's frames, with their place in the first sentence that has a word of the trigger."""
        sentences: dict[int, list[Words]] = defaultdict(list)
        for number, words in self.prepare(texts)[0]:
            sentences[number].append(words)

        def place(instance: FrameInstance, number: int) -> EvokedFrame | None:
            return next(filter(None, (EvokedFrame.of(words, instance) for words in sentences[number])), None)

        return [[(frame, place(frame, number)) for frame in frames] for number, frames in enumerate(instances)]

    def save(self, folder: Path, labels_file: str) -> None:
        """Write labels and lexicon into `labels_file` of a folder, and the weights beside it."""
        extra = {"kind": "linear", "lexicon": self.triggers.lexicon, "usual": self.triggers.usual}
        write_json(folder / labels_file, self.labels.to_json() | extra)
        weights = [self.triggers.weights, self.elements.begins, self.elements.ends, self.elements.fits]
        save_npz(folder / WEIGHTS, csr_matrix(np.stack(weights)))  # most are 0


def load_linear(folder: Path, tree: dict[str, Any]) -> LinearFrameParser:
    """Load what `LinearFrameParser.save` wrote; `tree` is the content of its labels file."""
    if not (folder / WEIGHTS).is_file():
        raise BadInput("a linear parser of an earlier version", file=folder, expected="one that is trained again")
    weights, *of_elements = load_npz(folder / WEIGHTS).toarray()
    labels = FrameLabels.from_json(tree)
    lexicon: dict[str, list[Any]] = {stem: list(map(tuple, options)) for stem, options in tree["lexicon"].items()}
    triggers = Triggers(lexicon, tree["usual"], weights)
    return LinearFrameParser(labels, triggers, Elements(labels.elements, *of_elements))
