"""The frame parser that tags words with an encoder: triggers with their frames, then the elements of each (§1).

A sentence is read once for its triggers, and once more for the elements of each of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm
from transformers import PreTrainedTokenizerBase

from trivium.complexity.frames.labels import UNKNOWN, FrameLabels, form_of
from trivium.complexity.frames.windows import Instances, Window, place_frames, span_of, windows_of, words_of
from trivium.formats.framed_texts import FrameElement, FrameInstance, LexicalUnit, Span
from trivium.measures.frames import best_bio_tags, bio_spans
from trivium.nets.device import halving_batches, length_sorted_batches
from trivium.nets.frame_parser import AFTER, BEFORE, NOT_ASKED, TRIGGER, FrameTagger
from trivium.nets.tokens import pad

Trigger = tuple[int, int, int]  # frame, first word, last word
Restrict = Callable[["Reading", NDArray[np.float32]], None]  # sets log-probabilities (words, tags) to −∞, in place


@dataclass(frozen=True)
class Reading:
    """One reading of a window: for its triggers, or for the elements of one frame there."""

    window: Window
    frame: int = 0  # 1 + the frame whose elements are asked for; 0 when triggers are
    trigger: tuple[int, int] = (0, 0)  # first and last word of that frame's trigger


@dataclass
class FrameParser:
    """A network with what it needs to read texts, `batch` readings at a time."""

    network: FrameTagger
    tokenizer: PreTrainedTokenizerBase
    labels: FrameLabels
    max_tokens: int
    batch: int = 128

    def __post_init__(self) -> None:
        """Put the mask of the elements that each frame may have beside the network."""
        self.allowed = torch.from_numpy(self.labels.allowed_elements()).to(self.device)

    @property
    def device(self) -> torch.device:
        """The device of the network."""
        return self.network.frame.weight.device

    def logits(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Tag logits of what `collate` made of readings that all ask for triggers, or all for elements.

        Returns:
            (batch, words, tags), −∞ for elements that the frame does not have.
        """
        on_device = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
        states = self.network(**on_device)
        if not batch["frame"][0]:
            return self.network.triggers(states)
        allowed = self.allowed[on_device["frame"] - 1]
        return self.network.elements(states).masked_fill(~allowed[:, None], -torch.inf)

    def prepare(self, texts: Sequence[str]) -> tuple[list[Window], int]:
        """The windows of texts for `parse`, and how many sentences had to be cut."""
        return windows_of(texts, self.tokenizer, self.max_tokens)

    def parse(
        self, texts: Sequence[str], windows: Sequence[Window] | None = None, *, masked: bool = True
    ) -> list[list[FrameInstance]]:
        """Frames of each text with their elements, as the parser finds them.

        A trigger of a form that the lexicon lacks, or that evokes another frame there, gets its form as lemma and the
        part of speech `other`. With `masked`, a word that the lexicon knows evokes only frames that it has there.
        """
        windows = self.prepare(texts)[0] if windows is None else windows
        restrict = lexicon_mask(self.labels, texts) if masked else None
        tags = read_tags(self, [Reading(window) for window in windows], restrict)
        triggers = [(window, trigger) for window, row in zip(windows, tags, strict=True) for trigger in bio_spans(row)]
        frames: list[list[FrameInstance]] = [[] for _ in texts]
        for (window, (frame, first, last)), elements in zip(triggers, find_elements(self, triggers), strict=True):
            name, span = self.labels.frames[frame], span_of(window, first, last)
            form = form_of(span.of(texts[window.text]))
            unit = self.labels.unit_of(form, name) or (form, UNKNOWN)
            frames[window.text].append(FrameInstance(name, LexicalUnit(*unit, span), self._elements(name, elements)))
        return frames

    def frames_of(self, texts: Sequence[str], instances: Instances, *, masked: bool = True) -> list[list[str]]:
        """The best frame of each given trigger, "" for one that no window holds whole.

        The parser is given the trigger's lexical unit, not its frame. With `masked`, a unit of the lexicon
        evokes only frames that it has there.
        """
        names, units, best = self.labels.frames, self.labels.units, {}
        placed, _ = place_frames(instances, self.prepare(texts)[0])
        for places, logits in _scores(self, [Reading(gold.window) for gold in placed], range(len(placed))):
            for gold, row in zip([placed[place] for place in places], logits, strict=True):
                scores, unit = row[gold.first, 1::2], units.get(gold.instance.lexical_unit.name)
                if masked and unit is not None:
                    scores = np.where([frame in unit for frame in names], scores, -np.inf)
                best[id(gold.instance)] = names[int(scores.argmax())]
        return [[best.get(id(instance), "") for instance in frames] for frames in instances]

    def with_elements(self, texts: Sequence[str], instances: Instances) -> list[list[FrameInstance]]:
        """Given frames of each text with the elements that the parser finds; none of a frame that it does not know."""
        numbers = {name: place for place, name in enumerate(self.labels.frames)}
        every, _ = place_frames(instances, self.prepare(texts)[0])
        placed = [gold for gold in every if gold.instance.frame in numbers]
        triggers = [(gold.window, (numbers[gold.instance.frame], gold.first, gold.last)) for gold in placed]
        elements_of = {
            id(gold.instance): self._elements(gold.instance.frame, elements)
            for gold, elements in zip(placed, find_elements(self, triggers), strict=True)
        }
        return [[replace(frame, elements=elements_of.get(id(frame), ())) for frame in frames] for frames in instances]

    def _elements(self, frame: str, elements: Sequence[tuple[str, Span]]) -> tuple[FrameElement, ...]:
        cores = self.labels.elements[frame]
        return tuple(FrameElement(name, span, cores[name]) for name, span in elements)


