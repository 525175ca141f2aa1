"""A frame parser of linear models on words, endings and word classes: it needs no download and learns in minutes.

Its models are those of `triggers.py` and `elements.py`; each sentence is parsed on its own. `parser_training.py` and
`parser_folder.py` use it for `kind: linear`.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from trivium.complexity.frames.labels import FrameLabels, collect_labels
from trivium.complexity.frames.linear.elements import Elements, EvokedFrame, learn_elements
from trivium.complexity.frames.linear.features import BITS, Stretch, Words
from trivium.complexity.frames.linear.triggers import Option, Triggers
from trivium.complexity.frames.windows import sentences_of
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance

WEIGHTS = "linear.safetensors"
Pieces = Sequence[tuple[int, Words]]  # sentences: the number of the text, the words
Instances = Sequence[Sequence[FrameInstance]]  # of each text


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
        pairs = [(words, instance) for number, words in pieces for instance in texts[number].frames]
        evoked = [frame for pair in pairs if (frame := EvokedFrame.of(*pair)) is not None]
        right: dict[Stretch, set[Option]] = defaultdict(set)
        for place, instance in evoked:
            unit, name = instance.lexical_unit, "" if instance.frame in no_frames else instance.frame
            right[place].add(((unit.lemma, unit.part_of_speech), name))
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
        placed = self._place(texts, instances)
        return [
            [
                self.triggers.frame(None if evoked is None else evoked.place, frame.lexical_unit)
                for frame, evoked in listed
            ]
            for listed in placed
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
        """Write labels and lexicon into `labels_file` of a folder, and the weights that are not 0 beside it."""
        extra = {"kind": "linear", "lexicon": self.triggers.lexicon, "usual": self.triggers.usual}
        write_json(folder / labels_file, self.labels.to_json() | extra)
        tensors: dict[str, Any] = {}
        for name, weights in {"triggers": self.triggers.weights, **self.elements.weights}.items():
            columns = np.flatnonzero(weights)
            tensors |= {f"{name}.columns": columns, f"{name}.values": weights[columns]}
        save_file(tensors, folder / WEIGHTS)


def load_linear(folder: Path, tree: dict[str, Any]) -> LinearFrameParser:
    """Load what `LinearFrameParser.save` wrote; `tree` is the content of its labels file."""
    if "usual" not in tree:
        raise BadInput("a linear parser of an earlier version", file=folder, expected="one that is trained again")
    tensors, weights = load_file(folder / WEIGHTS), {}
    for name in ("triggers", "begins", "ends", "fits"):
        values = tensors[f"{name}.values"]
        weights[name] = np.zeros((1 << BITS) + 1, values.dtype)
        weights[name][tensors[f"{name}.columns"]] = values
    labels = FrameLabels.from_json(tree)
    lexicon = {
        stem: [((lemma, part_of_speech), frame) for (lemma, part_of_speech), frame in options]
        for stem, options in tree["lexicon"].items()
    }
    triggers = Triggers(lexicon, tree["usual"], weights.pop("triggers"))
    return LinearFrameParser(labels, triggers, Elements(labels.elements, weights))
