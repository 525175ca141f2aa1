"""A frame parser of linear models, learned from annotated texts, in memory and on disk.

Its models are those of `triggers.py` and `elements.py`; each sentence is read on its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from trivium.complexity.frames.labels import FrameLabels, collect_labels
from trivium.complexity.frames.linear.elements import Elements, EvokedFrame, learn_elements
from trivium.complexity.frames.linear.features import BITS, Words
from trivium.complexity.frames.linear.triggers import Occurrence, Triggers, annotated_occurrences, count_lexicon
from trivium.complexity.frames.windows import sentences_of
from trivium.core.errors import BadInput
from trivium.core.tables import write_json
from trivium.formats.framed_texts import AnnotatedText, FrameElement, FrameInstance

WEIGHTS = "linear.safetensors"
Pieces = Sequence[tuple[int, Words]]  # sentences: the number of the text, the words


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
            texts: the more, the better.
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
        evoked = [
            frame
            for number, words in pieces
            for instance in framed[number].frames
            if (frame := EvokedFrame.of(words, instance)) is not None
        ]
        if sum(bool(frame.elements) for frame in evoked) < 2:
            raise BadInput("no frame with elements to learn from", got=f"{len(texts)} texts", expected="two or more")
        taught = [
            place for number, words in pieces for place in annotated_occurrences(words, texts[number].frames, no_frames)
        ]
        if not partial:
            taught += _without_annotation(pieces, taught)
        triggers = Triggers(count_lexicon(taught))
        triggers.fit(taught, seed)
        labels = collect_labels(framed)
        names = {frame: list(cores) for frame, cores in labels.elements.items()}
        return cls(labels, triggers, learn_elements(evoked, names, seed))

    @staticmethod
    def split(texts: Sequence[str]) -> list[tuple[int, Words]]:
        """The sentences of the texts."""
        return [(number, Words.of(text, span)) for number, text in enumerate(texts) for span in sentences_of(text)]

    def prepare(self, texts: Sequence[str]) -> tuple[Pieces, int]:
        """The sentences of texts for `parse`, and how many had to be cut: none."""
        return self.split(texts), 0

    def parse(self, texts: Sequence[str], pieces: Pieces | None = None) -> list[list[FrameInstance]]:
        """Frames of each text with their elements, as the parser finds them."""
        pairs = [
            (number, instance, EvokedFrame.of(words, instance))
            for number, words in pieces or self.split(texts)
            for instance in self.triggers.find(words)
        ]
        frames: list[list[FrameInstance]] = [[] for _ in texts]
        read = self._read([evoked for _, _, evoked in pairs if evoked is not None])
        for (number, instance, _), elements in zip(pairs, read, strict=True):
            frames[number].append(replace(instance, elements=elements))
        return frames

    def frames_of(self, texts: Sequence[str], instances: Sequence[Sequence[FrameInstance]]) -> list[list[str]]:
        """The frame of each given trigger; its lexical unit is told, its frame is not looked at."""
        pieces: dict[int, list[Words]] = {}
        for number, words in self.split(texts):
            pieces.setdefault(number, []).append(words)

        def frame(number: int, instance: FrameInstance) -> str:
            unit = instance.lexical_unit
            words = next((words for words in pieces.get(number, ()) if words.under(unit.span)), None)
            return self.triggers.frame(words, unit)

        return [[frame(number, instance) for instance in frames] for number, frames in enumerate(instances)]

    def with_elements(
        self, texts: Sequence[str], instances: Sequence[Sequence[FrameInstance]]
    ) -> list[list[FrameInstance]]:
        """Given frames of each text with the elements that the parser finds; theirs are not looked at."""
        evoked: dict[tuple[int, int], EvokedFrame] = {}
        for number, words in self.split(texts):
            for place, instance in enumerate(instances[number]):
                if (frame := EvokedFrame.of(words, replace(instance, elements=()))) is not None:
                    evoked.setdefault((number, place), frame)
        elements = dict(zip(evoked, self._read(list(evoked.values())), strict=True))
        return [
            [replace(instance, elements=elements.get((number, place), ())) for place, instance in enumerate(frames)]
            for number, frames in enumerate(instances)
        ]

    def _read(self, frames: Sequence[EvokedFrame]) -> list[tuple[FrameElement, ...]]:
        return [
            tuple(
                FrameElement(name, frame.words.characters(first, after), self.labels.elements[frame.frame][name])
                for name, first, after in named
            )
            for frame, named in zip(frames, self.elements.find(frames), strict=True)
        ]

    def save(self, folder: Path, labels_file: str) -> None:
        """Write labels and lexicon into `labels_file` of a folder, and the weights that are not 0 beside it."""
        lexicon = [[*entry, count] for entry, count in sorted(self.triggers.lexicon.items())]
        extra = {"kind": "linear", "lexicon": lexicon, "threshold": self.elements.threshold}
        write_json(folder / labels_file, self.labels.to_json() | extra)
        tensors: dict[str, Any] = {}
        for name, weights in self._weights().items():
            columns = np.flatnonzero(weights)
            tensors |= {f"{name}.columns": columns, f"{name}.values": weights[columns]}
        save_file(tensors, folder / WEIGHTS)

    def _weights(self) -> dict[str, Any]:
        elements = self.elements
        return {"triggers": self.triggers.weights, "begins": elements.begins, "ends": elements.ends,
                "fits": elements.fits}  # fmt: skip


def load_linear(folder: Path, tree: dict[str, Any]) -> LinearFrameParser:
    """Load what `LinearFrameParser.save` wrote; `tree` is the content of its labels file."""
    tensors, weights = load_file(folder / WEIGHTS), {}
    for name in ("triggers", "begins", "ends", "fits"):
        values = tensors[f"{name}.values"]
        weights[name] = np.zeros((1 << BITS) + 1, values.dtype)
        weights[name][tensors[f"{name}.columns"]] = values
    labels = FrameLabels.from_json(tree)
    triggers = Triggers({tuple(entry): count for *entry, count in tree["lexicon"]}, weights.pop("triggers"))
    names = {frame: list(cores) for frame, cores in labels.elements.items()}
    return LinearFrameParser(labels, triggers, Elements(names, threshold=tree["threshold"], **weights))


def _without_annotation(pieces: Pieces, annotated: Sequence[Occurrence]) -> list[Occurrence]:
    """Occurrences of what the lexicon has that no annotation touches: there, no unit evokes a frame."""
    lexicon = Triggers(count_lexicon(annotated))
    annotated_words: dict[int, set[int]] = {}
    for place in annotated:
        annotated_words.setdefault(id(place.words), set()).update(range(place.first, place.after))
    return [
        replace(place, right=lexicon.none_of(place))
        for _, words in pieces
        for place in lexicon.candidates(words)
        if annotated_words.get(id(words), set()).isdisjoint(range(place.first, place.after))
    ]