def collate(readings: Sequence[Reading], padding: int | None) -> dict[str, Tensor]:
    """The network's inputs, padded on the right."""
    windows = [reading.window for reading in readings]
    return {
        "input_ids": pad([window.input_ids for window in windows], padding or 0),
        "attention_mask": pad([np.ones(len(window.input_ids)) for window in windows]),
        "frame": torch.tensor([reading.frame for reading in readings]),
        "side": pad([sides(reading) for reading in readings]),
        "words": pad([window.first_tokens for window in windows]),
    }


def sides(reading: Reading) -> NDArray[np.int64]:
    """(tokens,) where each token stands: before the trigger, in it, after it; `NOT_ASKED` when triggers are asked."""
    result = np.full(len(reading.window.input_ids), NOT_ASKED, dtype=np.int64)
    if reading.frame:
        first = reading.window.first_tokens[reading.trigger[0]]
        last = reading.window.last_tokens[reading.trigger[1]]
        result[:first], result[first : last + 1], result[last + 1 :] = BEFORE, TRIGGER, AFTER
    return result


def _scores(
    parser: FrameParser, readings: Sequence[Reading], order: Sequence[int], of: Callable[[Tensor], Tensor] | None = None
) -> Iterator[tuple[Sequence[int], NDArray[np.float32]]]:
    """Places of readings, a batch at a time in this order, and their logits, or what `of` makes of them."""

    @torch.inference_mode()
    def compute(places: Sequence[int]) -> tuple[Sequence[int], NDArray[np.float32]]:
        batch = collate([readings[place] for place in places], parser.tokenizer.pad_token_id)
        logits = parser.logits(batch)
        return places, (logits if of is None else of(logits)).cpu().numpy()

    yield from halving_batches(order, parser.batch, compute)


def read_tags(
    parser: FrameParser, readings: Sequence[Reading], restrict: Restrict | None = None
) -> list[NDArray[np.int64]]:
    """The best valid tags of the words of each reading; all ask for triggers, or all for elements."""
    tags: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * len(readings)
    batches = length_sorted_batches([len(reading.window.input_ids) for reading in readings], parser.batch)
    order = [place for batch in batches for place in batch.tolist()]
    with tqdm(total=len(order), desc="windows", unit="window", mininterval=5, leave=False) as bar:
        for places, scores in _scores(parser, readings, order, partial(torch.log_softmax, dim=-1)):
            if restrict is not None:
                for row, place in enumerate(places):
                    restrict(readings[place], scores[row])
            lengths = np.array([len(readings[place].window.words) for place in places])
            for place, row, length in zip(places, best_bio_tags(scores, lengths), lengths, strict=True):
                tags[place] = row[:length]
            bar.update(len(places))
    return tags


def lexicon_mask(labels: FrameLabels, texts: Sequence[str]) -> Restrict:
    """A function that forbids a word of the lexicon all frames with which none of its lexical units was seen.

    A word of a trigger of several words may have all frames of whatever trigger it is part of.
    """
    frames = {frame: place for place, frame in enumerate(labels.frames)}
    forbidden: dict[str, NDArray[np.bool_]] = {}
    for form in labels.forms:
        for word in words_of(form):
            row = forbidden.setdefault(word.of(form), np.ones(2 * len(frames), dtype=bool))
            for frame in labels.frames_of(form):
                row[2 * frames[frame] : 2 * frames[frame] + 2] = False

    def restrict(reading: Reading, scores: NDArray[np.float32]) -> None:
        text = texts[reading.window.text]
        for word, span in enumerate(reading.window.words):
            row = forbidden.get(form_of(span.of(text)))
            if row is not None:
                scores[word, 1:][row] = -np.inf

    return restrict


def find_elements(parser: FrameParser, triggers: Sequence[tuple[Window, Trigger]]) -> list[list[tuple[str, Span]]]:
    """The elements of given frames, as (name, characters), in the order of the text."""
    readings = [Reading(window, 1 + frame, (first, last)) for window, (frame, first, last) in triggers]
    names = parser.labels.names
    return [
        [(names[kind], span_of(reading.window, first, last)) for kind, first, last in bio_spans(tags)]
        for reading, tags in zip(readings, read_tags(parser, readings), strict=True)
    ]
