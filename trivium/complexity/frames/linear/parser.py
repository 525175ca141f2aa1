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
from trivium.complexity.frames.linear.features import BITS, Words
from trivium.complexity.frames.linear.triggers import Triggers, annotated_occurrences
from trivium.complexity.frames.windows import sentences_of
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance

WEIGHTS = "linear.safetensors"
Pieces = Sequence[tuple[int, Words]]  # sentences: the number of the text, the words
_OF_ELEMENTS = ("begins", "ends", "fits")
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
            seed: of the order of examples, and of what is held back to choose penalty and threshold.

        Raises:
            BadInput: fewer than two frames with an element.
        """
        pieces = cls.split([text.text for text in texts])
        framed = [
            replace(text, frames=tuple(one for one in text.frames if one.frame not in no_frames)) for text in texts
        ]
        pairs = [(words, instance) for number, words in pieces for instance in framed[number].frames]
        evoked = [frame for pair in pairs if (frame := EvokedFrame.of(*pair)) is not None]
        if sum(bool(frame.elements) for frame in evoked) < 2:
            raise BadInput("no frame with elements to learn from", got=f"{len(texts)} texts", expected="two or more")
        taught = [
            place for number, words in pieces for place in annotated_occurrences(words, texts[number].frames, no_frames)
        ]
        triggers = Triggers.learn(taught, [] if partial else [words for _, words in pieces], seed)
        labels = collect_labels(framed)
        return cls(labels, triggers, learn_elements(evoked, labels.elements, seed))

    @staticmethod
    def split(texts: Sequence[str]) -> list[tuple[int, Words]]:
        """The sentences of the texts."""
        return [(number, Words.of(text, span)) for number, text in enumerate(texts) for span in sentences_of(text)]

    def prepare(self, texts: Sequence[str]) -> tuple[Pieces, int]:
        """The sentences of texts for `parse`, and how many had to be cut: none."""
        return self.split(texts), 0

    def parse(self, texts: Sequence[str], pieces: Pieces | None = None) -> list[list[FrameInstance]]:
        """Frames of each text with their elements, as the parser finds them."""
        pieces = self.split(texts) if pieces is None else pieces
        frames: list[list[FrameInstance]] = [[] for _ in texts]
        for number, words in pieces:
            frames[number] += self.triggers.find(words)
        return self._complete(frames, pieces)

    def frames_of(self, texts: Sequence[str], instances: Instances) -> list[list[str]]:
        """The frame of each given trigger; the parser is given its lexical unit, not its frame."""
        return [
            [self.triggers.frame(evoked.words if evoked else None, frame.lexical_unit) for frame, evoked in listed]
            for listed in _place(instances, self.split(texts))
        ]

    def with_elements(self, texts: Sequence[str], instances: Instances) -> list[list[FrameInstance]]:
        """Given frames of each text with the elements that the parser finds; their own are ignored."""
        return self._complete(instances, self.split(texts))

    def _complete(self, instances: Instances, pieces: Pieces) -> list[list[FrameInstance]]:
        placed = _place(instances, pieces)
        evoked = [frame for listed in placed for _, frame in listed if frame is not None]
        named = iter(self.elements.find(evoked))

        def elements(frame: EvokedFrame) -> tuple[FrameElement, ...]:
            cores = self.labels.elements.get(frame.frame, {})
            return tuple(
                FrameElement(name, frame.words.characters(*place), cores[name]) for name, *place in next(named)
            )

        return [
            [replace(instance, elements=() if frame is None else elements(frame)) for instance, frame in listed]
            for listed in placed
        ]

    def save(self, folder: Path, labels_file: str) -> None:
        """Write labels and lexicon into `labels_file` of a folder, and the weights that are not 0 beside it."""
        lexicon = [[*entry, count] for entry, count in sorted(self.triggers.lexicon.items())]
        extra = {"kind": "linear", "lexicon": lexicon, "threshold": self.elements.threshold}
        write_json(folder / labels_file, self.labels.to_json() | extra)
        tensors: dict[str, Any] = {}
        models = {name: getattr(self.elements, name) for name in _OF_ELEMENTS}
        for name, weights in ({"triggers": self.triggers.weights} | models).items():
            columns = np.flatnonzero(weights)
            tensors |= {f"{name}.columns": columns, f"{name}.values": weights[columns]}
        save_file(tensors, folder / WEIGHTS)


def load_linear(folder: Path, tree: dict[str, Any]) -> LinearFrameParser:
    """Load what `LinearFrameParser.save` wrote; `tree` is the content of its labels file."""
    tensors, weights = load_file(folder / WEIGHTS), {}
    for name in ("triggers", *_OF_ELEMENTS):
        values = tensors[f"{name}.values"]
        weights[name] = np.zeros((1 << BITS) + 1, values.dtype)
        weights[name][tensors[f"{name}.columns"]] = values
    labels = FrameLabels.from_json(tree)
    triggers = Triggers({tuple(entry): count for *entry, count in tree["lexicon"]}, weights.pop("triggers"))
    return LinearFrameParser(labels, triggers, Elements(labels.elements, threshold=tree["threshold"], **weights))


def _place(instances: Instances, pieces: Pieces) -> list[list[tuple[FrameInstance, EvokedFrame | None]]]:
    """Each text's frames, with the first sentence that has a word of the trigger."""
    sentences: dict[int, list[Words]] = defaultdict(list)
    for number, words in pieces:
        sentences[number].append(words)

    def place(instance: FrameInstance, number: int) -> EvokedFrame | None:
        evoked = (EvokedFrame.of(words, instance) for words in sentences[number])
        return next((frame for frame in evoked if frame is not None), None)

    return [[(instance, place(instance, number)) for instance in frames] for number, frames in enumerate(instances)]
